"""K: one client takes what all share: connections, the thread of the sockets, logins."""

import concurrent.futures
import contextlib
import json
import os
import threading
import time

from live.house import waits
from live.rows import NotRun, live

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 25)]


def answers(house):
    """What the owner and another tenant get now, on new connections."""
    found = {}
    for who, client in (("owner", house.owner), ("alice", house.alice.read)):
        try:
            found[who] = client.ask("GET", "/v1/health", patience=20).status
        except OSError as error:
            found[who] = type(error).__name__
    return found


def told(found):
    return ", ".join(f"{who} got {status}" for who, status in found.items())


@contextlib.contextmanager
def held(things):
    try:
        yield things
    finally:
        for thing in things:
            with contextlib.suppress(OSError):
                thing.close()


@live("K01", "PeerDoS", "1,200 idle connections without a token, from 24 addresses", "the owner and a token get in")
def _(house):
    with held([]) as idle:
        for number in range(1200):
            with contextlib.suppress(OSError):
                idle.append(house.client().at(ADDRESSES[number % len(ADDRESSES)]).socket(5))
        if len(idle) < 1000:
            raise NotRun(f"only {len(idle)} connections")
        found = answers(house)
    return set(found.values()) != {200}, told(found)


@live("K02", "PeerDoS", "one tenant holds as many streams as it can get", "the owner and another tenant get in")
def _(house):
    with held([]) as streams:
        for number in range(1100):
            client = house.mallory.read.at(ADDRESSES[number % len(ADDRESSES)])
            with contextlib.suppress(OSError):
                streams.append(client.send_head("GET", "/v1/events", {"Accept": "text/event-stream"}, timeout=5))
        if len(streams) < 1000:
            raise NotRun(f"only {len(streams)} connections")
        found = answers(house)
    return set(found.values()) != {200}, told(found)


@live("K03", "PeerDoS", "WebSocket texts of 1 MB, taken apart on the thread of the sockets", "closed with 1009")
def _(house):
    socket = opened(house.mallory.approve)
    with held([socket]):
        socket.send(1, b"[" + b"1," * 500_000 + b"1]")
        opcode, payload = socket.receive()
    closed = opcode == 8 and payload[:2] == (1009).to_bytes(2, "big")
    return not closed, "closed with 1009" if closed else f"answered: {payload[:80]!r}"


def opened(client):
    """A WebSocket; the daemon may still be busy with those of the row before."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        socket = client.websocket("/v1/events")
        if socket.status == 101:
            return socket
        socket.close()
        time.sleep(0.2)
    raise NotRun(f"no WebSocket: {socket.status}")


def flood(socket, message, until, heard):
    """Sends as fast as it is taken, and counts the replies."""

    def listen():
        with contextlib.suppress(OSError):
            while True:
                socket.receive()
                heard.append(1)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    with contextlib.suppress(OSError):
        while time.monotonic() < until:
            socket.send(1, message)
    socket.close()
    listener.join(5)


@live("K04", "PeerDoS", "texts of 15 KB over 100 sockets of one token, as fast as they are taken", "a rate for the tenant: all together below 6 MB a second")
def _(house):
    seconds, message = 4, json.dumps({"type": "decide", "reason": "x" * 15_000}).encode()
    idle = waits(house.alice.read)[-1]
    with held([opened(house.mallory.approve) for _ in range(100)]) as sockets:
        heard, until = [], time.monotonic() + seconds
        threads = [threading.Thread(target=flood, args=(socket, message, until, heard)) for socket in sockets]
        for thread in threads:
            thread.start()
        longest = waits(house.alice.read, 10)[-1]
        for thread in threads:
            thread.join()
    # 128 MB a second in all, of which a byte of text takes 16, and 32 MB that were saved up.
    most = (128 * seconds + 32) * (1 << 20) / 16 / len(message) * 1.5
    return len(heard) > most, (f"{len(heard)} texts in {seconds} s (at most {most:.0f}); alice waited "
                               f"{longest * 1000:.0f} ms at most, {idle * 1000:.0f} ms before")


@live("K05", "PeerDoS", "wrong tokens as fast as they are answered, on 64 connections", "throttled; a right token passes; few audit records")
def _(house):
    statuses, until = [], time.monotonic() + 5

    def guess(number):
        client = house.client(f"sk_wrong{number}")
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                statuses.append(client.ask("GET", "/v1/sessions", patience=10).status)

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    right = answers(house)
    for thread in threads:
        thread.join()
    time.sleep(2)
    records = [line for line in house.audit() if '"login.refused"' in line]
    detail = (f"{len(statuses)} answers in 5 s, {statuses.count(429)} of them 429; {told(right)}; "
              f"{len(records)} audit records")
    if not statuses or set(statuses) - {401, 429}:
        raise NotRun(f"other answers: {sorted(set(statuses))}")
    unthrottled = len(statuses) > 700 and 429 not in statuses
    return unthrottled or set(right.values()) != {200} or not 1 <= len(records) <= 10, detail


@contextlib.contextmanager
def busy(work, count):
    """Many do this over and over meanwhile."""
    over = threading.Event()

    def repeat():
        while not over.is_set():
            with contextlib.suppress(OSError, ValueError):
                work(over)

    threads = [threading.Thread(target=repeat, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(30)


@live("K08", "PeerDoS", "a token that may only read asks for its own large result over 20 connections, again and again",
      "another tenant's small result comes at once")
def _(house):
    code = "print('\\x01' * 9_900_000)"
    large = house.mallory.run.expect(200, "POST", "/v1/execute", code=code, max_output_mb=64)["execution_id"]
    small = house.alice.run.expect(200, "POST", "/v1/execute", code="print(1)")["execution_id"]
    with busy(lambda _: house.mallory.read.ask("GET", f"/v1/executions/{large}", patience=30), 20):
        time.sleep(2)
        longest = waits(house.alice.read, 5, f"/v1/executions/{small}")[-1]
    return longest > 10, f"alice waited {longest * 1000:.0f} ms at most"


@live("K09", "PeerDoS", "uploads in chunks of one byte, on 20 connections", "others are served meanwhile")
def _(house):
    session = house.mallory.run.expect(201, "POST", "/v1/sessions", metadata={})["id"]
    block = b"1\r\nx\r\n" * 20_000

    def upload(over):
        head = {"Transfer-Encoding": "chunked"}
        with house.mallory.run.send_head("PUT", f"/v1/sessions/{session}/files/content?path=f", head,
                                         b"50000\r\n" + b"x" * 0x50000 + b"\r\n", timeout=5) as sock:
            while not over.is_set():
                sock.sendall(block)

    idle = waits(house.alice.read)[-1]
    with busy(upload, 20):
        time.sleep(2)
        longest = waits(house.alice.read, 10)[-1]
    return longest > 2, f"alice waited {longest * 1000:.0f} ms at most, {idle * 1000:.0f} ms before"


# Keeps a processor busy, and tells at which moments it had used how much of one.
BUSY = """
import time
end, seen, soon = time.monotonic() + {seconds}, [], 0
while (now := time.monotonic()) < end:
    if now >= soon:
        seen.append([time.time(), time.process_time()])
        soon = now + 0.02
seen.append([time.time(), time.process_time()])
print(seen)
"""


def used_until(seen, moment):
    """Of the processor, by a program that may not have begun yet."""
    return max((used for time, used in seen if time <= moment), default=0)


def share_between(seen, begin, end):
    return (used_until(seen, end) - used_until(seen, begin)) / (end - begin)


@live("K10", "PeerDoS", "one tenant keeps four programs busy for every processor", "another tenant's has its share of them",
      afresh=True)
def _(house):
    count = 4 * os.cpu_count()
    if count > 32:
        raise NotRun(f"{os.cpu_count()} processors are too many to keep busy")

    def keep_busy(client, seconds):
        answer = client.expect(200, "POST", "/v1/execute", code=BUSY.format(seconds=seconds), patience=60)
        if any("cgroup cpu" in word for word in answer["degraded"]):
            raise NotRun("no cpu controller for this user: nobody shares processors")
        return json.loads(answer["stdout"])

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        theirs = [pool.submit(keep_busy, house.mallory.run, 8) for _ in range(count)]
        time.sleep(3)
        own = keep_busy(house.alice.run, 2)
        others = [each.result() for each in theirs]
    # In the same moments: programs that have to wait for their start, or outlive the others, have more at other times.
    begin, end = own[0][0], own[-1][0]
    share = share_between(own, begin, end)
    shares = sorted(share_between(seen, begin, end) for seen in others)
    usual = shares[count // 2]
    beside = sum(seen[0][0] <= begin and end <= seen[-1][0] for seen in others)
    if beside <= count // 2:
        raise NotRun(f"only {beside} of the {count} others ran all the time")
    return share < 2 * usual, f"one program had {share:.0%} of a processor, each of the {count} others {usual:.0%}"
