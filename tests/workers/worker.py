"""Drives a worker as Skerry does: pipes at 0, 1 and 2, and a socket at 3 on which every field ends with a NUL."""
import base64
import collections
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
WORKERS = os.path.join(HERE, "..", "..", "src", "interpreters", "workers")
PYTHON = os.environ.get("SKERRY_TEST_PYTHON", "/usr/bin/python3")
NODE = "/usr/bin/node"
BASH = "/bin/bash"
PATIENCE = float(os.environ.get("SKERRY_TEST_PATIENCE", "60"))

Cell = collections.namedtuple("Cell", "status messages out err")


def text_of(name):
    with open(os.path.join(WORKERS, name), encoding="utf-8") as file:
        return file.read()


def python_worker():
    return text_of("python_worker.py") + text_of("python_streams.py")


class Gone(Exception):
    """The worker has closed the channel."""


class Pipe:
    """Collects what comes out of a descriptor."""

    def __init__(self, descriptor):
        self.data = bytearray()
        self.descriptor = descriptor
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        while True:
            select.select([self.descriptor], [], [])
            with self.lock:
                piece = os.read(self.descriptor, 1 << 16)
                self.data += piece
            if not piece:
                break
        os.close(self.descriptor)

    def drain(self):
        """What was there at this moment: nothing more is readable, and nothing is between the pipe and `data`."""
        while True:
            with self.lock:
                if not self.is_readable():
                    taken = bytes(self.data)
                    del self.data[:len(taken)]
                    return taken
            time.sleep(0.0005)

    def is_readable(self):
        try:
            return self.thread.is_alive() and bool(select.select([self.descriptor], [], [], 0)[0])
        except (OSError, ValueError):
            return False


class Worker:
    """One worker process. `start` is called with descriptors for 0, 1, 2 and 3, and gives pid and a way to wait."""

    def __init__(self, start):
        self.channel, theirs = socket.socketpair()
        self.channel.settimeout(PATIENCE)
        in_read, self.stdin = os.pipe()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        for descriptor in (self.stdin, out_read, err_read):
            os.set_inheritable(descriptor, False)
        self.pid, self.wait_status = start((in_read, out_write, err_write, theirs.fileno()))
        for descriptor in (in_read, out_write, err_write):
            os.close(descriptor)
        theirs.close()
        self.out, self.err = Pipe(out_read), Pipe(err_read)
        self.received = bytearray()
        self.counter = 0

    def send(self, *fields):
        data = b"".join((field if isinstance(field, bytes) else str(field).encode()) + b"\0" for field in fields)
        self.channel.sendall(data)

    def field(self):
        scanned = 0
        while (end := self.received.find(b"\0", scanned)) < 0:
            scanned = len(self.received)
            try:
                piece = self.channel.recv(1 << 18)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Gone(bytes(self.received), bytes(self.err.data))
            self.received += piece
        field = self.received[:end].decode()
        del self.received[:end + 1]
        return field

    def message(self):
        kind = self.field()
        if kind in ("display", "result"):
            pairs = [(self.field(), self.field()) for _ in range(int(self.field()))]
            return kind, dict(pairs)
        counts = {"ready": 0, "exit": 1, "error": 3, "state": 3, "done": 2}
        return (kind, *[self.field() for _ in range(counts[kind])])

    def begin(self, kind, directory, environment, *text, name="", arguments=()):
        variables = [f"{name}={value}" for name, value in environment.items()]
        told = (name, len(arguments), *arguments) if kind == "run" else ()
        self.send(kind, directory, len(variables), *variables, *told, *text)

    def request(self, kind, *fields):
        self.counter += 1
        self.send(kind, f"id{self.counter}", *fields)

    def answer(self):
        messages = []
        while True:
            message = self.message()
            # An interrupt that came when a cell was over may make a second word of it, which nobody waits for.
            if message[0] == "done" and int(message[1].removeprefix("id")) < self.counter:
                messages.clear()
                continue
            if message[0] == "done":
                assert message[1] == f"id{self.counter}", message
                return Cell(message[2], messages, self.out.drain(), self.err.drain())
            messages.append(message)

    def cell(self, text, environment=None):
        for name, value in (environment or {}).items():
            self.send("variable", name, value)
        self.request("cell", text)
        return self.answer()

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def close_stdin(self):
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def wait(self):
        return self.wait_status()

    def everything(self):
        """All that it has written, after its end."""
        self.out.thread.join(PATIENCE)
        self.err.thread.join(PATIENCE)
        return bytes(self.out.data), bytes(self.err.data)

    def close(self):
        self.close_stdin()
        self.channel.close()


def starter(command, environment=None, directory="/", own_group=False):
    """Starts a worker by exec."""
    def start(descriptors):
        def place():
            for place, descriptor in enumerate(descriptors):
                os.dup2(descriptor, place + 200)
            for place in range(4):
                os.dup2(place + 200, place)
                os.close(place + 200)
        process = subprocess.Popen(command, stdin=descriptors[0], stdout=descriptors[1], stderr=descriptors[2],
                                   pass_fds=(3,), preexec_fn=place, env=environment or {}, cwd=directory,
                                   start_new_session=own_group)
        return process.pid, lambda: process.wait(PATIENCE)
    return start


ZYGOTE = """
import ctypes, os, socket, sys
text, modules, prepare = sys.argv[1], sys.argv[2].split(), sys.argv[3]
control = socket.socket(fileno=int(sys.argv[4]))
for name in modules:
    try:
        __import__(name)
    except ImportError:
        pass
exec(prepare, {})
scope = {"__name__": "worker"}
exec(compile(text, "<worker>", "exec"), scope)
while True:
    word, descriptors, _, _ = socket.recv_fds(control, 100, 4)
    word = word.decode()
    if not word:
        break
    if word.startswith("wait "):
        control.send(str(os.waitstatus_to_exitcode(os.waitpid(int(word[5:]), 0)[1])).encode())
        continue
    pid = os.fork()
    if pid == 0:
        control.close()
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, place + 200)
        for place in range(4):
            os.dup2(place + 200, place)
        os.closerange(4, 256)
        if word == "apart":  # the first process of a namespace of its own, as the zygote may be in its
            assert ctypes.CDLL(None).unshare(0x20000000) == 0
            pid = os.fork()
            if pid:
                os.closerange(0, 256)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        scope["serve"](3, True, "data" if word == "data" else "bare")
    for descriptor in descriptors:
        os.close(descriptor)
    control.send(str(pid).encode())
"""


class Zygote:
    """A parent that holds the definitions of the Python worker and forks children that serve."""

    def __init__(self, modules=(), before=(), prepare=""):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(PATIENCE)
        command = [*before, PYTHON, "-c", ZYGOTE, python_worker(), " ".join(modules), prepare]
        self.process = subprocess.Popen([*command, str(theirs.fileno())], pass_fds=(theirs.fileno(),),
                                        env={"SECRET_OF_THE_ZYGOTE": "1", "LANG": "C.UTF-8"})
        theirs.close()

    def start(self, warm="bare"):
        def start(descriptors):
            socket.send_fds(self.control, [warm.encode()], descriptors)
            pid = int(self.control.recv(100))
            return pid, lambda: self.wait(pid)
        return start

    def wait(self, pid):
        self.control.send(b"wait %d" % pid)
        return int(self.control.recv(100))

    def close(self):
        self.control.close()
        self.process.wait(PATIENCE)


class WorkerTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="skerry-worker-")
        self.addCleanup(place.cleanup)
        self.directory = place.name
        self.workers = []
        self.addCleanup(self.end_workers)
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.directory, "LANG": "C.UTF-8",
                            "TMPDIR": self.directory, "PYTHONDONTWRITEBYTECODE": "1"}

    def end_workers(self):
        for worker in self.workers:
            worker.close()

    def worker(self, start):
        worker = Worker(start)
        self.workers.append(worker)
        self.assertEqual(worker.message(), ("ready",))
        return worker

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def assertOk(self, cell):
        self.assertEqual(cell.status, "ok", cell)
        return cell

    def plain(self, worker, text):
        """The value of a cell as text."""
        cell = self.assertOk(worker.cell(text))
        return next(message[1]["text/plain"] for message in cell.messages if message[0] == "result")

    def error(self, worker, text):
        cell = worker.cell(text)
        self.assertEqual(cell.status, "error", cell)
        return next(message for message in cell.messages if message[0] == "error")


def main():
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)


def decode(data):
    return base64.b64decode(data)
