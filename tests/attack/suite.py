"""Puts the rows into runs, the runs beside each other, and gathers the verdicts."""

import concurrent.futures
import os
import subprocess
import threading
import time

import host_watch
import judge
import model
from rows.peers import Peer
from runner import Run
from stage import Stage


def why_not(row, target):
    """Why a row is not tried on a target, or nothing."""
    if target.family == "host":
        if isinstance(row.control, str) and row.control != "may":
            return row.control
        if row.control_needs_root and os.geteuid() != 0:
            return "needs root on the bare host"
    if row.only and target.family not in row.only:
        return row.why_only
    return ""


def units(rows):
    """Lists of rows that share one sandbox, in the order of the table."""
    shared, found = {}, []
    for row in rows:
        if not row.group:
            found.append([row])
        elif row.group in shared:
            shared[row.group].append(row)
        else:
            shared[row.group] = [row]
            found.append(shared[row.group])
    return found


class Suite:
    """All rows against one target."""

    def __init__(self, target, rows, jobs=2, tell=None):
        self.target, self.rows, self.jobs = target, rows, jobs
        self.tell = tell or (lambda verdict: None)
        self.stage = Stage(target.user)
        self.verdicts, self.lock = {}, threading.Lock()
        self.started = time.monotonic()
        target.set_up(self.stage)

    def run(self):
        try:
            wanted = []
            for row in self.rows:
                reason = why_not(row, self.target)
                if reason:
                    self.note(model.Verdict(row, model.NOT_APPLICABLE, reason))
                else:
                    wanted.append(row)
            self.run_units(units(wanted))
        finally:
            self.stage.close()
        return [self.verdicts[row.id] for row in self.rows]

    def run_units(self, found):
        beside = [unit for unit in found if not unit[0].alone]
        alone = [unit for unit in found if unit[0].alone]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(self.run_unit, unit) for unit in beside]):
                done.result()
        for unit in alone:
            self.run_unit(unit)

    def run_unit(self, unit):
        peer, extra = None, None
        if unit[0].peer:
            peer = self.stage.peer = Peer(self.target, self.stage)
            extra = peer.parameters
        try:
            found = self.run_rows(unit, extra)
            # What took its sandbox down took the rows behind it along: they get another one.
            missing = [row for row in unit if not found[row.id].ran]
            if missing and len(missing) < len(unit):
                found.update(self.run_rows(missing, extra))
            for evidence in found.values():
                evidence.broken = evidence.broken or self.target.elsewhere(evidence)
        except (OSError, subprocess.SubprocessError) as error:
            for row in unit:
                self.note(model.Verdict(row, model.ERROR, f"{type(error).__name__}: {error}"))
            return
        finally:
            if peer:
                peer.close()
        if peer and not peer.is_up:
            for row in unit:
                found[row.id].ran = False
                found[row.id].text = "the other session did not start: " + peer.session.text[-200:]
        if "SKERRY_ATTACK_TIMES" in os.environ:
            print(f"# {unit[0].id} {len(unit)} rows: {max(found[row.id].seconds for row in unit):.1f} s")
        decide = judge.control if self.target.family == "host" else judge.verdict
        for row in unit:
            self.note(decide(found[row.id]))

    def run_rows(self, rows, extra):
        if rows[0].drive:
            return {rows[0].id: rows[0].drive(self.target, self.stage, rows[0])}
        run = Run(self.target, self.stage, rows, extra)
        found = run.execute()
        if rows[0].kind == "HostDoS" or self.target.family == "host":
            end_what_is_left(run.comm, rows)
        return found

    def note(self, verdict):
        with self.lock:
            self.verdicts[verdict.row.id] = verdict
            self.tell(verdict)


def end_what_is_left(comm, rows):
    """On the bare host nobody ends the processes of a payload; a row that looks for them does it itself."""
    if any(row.id == "D55" for row in rows):
        return
    for pid in host_watch.processes(comm):
        try:
            os.kill(pid, 9)
        except OSError:
            pass
