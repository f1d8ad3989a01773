"""K: the daemon does not end, or forgets what it said, because of what clients do."""

import contextlib
import threading
import time

from live.rows import NotRun, live

MOST = 5  # seconds from SIGTERM, on a machine that has time
STUBBORN = "import signal, time\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\ntime.sleep(600)\n"


class Load:
    """What clients do while the daemon is told to end. Everything is let go of afterwards."""

    def __init__(self, house):
        self.house, self.things, self.threads = house, [], []

    def stubborn_runs(self, count=16):
        """Programs that do not heed signals, with clients that wait for them."""

        def wait():
            with contextlib.suppress(OSError):
                self.house.mallory.run.ask("POST", "/v1/execute", code=STUBBORN, timeout=300, patience=300)

        for _ in range(count):
            self.threads.append(threading.Thread(target=wait, daemon=True))
            self.threads[-1].start()
        self.await_runs(count)

    def await_runs(self, count):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            items = self.house.owner.expect(200, "GET", "/v1/executions", query={"limit": 100})["items"]
            if sum(item["state"] in ("running", "waiting") for item in items) >= count:
                return
            time.sleep(0.2)
        raise NotRun("the runs do not start")

    def deaf_readers(self, count=50):
        """Clients that follow and never read."""
        for _ in range(count):
            self.things.append(self.house.mallory.read.send_head("GET", "/v1/events"))

    def sockets(self, count=100):
        self.things += [self.house.mallory.approve.websocket("/v1/events") for _ in range(count)]

    def half_uploads(self, count=10):
        session = self.house.mallory.run.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        for number in range(count):
            self.things.append(self.house.mallory.run.send_head(
                "PUT", f"/v1/sessions/{session}/files/content?path=f{number}", {"Content-Length": "1000000"}, b"x" * 1000))

    def strangers(self, count=200):
        for _ in range(count):
            with contextlib.suppress(OSError):
                self.things.append(self.house.client().socket(5))

    def attached(self, count=10):
        """Terminals whose programs do not read what is typed."""
        session = self.house.mallory.run.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        path = f"/v1/sessions/{session}/commands"
        for _ in range(count):
            command = self.house.mallory.run.expect(201, "POST", path, argv=["sleep", "600"], background=True,
                                                    stdin=True)["id"]
            socket = self.house.mallory.run.websocket(f"{path}/{command}/attach")
            for _ in range(4):
                with contextlib.suppress(OSError):
                    socket.sock.settimeout(0.5)
                    socket.send(2, b"x" * 200_000)
            self.things.append(socket)

    def let_go(self):
        for thing in self.things:
            with contextlib.suppress(OSError):
                thing.close()


class Clock:
    """How much slower than it should be this machine is while something is waited for."""

    def __enter__(self):
        self.ticks, self.over, self.begun = 0, threading.Event(), time.monotonic()
        self.thread = threading.Thread(target=self.tick, daemon=True)
        self.thread.start()
        return self

    def tick(self):
        while not self.over.wait(0.02):
            self.ticks += 1

    def __exit__(self, *_):
        self.over.set()
        self.slowness = max(1, (time.monotonic() - self.begun) / max(1, self.ticks) / 0.02)


def ended_under(*names):
    def attack(house):
        kept = house.alice.run.expect(201, "POST", "/v1/sessions", metadata={"kept": "yes"})["id"]
        house.alice.run.expect(200, "PUT", f"/v1/sessions/{kept}/files/content", query={"path": "f"}, body=b"precious")
        run = house.alice.run.expect(200, "POST", f"/v1/sessions/{kept}/execute", code="print(6*7)")["execution_id"]
        load = Load(house)
        try:
            for name in names:
                getattr(load, name)()
            with Clock() as clock:
                took = house.end()
        finally:
            load.let_go()
        house.start()
        alice = house.client(house.alice.run.token)
        lost = [what for what, there in (
            ("session", lambda: alice.ask("GET", f"/v1/sessions/{kept}").status == 200),
            ("file", lambda: alice.ask("GET", f"/v1/sessions/{kept}/files/content", query={"path": "f"}).body
             == b"precious"),
            ("result", lambda: alice.ask("GET", f"/v1/executions/{run}").json["state"] == "done")) if not there()]
        detail = ("did not end" if took is None else f"ended after {took:.1f} s") + (
            "; lost: " + ", ".join(lost) if lost else "")
        return took is None or took > MOST * clock.slowness or bool(lost), detail

    return attack


for identity, title, names in (
        ("K41", "programs that heed no signal", ["stubborn_runs"]),
        ("K42", "streams that nobody reads, WebSockets, connections without a token",
         ["deaf_readers", "sockets", "strangers"]),
        ("K43", "uploads that stop in the middle", ["half_uploads"]),
        ("K44", "terminals that are full", ["attached"]),
        ("K45", "all of these at once", ["half_uploads", "attached", "deaf_readers", "sockets", "strangers",
                                        "stubborn_runs"])):
    live(identity, "HostDoS", f"SIGTERM while there are {title}", f"ends within {MOST} s, forgets nothing", ends_it=True)(
        ended_under(*names))
