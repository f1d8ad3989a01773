#!/usr/bin/env python3
"""What one tenant's load does to another tenant's requests: prints times and ratios, judges nothing.

    SKERRY_BIN=build/release/bin/skerry python3 -B tests/attack/live/fair_share.py [--seconds N] [LOAD ...]
"""

import argparse
import contextlib
import multiprocessing
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from live.client import frame  # noqa: E402
from live.house import House  # noqa: E402

BIG = 8 << 20


class Loads:
    """Each is one client's endless work. What is refused is tried again."""

    def __init__(self, house):
        self.house = house
        self.session = house.mallory.run.expect(201, "POST", "/v1/sessions", metadata={})["id"]

    def begin(self, names):
        """Each kind of load is a process of its own that has the least share, so that it takes nothing from the one that
        measures, nor from the daemon: who attacks a daemon does so from other machines."""
        def run(name):
            os.nice(19)
            os.setsid()  # the kernel weighs sessions before it weighs what is in them
            with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
                file.write("19")
            threads = [threading.Thread(target=getattr(self, name), daemon=True) for _ in range(NAMES[name])]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        context = multiprocessing.get_context("fork")
        processes = [context.Process(target=run, args=(name,), daemon=True) for name in names]
        for process in processes:
            process.start()
        return processes

    def forever(self, work):
        while True:
            with contextlib.suppress(OSError, ValueError):
                work()

    def risk(self):
        """Code that takes long to assess."""
        code = "$(" * 4000 + ")" * 4000
        self.forever(lambda: self.house.mallory.read.ask("POST", "/v1/risk", code=code, language="shell", patience=30))

    def output(self):
        """Runs that write much."""
        code = "head -c 20000000 /dev/zero | tr '\\0' x"
        self.forever(lambda: self.house.mallory.run.ask("POST", "/v1/execute", code=code, language="shell", patience=60))

    def events(self):
        """A follower of events, and runs that make them."""
        def follow():
            with self.house.mallory.read.send_head("GET", "/v1/events", {"Accept": "text/event-stream"}) as sock:
                while sock.recv(65536):
                    self.house.mallory.run.ask("POST", "/v1/execute", code="pass")

        self.forever(follow)

    def loops(self):
        """Programs that keep a processor busy."""
        self.forever(lambda: self.house.mallory.run.ask("POST", "/v1/execute", code="while :; do :; done", language="shell",
                                                        timeout=20, patience=60))

    def uploads(self):
        self.forever(lambda: self.house.mallory.run.ask("PUT", f"/v1/sessions/{self.session}/files/content",
                                                        query={"path": "f"}, body=bytes(BIG)))

    def bodies(self):
        """Requests that are almost there, and stay."""
        def hold():
            head = {"Content-Type": "application/json", "Content-Length": str(BIG)}
            with self.house.mallory.run.send_head("POST", "/v1/execute", head, body=b'{"code": "' + b"x" * (BIG - 64)) as sock:
                sock.settimeout(10)
                sock.recv(1)

        self.forever(hold)

    def sockets(self):
        """Texts over a WebSocket, as fast as they are taken."""
        block = frame(1, b'{"type": "decide", "reason": "' + b"x" * 15_000 + b'"}') * 16

        def talk():
            socket = self.house.mallory.approve.websocket("/v1/events")
            with contextlib.closing(socket):
                socket.sock.settimeout(1)
                while True:
                    with contextlib.suppress(TimeoutError):
                        socket.sock.sendall(block)
                    with contextlib.suppress(TimeoutError, BlockingIOError):
                        socket.sock.recv(1 << 20)

        self.forever(talk)

    def guesses(self):
        self.forever(lambda: self.house.client("sk_wrong").ask("GET", "/v1/sessions"))


NAMES = {"risk": 6, "output": 4, "events": 10, "loops": 8, "uploads": 4, "bodies": 100, "sockets": 50, "guesses": 16}  # how many clients of each


def measure(house, seconds):
    """(p50, p99, count) of another tenant's runs, in milliseconds."""
    found, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        begun = time.monotonic()
        answer = house.alice.run.ask("POST", "/v1/execute", code="print(6*7)", patience=120)
        found.append((time.monotonic() - begun) * 1000 if answer.status == 200 else 120_000)
    found.sort()
    return found[len(found) // 2], found[min(len(found) - 1, int(len(found) * 0.99))], len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", metavar="LOAD", help=", ".join(NAMES) + "; all of them, one by one and together")
    parser.add_argument("--seconds", type=float, default=10, help="for each measurement (10)")
    options = parser.parse_args()
    chosen = options.loads or list(NAMES)
    house = House(os.environ["SKERRY_BIN"])
    measure(house, 2)
    idle = measure(house, options.seconds)
    print(f"{'load':10} {'p50 ms':>9} {'p99 ms':>9} {'of idle':>8} {'runs':>6} {'peak MB':>10}")
    print(f"{'idle':10} {idle[0]:9.1f} {idle[1]:9.1f} {1:8.1f} {idle[2]:6} {house.peak() >> 20:10}")
    try:
        for names in [[name] for name in chosen] + ([chosen] if len(chosen) > 1 else []):
            processes = Loads(house).begin(names)
            time.sleep(1)
            p50, p99, count = measure(house, options.seconds)
            word = names[0] if len(names) == 1 else "all"
            print(f"{word:10} {p50:9.1f} {p99:9.1f} {p99 / idle[1]:8.1f} {count:6} {house.peak() >> 20:10}", flush=True)
            if names == chosen or len(chosen) == 1:
                took = house.end()
                print("SIGTERM:", "no end" if took is None else f"{took:.1f} s")
            for process in processes:
                process.kill()
                process.join()
    finally:
        house.close()


if __name__ == "__main__":
    main()
