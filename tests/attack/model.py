"""The nouns of the suite: a row of the table, what was seen of it, and the verdict."""

import inspect
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

BREACHES = ("Escape", "HostLeak", "Exfil", "Lateral", "HostDoS", "PeerDoS", "SelfDoS", "InternalEsc")
SURFACE = "Surface"
ADVISORY = "Advisory"  # a channel that stays by design; reported, never counted

BLOCKED, BREACH, REACHABLE, NOT_RUN, NOT_APPLICABLE, ERROR = "blocked", "BREACH", "REACHABLE", "NOT-RUN", "n/a", "error"
HARMFUL = "harmful on the bare host"


@dataclass(frozen=True)
class Row:
    """One attack. `source` is the body that runs inside; `judge` sees the evidence on the host and returns
    (succeeded, detail)."""

    id: str
    kind: str  # one of BREACHES, SURFACE or ADVISORY
    title: str
    expected: str
    source: str
    judge: Callable
    group: str = ""  # rows of one group share a sandbox; empty: a sandbox of its own
    workspace: str = ""  # name of a preparation in scenery.py: the row needs a person's directory
    control: Any = True  # must succeed on the bare host; or the reason why that cannot be asked for
    control_needs_root: bool = False
    absent: tuple = ()  # errors that mean: this kernel has it not, so the control says nothing
    seconds: int = 5  # for the payload
    timeout: int = 20  # for the whole run
    hook: Optional[Callable] = None  # runs on the host while the payload holds still
    before: Optional[Callable] = None  # runs on the host first; its value is evidence.before
    alone: bool = False  # nothing else runs beside it: the host's own figures are the oracle
    may_die: bool = False  # the payload may take itself down without a result
    tty: bool = False  # the caller has a terminal
    watch: bool = False  # sample the payload's processes from the host
    peer: bool = False  # another session runs meanwhile
    language: str = "python"
    drive: Optional[Callable] = None  # a row that starts the sandbox itself: returns its Evidence
    only: tuple = ()  # families of targets that it applies to; empty: all
    why_only: str = ""

    @property
    def is_surface(self):
        return self.kind == SURFACE


@dataclass
class Evidence:
    """All that is known about one row after its run."""

    row: Row
    target: Any
    stage: Any
    directory: str = ""  # the person's directory, or the one that the target had
    ran: bool = False
    value: Any = None  # what the payload got
    refused: Any = None  # [errno name, text]: the payload's attempt raised OSError
    broken: str = ""  # the payload itself is wrong
    died: int = 0  # the signal that ended it
    late: bool = False
    finished: bool = False  # some result came
    held: Any = None  # what the hook returned
    hook_ran: bool = False
    before: Any = None
    text: str = ""  # stdout and stderr of the run
    code: Any = None
    seconds: float = 0.0
    bytes_out: int = 0
    samples: Any = None
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    row: Row
    word: str
    detail: str = ""


TABLE = []


def body_of(function):
    """The source below the decorator: it is sent inside as text."""
    lines = inspect.getsource(function).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[start + 1 :])


def attack(identity, kind, title, expected, judge, **options):
    """Makes a function a row. The function never runs here: it sees only the names of inside.py."""

    def take(function):
        TABLE.append(Row(identity, kind, title, expected, body_of(function), judge, **options))
        return function

    return take


def add(identity, kind, title, expected, judge, source, **options):
    """A row whose payload is short enough to be a string."""
    TABLE.append(Row(identity, kind, title, expected, "    " + source, judge, **options))


def not_applicable(identity, kind, title, reason):
    """A row of the catalogue that cannot be tried yet."""
    TABLE.append(Row(identity, kind, title, "", "", None, control=reason, only=("nothing",), why_only=reason))
