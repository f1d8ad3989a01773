"""The nouns: a row of the table of attacks on a daemon, and what it says of one."""

from dataclasses import dataclass
from typing import Callable

TABLE = []


class NotRun(Exception):
    """The attack could not be made: that is no defence."""


@dataclass(frozen=True)
class LiveRow:
    """One attack. `attack(house)` returns (succeeded, detail)."""

    id: str
    kind: str  # one of model.BREACHES
    title: str
    expected: str
    attack: Callable
    settings: tuple = ()  # of the daemon's environment; a row that has some gets a daemon of its own
    ends_it: bool = False  # the daemon is ended by the row: it gets one of its own
    afresh: bool = False  # what a tenant did before counts: the row gets a daemon of its own
    is_surface = False
    why_only = ""

    @property
    def alone(self):
        return self.ends_it or self.afresh or bool(self.settings)


def live(identity, kind, title, expected, **options):
    """Makes a function a row."""

    def take(function):
        TABLE.append(LiveRow(identity, kind, title, expected, function, **options))
        return function

    return take
