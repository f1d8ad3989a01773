"""Runs the rows against a daemon, and says of each whether it held."""

import contextlib

import model
from live.house import House
from live.rows import NotRun


class LiveSuite:
    """As suite.Suite: all rows against one target."""

    def __init__(self, target, rows, tell=None):
        self.target, self.rows, self.tell = target, rows, tell or (lambda verdict: None)
        self.shared = None

    def run(self):
        verdicts = []
        try:
            for row in self.rows:
                verdicts.append(self.judge(row))
                self.tell(verdicts[-1])
        finally:
            if self.shared:
                self.shared.close()
        return verdicts

    @contextlib.contextmanager
    def house(self, row):
        if row.alone:
            house = House(self.target.binary(), row.settings)
            try:
                yield house
            finally:
                house.close()
            return
        # What a row did to the daemon must not be taken for what the next one does.
        if self.shared and self.shared.process.poll() is not None:
            self.shared.close()
            self.shared = None
        self.shared = self.shared or House(self.target.binary())
        yield self.shared

    def judge(self, row):
        try:
            with self.house(row) as house:
                breached, detail = row.attack(house)
                if not breached and not row.ends_it and house.process.poll() is not None:
                    breached, detail = True, f"the daemon ended with {house.process.returncode}: {detail}"
        except NotRun as reason:
            return model.Verdict(row, model.NOT_RUN, str(reason))
        except (OSError, AssertionError, ValueError, KeyError, IndexError) as error:
            return model.Verdict(row, model.ERROR, f"{type(error).__name__}: {error}"[:200])
        return model.Verdict(row, model.BREACH if breached else model.BLOCKED, detail)
