"""K: one token takes the memory, the processor or the disk of all; one tenant reaches what is another's."""

import contextlib
import json
import os
import threading
import time

from live.approvals import session_of
from live.rows import NotRun, live

MEGABYTE = 1 << 20
BOMB = "$(" * (4 * MEGABYTE // 3) + ")" * (4 * MEGABYTE // 3)
SUM = "x=" + '"a"+' * (MEGABYTE - 2) + '"b"'
NAMES = ("import os\nplace = '/'.join(['d' * 250] * 12)\nos.makedirs(place, exist_ok=True)\nos.chdir(place)\n"
         "for i in range(9000):\n    open('n' * 240 + str(i), 'w').close()\n")


def size_below(path):
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total


@live("K06", "PeerDoS", "twelve texts that are hard to analyse, with a token that may only read",
      "another tenant's code is assessed meanwhile, and memory stays within 1 GB")
def _(house):
    before, over, peak = house.memory(), threading.Event(), [0]

    def watch():
        while not over.is_set():
            peak[0] = max(peak[0], house.memory() - before)
            time.sleep(0.05)

    def ask(language, code):
        with contextlib.suppress(OSError):
            house.mallory.read.ask("POST", "/v1/risk", language=language, code=code, patience=120)

    threads = [threading.Thread(target=watch)]
    threads += [threading.Thread(target=ask, args=pair) for pair in [("shell", BOMB), ("python", SUM)] * 6]
    for thread in threads:
        thread.start()
    time.sleep(1)
    longest = 0
    for _ in range(5):
        begun = time.monotonic()
        house.alice.read.expect(200, "POST", "/v1/risk", language="python", code="print(1)")
        longest = max(longest, time.monotonic() - begun)
    for thread in threads[1:]:
        thread.join()
    over.set()
    threads[0].join()
    return (longest > 10 or peak[0] > 1 << 30,
            f"alice waited {longest:.2f} s at most; {peak[0] / MEGABYTE:.0f} MB more than before")


@live("K07", "PeerDoS", "200 requests of 8 MB that are almost there, and stay", "memory stays below 256 MB more; others get in")
def _(house):
    house.peak()
    before, size, statuses = house.memory(), 8 * MEGABYTE, set()
    head = {"Content-Type": "application/json", "Content-Length": str(size)}
    with contextlib.ExitStack() as held:
        for _ in range(200):
            sock = held.enter_context(house.mallory.run.socket(30))
            with contextlib.suppress(OSError):
                house.mallory.run.send_on(sock, "POST", "/v1/execute", head, b'{"code": "' + b"x" * (size - 64))
        taken = house.peak() - before
        house.alice.run.expect(200, "POST", "/v1/execute", code="1")
        with contextlib.suppress(OSError):
            sock.settimeout(5)
            statuses.add(sock.recv(12)[9:12].decode())
    return taken > 256 * MEGABYTE, f"{taken / MEGABYTE:.0f} MB more; the last was answered {', '.join(statuses) or 'nothing'}"


@live("K11", "HostDoS", "output floods of one tenant", "no more is kept than its share",
      settings=(("SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB", "64"),))
def _(house):
    place = os.path.join(house.home, ".skerry", "daemon")
    before = size_below(place)
    for _ in range(4):
        house.mallory.run.ask("POST", "/v1/execute", language="shell", code="head -c 200000000 /dev/zero",
                              max_output_mb=1024, timeout=60, patience=120)
    kept = size_below(place) - before
    return kept > 128 * MEGABYTE, f"{kept / MEGABYTE:.0f} MB kept of 763"


@live("K12", "HostDoS", "uploads that never end", "no more lies in the spool than its share",
      settings=(("SKERRY_SANDBOX__BUDGETS__SPOOL_PER_TENANT_MB", "64"),))
def _(house):
    before, sockets, statuses = size_below(house.home), [], set()
    with session_of(house.mallory.run) as session:
        try:
            for number in range(6):
                sock = house.mallory.run.send_head(
                    "PUT", f"/v1/sessions/{session}/files/content?path=f{number}",
                    {"Content-Length": str(60 * MEGABYTE), "Content-Type": "application/octet-stream"}, timeout=3)
                sockets.append(sock)
                with contextlib.suppress(OSError):
                    for _ in range(50):
                        sock.sendall(bytes(MEGABYTE))
            held = size_below(house.home) - before
            for sock in sockets:
                with contextlib.suppress(OSError):
                    sock.settimeout(0.5)
                    statuses.add(sock.recv(64).split(b" ")[1].decode())
        finally:
            for sock in sockets:
                sock.close()
    return held > 128 * MEGABYTE, f"{held / MEGABYTE:.0f} MB held; answers {', '.join(sorted(statuses)) or 'none'}"


@live("K13", "PeerDoS", "runs that make 9,000 long names each, then six lists of them at once",
      "below 200 MB of memory, and the record stays small")
def _(house):
    with session_of(house.mallory.run) as session:
        for _ in range(3):
            answer = house.mallory.both.ask("POST", f"/v1/sessions/{session}/execute", language="python", code=NAMES,
                                           approve=True, timeout=120, patience=180)
            if answer.status != 200:
                raise NotRun(f"{answer.status} {answer.body[:200]!r}")
        before, over, peak = house.memory(), threading.Event(), [0]

        def watch():
            while not over.is_set():
                peak[0] = max(peak[0], house.memory() - before)
                time.sleep(0.02)

        threads = [threading.Thread(target=watch)]
        threads += [threading.Thread(target=lambda: house.mallory.read.ask("GET", "/v1/executions",
                                                                           query={"limit": 1000}))
                    for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads[1:]:
            thread.join()
        over.set()
        threads[0].join()
        record = size_below(os.path.join(house.home, ".skerry")) / MEGABYTE
    return peak[0] > 200 * MEGABYTE, f"{peak[0] / MEGABYTE:.0f} MB for six lists; {record:.0f} MB in the record's place"


@live("K22", "Lateral", "a tenant takes the name of another's deleted session", "the other's history stays")
def _(house):
    name = "hist1"
    house.alice.run.expect(201, "POST", "/v1/sessions", id=name)
    house.alice.run.expect(200, "POST", f"/v1/sessions/{name}/execute", language="shell", code="echo precious")
    taken = house.mallory.run.ask("POST", "/v1/sessions", id=name)
    house.alice.run.ask("DELETE", f"/v1/sessions/{name}")
    house.mallory.run.ask("POST", "/v1/sessions", id=name)
    house.mallory.run.ask("POST", f"/v1/sessions/{name}/execute", language="shell", code="echo other")
    house.mallory.run.ask("DELETE", f"/v1/sessions/{name}")
    history = house.alice.run.ask("GET", f"/v1/sessions/{name}/history").body.decode()
    told = taken.status == 409
    gone = "precious" not in history
    return told or gone or "other" in history, ", ".join(["409 told of it"] * told + ["history gone" if gone else "history kept"])


@live("K23", "HostLeak", "errors that name places of the host", "none do")
def _(house):
    seen = []
    with session_of(house.mallory.run) as session:
        for path in ("../../etc/passwd", "/etc/passwd", "a\0b", "x" * 300, "d/" * 200 + "f"):
            for method, what in (("GET", "content"), ("PUT", "content"), ("DELETE", "")):
                with contextlib.suppress(OSError, ValueError):
                    answer = house.mallory.run.ask(method, f"/v1/sessions/{session}/files/{what}".rstrip("/"),
                                                   query={"path": path}, body=b"x" if method == "PUT" else None)
                    if house.home.encode() in answer.body:
                        seen.append(json.loads(answer.body).get("message", "")[:80])
    return bool(seen), seen[0] if seen else "no answer has the daemon's directory in it"
