"""Starts sandboxes, listens to the payloads, and gathers the evidence of each row."""

import json
import os
import pty
import queue
import secrets
import signal
import subprocess
import threading
import time

import host_watch
import model
import scenery
import targets

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT_BYTES = 1 << 20
with open(os.path.join(HERE, "inside.py"), encoding="utf-8") as _file:
    PRELUDE = _file.read()


def compose(rows, parameters):
    """The whole program that goes inside: the prelude, the parameters, one function for each row."""
    parts = [PRELUDE, f"P = json.loads({json.dumps(json.dumps(parameters))})"]
    for number, row in enumerate(rows):
        parts.append(f"def row_{number}():\n    ROW = {row.id!r}\n{row.source}")
    table = ", ".join(f"({row.id!r}, row_{number}, {row.seconds})" for number, row in enumerate(rows))
    return "\n\n".join([*parts, f"run_all([{table}])", ""])


class Session:
    """One sandbox that runs: its process, what it said so far, and its end."""

    def __init__(self, target, stage, job):
        self.target, self.stage, self.job = target, stage, job
        self.events, self.kept, self.bytes_out = queue.Queue(), bytearray(), 0
        self.prefix = f"@{job.nonce} ".encode()
        self.master = -1
        self.ended = 0
        self.started = time.monotonic()
        self.process = self.start()
        streams = [self.process.stdout] + ([self.process.stderr] if self.process.stderr else [])
        self.readers = [threading.Thread(target=self.listen, args=(stream,), daemon=True) for stream in streams]
        for reader in self.readers:
            reader.start()

    def start(self):
        command = self.target.command(self.job)
        options = {
            "env": {**self.stage.environment(), **self.target.environment},
            "cwd": self.job.directory or self.stage.home,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "pass_fds": (self.stage.inherited, self.stage.inherited_file),
        }
        if not self.job.tty:
            return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **options)
        self.master, self.slave = pty.openpty()
        os.fchown(self.slave, self.target.user, -1)
        # A session of its own whose controlling terminal is this one, as a person's shell has it.
        return subprocess.Popen(["setsid", "--ctty", "--wait", *command], stdin=self.slave, **options)

    def listen(self, stream):
        rest = b""
        while chunk := os.read(stream.fileno(), 65536):
            self.bytes_out += len(chunk)
            if len(self.kept) < KEPT_BYTES:
                self.kept += chunk
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-KEPT_BYTES:]
            for line in lines:
                self.take(line.strip(b"\r"))
        self.take(rest)
        self.events.put(None)

    def take(self, line):
        if not line.startswith(self.prefix):
            return
        words = line[len(self.prefix) :].decode("utf-8", "replace").split(" ", 2)
        try:
            self.events.put((words[0], words[1], json.loads(words[2])))
        except (IndexError, ValueError):
            pass

    def next_event(self, seconds):
        """(kind, row, value), or nothing when the streams ended or the time is over."""
        deadline = time.monotonic() + seconds
        while self.ended < len(self.readers):
            try:
                event = self.events.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if event is not None:
                return event
            self.ended += 1
        return None

    def let_go(self):
        """The payload may go on."""
        try:
            if self.job.tty:
                os.write(self.master, b"\n")
            else:
                self.process.stdin.write(b"\n")
                self.process.stdin.flush()
        except OSError:
            pass

    def end(self, seconds=15):
        """Waits; what does not end is made to, as a caller would: SIGTERM, then SIGKILL."""
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        if not self.job.tty:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        self.target.clean(self.job)
        for reader in self.readers:
            reader.join(timeout=3)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        return self.process.returncode

    def kill(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except OSError:
                pass
            try:
                self.process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                continue

    @property
    def text(self):
        return bytes(self.kept).decode("utf-8", "replace")


class Run:
    """One sandbox for one or more rows."""

    def __init__(self, target, stage, rows, extra=None, directory=""):
        self.target, self.stage, self.rows = target, stage, rows
        self.nonce = secrets.token_hex(6)
        self.comm = "atk" + self.nonce
        first = rows[0]
        self.directory = directory or stage.directory(os.path.join("ws", rows[0].id + "-" + self.nonce))
        if first.workspace and not directory:
            scenery.prepare(first.workspace, self.directory, stage)
        self.parameters = {
            **stage.parameters(),
            "nonce": self.nonce,
            "comm": self.comm,
            "own_group": False,
            "host": target.family == "host",
            "family": target.family,
            **(extra or {}),
        }
        self.evidence = {row.id: model.Evidence(row, target, stage, self.directory) for row in rows}

    def job(self, code, **options):
        first = self.rows[0]
        settings = {
            "language": first.language,
            "directory": self.directory,
            "is_persons": bool(first.workspace),
            "timeout": min(300, max(row.timeout for row in self.rows) + 3 * (len(self.rows) - 1)),
            "tty": first.tty,
        }
        settings.update(options)
        return targets.Job(code, self.nonce, **settings)

    def code(self):
        first = self.rows[0]
        if first.language == "shell":
            marker = f"printf '\\n@{self.nonce} ran {first.id} null\\n'"
            return f"{marker}\n{first.source.strip()}\nprintf '\\n@{self.nonce} got {first.id} null\\n'\n"
        return compose(self.rows, self.parameters)

    def execute(self):
        for row in self.rows:
            if row.before:
                self.evidence[row.id].before = row.before(self.evidence[row.id])
        sampler = host_watch.Sampler(self.comm) if any(row.watch for row in self.rows) else None
        job = self.job(self.code())
        session = Session(self.target, self.stage, job)
        deadline = session.started + job.timeout + 10
        while event := session.next_event(deadline - time.monotonic()):
            self.note(session, *event)
        code = session.end(max(1, deadline - time.monotonic()))
        self.finish(session, code, sampler.stop() if sampler else None)
        return self.evidence

    def note(self, session, kind, row, value):
        found = self.evidence.get(row)
        if found is None:
            return
        if kind == "ran":
            found.ran = True
        elif kind == "got":
            found.value, found.finished = value, True
        elif kind == "refused":
            found.refused, found.finished = value, True
        elif kind == "broken":
            found.broken = value
        elif kind == "died":
            found.died = value
        elif kind == "late":
            found.late = True
        elif kind == "hold":
            found.extra["held_value"] = value
            if found.row.hook:
                found.held = found.row.hook(found)
                found.hook_ran = True
            session.let_go()

    def finish(self, session, code, samples):
        for found in self.evidence.values():
            found.text, found.code, found.samples = session.text, code, samples
            found.seconds, found.bytes_out = time.monotonic() - session.started, session.bytes_out
            found.extra["comm"], found.extra["nonce"] = self.comm, self.nonce
            if session.job.tty:
                found.extra["session"] = session
