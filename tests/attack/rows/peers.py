"""P: two sandboxes at once."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import glob
import os
import time

import host_watch
from inside import *
from judge import host, leaks, value
from model import ADVISORY, Row, add, attack, body_of
from runner import Run, Session

PEER = {"group": "peer", "peer": True}


def peer_program():
    def serve(endpoint):
        endpoint.listen(8)
        while True:
            endpoint.accept()[0].sendall(P["token"].encode())

    def offer(family, address):
        endpoint = socket.socket(family)
        endpoint.bind(address)
        threading.Thread(target=serve, args=(endpoint,), daemon=True).start()

    # A sandbox may refuse any of these: then there is one channel less.
    for path in ("peer.txt", "/tmp/peer.txt", "/dev/shm/peer-%s" % P["shared"]):
        attempt(path, lambda: write(path, P["token"], 0o666))
    attempt("abstract", lambda: offer(socket.AF_UNIX, "\0peer-" + P["shared"]))
    attempt("port", lambda: offer(socket.AF_INET, ("127.0.0.1", P["peer_port"])))
    attempt("lock", lambda: fcntl.flock(os.open("/usr/lib/os-release", os.O_RDONLY), fcntl.LOCK_EX))
    segment = libc.shmget(P["peer_key"], 4096, 0o1666)
    libc.shmat.restype = ctypes.c_void_p
    area = libc.shmat(segment, None, 0)
    if segment >= 0 and area not in (None, ctypes.c_void_p(-1).value):
        ctypes.memmove(area, P["token"].encode(), len(P["token"]))
    queue = libc.mq_open(b"/peer-" + P["shared"].encode(), os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o666, None)
    libc.mq_send(queue, P["token"].encode(), len(P["token"]), 0)
    call("add_key", b"user", b"peer-" + P["shared"].encode(), P["token"].encode(), len(P["token"]), -4)
    hold(ROW, None, 100)
    libc.shmctl(segment, 0, None)
    libc.mq_unlink(b"/peer-" + P["shared"].encode())
    attempt("shm", lambda: os.unlink("/dev/shm/peer-%s" % P["shared"]))


class Peer:
    """The other session. It holds secrets of its own until it is told to go."""

    def __init__(self, target, stage):
        row = Row("PEER", "Lateral", "", "", body_of(peer_program), None, seconds=110, timeout=120)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.names = {
            "shared": os.urandom(4).hex(),
            "peer_port": port,
            "peer_key": 0x43000000 | int.from_bytes(os.urandom(2), "big"),
        }
        run = Run(target, stage, [row], {**self.names, "token": stage.tokens["peer"]})
        self.session = Session(target, stage, run.job(run.code()))
        self.comm = run.comm
        self.is_up = False
        deadline = time.monotonic() + 20
        while not self.is_up and (event := self.session.next_event(deadline - time.monotonic())):
            self.is_up = event[0] == "hold"
        homes = glob.glob(os.path.join(stage.home, ".skerry", "workspaces", "*"))
        self.parameters = {
            **self.names,
            "peer_files": [os.path.join(place, "peer.txt") for place in [run.directory, *homes]],
            "peer_pids": host_watch.processes(self.comm),
        }

    def close(self):
        self.session.let_go()
        self.session.end(5)


add(
    "P01",
    "Lateral",
    "abstract socket between two sessions",
    "no contact",
    leaks("peer"),
    "return unix_answer(chr(0) + 'peer-' + P['shared'])",
    **PEER,
)


@attack("P51", "Lateral", "System V memory between two sessions", "no contact", leaks("peer"), **PEER)
def _():
    segment = libc.shmget(P["peer_key"], 0, 0)
    if segment < 0:
        return "ENOENT"
    libc.shmat.restype = ctypes.c_void_p
    return ctypes.string_at(libc.shmat(segment, None, 0o10000), 24).decode("ascii", "replace")


@attack("P52", "Lateral", "POSIX queue between two sessions", "no contact", leaks("peer"), **PEER)
def _():
    queue = libc.mq_open(b"/peer-" + P["shared"].encode(), os.O_RDONLY | os.O_NONBLOCK)
    text = ctypes.create_string_buffer(8192)
    libc.mq_receive(queue, text, 8192, None)
    return text.value.decode() if queue >= 0 else "ENOENT"


add(
    "P53",
    "Lateral",
    "a name in /dev/shm or /tmp between two sessions",
    "no contact",
    leaks("peer"),
    "return read('/dev/shm/peer-' + P['shared']) + read('/tmp/peer.txt') + read('/var/tmp/peer.txt')",
    **PEER,
)


@attack("P54", "Lateral", "the user keyring between two sessions", "no contact", leaks("peer"), control="may", **PEER)
def _():
    key = call("request_key", b"user", b"peer-" + P["shared"].encode(), None, -4)
    text = ctypes.create_string_buffer(100)
    call("keyctl", 11, key, text, 100)
    return text.value.decode("ascii", "replace")


add(
    "P55",
    "Lateral",
    "a TCP port of another session's loopback",
    "ECONNREFUSED",
    leaks("peer"),
    "return tcp_answers(['127.0.0.1'], P['peer_port'])",
    **PEER,
)


add(
    "P56",
    "PeerDoS",
    "kill the processes of another session by their host pids",
    "ESRCH",
    host(lambda evidence: (any(result == "OK" for _, result in evidence.value or []), str(evidence.value))),
    "return [attempt(pid, lambda: os.kill(pid, 0)) for pid in P['peer_pids']]",
    **PEER,
)


def same_uid(evidence):
    if evidence.target.user != 0:
        return None, "a plain user has one id for all sessions"
    peers = {host_watch.status_field(pid, "Uid") for pid in evidence.stage.peer.parameters["peer_pids"]} - {""}
    own = {host_watch.status_field(pid, "Uid") for pid in host_watch.processes(evidence.extra["held_comm"])} - {""}
    if not peers or not own:
        return None, "the processes could not be seen"
    return bool(peers & own), f"ids on the host: {sorted(peers)} and {sorted(own)}"


def note_uid(evidence):
    evidence.extra["held_comm"] = evidence.extra["held_value"]
    return same_uid(evidence)


add(
    "P57",
    "Lateral",
    "two sessions have the same user id on the host",
    "a fresh id for each",
    host(lambda evidence: evidence.held),
    "hold(ROW, P['comm']); return 'done'",
    hook=note_uid,
    control_needs_root=True,
    **PEER,
)


@attack(
    "P02",
    ADVISORY,
    "a lock on a shared read-only file as a channel between sessions",
    "documented",
    value(lambda got: got == "EAGAIN"),
    **PEER,
)
def _():
    handle = os.open("/usr/lib/os-release", os.O_RDONLY)
    return attempt("flock", lambda: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB))[1]


PLACES = "('/tmp/', '/dev/shm/', '/var/tmp/', '/run/', '/home/agent/', '', os.path.expanduser('~') + '/')"


def drive_reuse(target, stage, row):
    """One session leaves files wherever it can; the next looks for them."""
    first = Row(
        "FIRST",
        "Lateral",
        "",
        "",
        f"    return [attempt(place, lambda: write(place + 'left-' + P['shared'], P['token'], 0o644))"
        f" for place in {PLACES}]",
        None,
    )
    shared = os.urandom(4).hex()
    earlier = Run(target, stage, [first], {"shared": shared, "token": stage.tokens["earlier"]})
    earlier.execute()
    later = Run(target, stage, [row], {"shared": shared})
    evidence = later.execute()[row.id]
    if target.family == "host":
        for place in ("/tmp/", "/dev/shm/", "/var/tmp/", "/run/"):
            try:
                os.unlink(place + "left-" + shared)
            except OSError:
                pass
    return evidence


add(
    "P03",
    "Lateral",
    "files of a finished session readable by the next",
    "nothing is left",
    leaks("earlier"),
    f"return [read(place + 'left-' + P['shared']) for place in {PLACES}]",
    drive=drive_reuse,
)


def drive_neighbour(target, stage, row):
    """How long a trivial session takes alone, and beside one that takes all it can."""
    trivial = Row("TRIVIAL", "PeerDoS", "", "", "    return 1", None)

    def once():
        start = time.monotonic()
        Run(target, stage, [trivial]).execute()
        return time.monotonic() - start

    alone = min(once() for _ in range(3))
    run = Run(target, stage, [row])
    session = Session(target, stage, run.job(run.code()))
    while event := session.next_event(15):
        if event[0] == "hold":
            run.evidence[row.id].extra["times"] = (alone, min(once() for _ in range(3)))
        run.note(session, *event)
    run.finish(session, session.end(5), None)
    return run.evidence[row.id]


def slowed(evidence):
    if "times" not in evidence.extra:
        return False, "the greedy session ended early"
    alone, beside = evidence.extra["times"]
    return (
        beside / alone > 5,
        f"{alone * 1000:.0f} ms alone, {beside * 1000:.0f} ms beside it ({beside / alone:.1f} times)",
    )


@attack(
    "P04",
    "PeerDoS",
    "one session forks and spins at its limits: another's start",
    "less than 5 times as long",
    host(slowed),
    control="may",
    drive=drive_neighbour,
    alone=True,
    seconds=25,
    timeout=30,
    may_die=True,
)
def _():
    made = 0
    try:
        while made < 120:
            if os.fork() == 0:
                end = time.monotonic() + 20
                while time.monotonic() < end:
                    pass
                os._exit(0)
            made += 1
    except OSError:
        pass
    hold(ROW, made, 20)
    os.killpg(0, signal.SIGKILL)
