"""F: memory, processes, disk, output. The host's own figures are the oracle."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os
import time

import host_watch
from inside import *
from judge import either, host, succeeded, value
from model import add, attack
from runner import Run, Session

ALONE = {"alone": True, "seconds": 60, "timeout": 90}
LIMIT_MB = 700  # the sandbox's memory limit of 512 MB and what a busy host moves meanwhile


def many_processes(evidence):
    most = evidence.samples.most
    return most > 600, f"at most {most} processes at once"


@attack(
    "F01",
    "HostDoS",
    "fork bomb",
    "EAGAIN at the limit of processes",
    host(many_processes),
    watch=True,
    alone=True,
    may_die=True,
    seconds=25,
    timeout=30,
)
def _():
    made = 0
    try:
        while made < 1000:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            made += 1
    except OSError:
        pass
    time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def many_threads(evidence):
    most = evidence.samples.most_threads
    return most > 600, f"at most {most} threads at once"


@attack(
    "F51",
    "HostDoS",
    "1000 threads in one process",
    "EAGAIN at the limit of processes",
    host(many_threads),
    watch=True,
    alone=True,
    seconds=25,
)
def _():
    threading.stack_size(65536)
    gate, made = threading.Event(), 0
    try:
        while made < 1000:
            threading.Thread(target=gate.wait, args=(15,), daemon=True).start()
            made += 1
    except RuntimeError:
        pass
    time.sleep(1)
    return made


def figures(_evidence):
    return {
        "shared": host_watch.shared_mb(),
        "available": host_watch.available_mb(),
        "disk": host_watch.disk_free_mb(),
        "tcp": host_watch.socket_memory_mb("TCP"),
        "udp": host_watch.socket_memory_mb("UDP"),
        "inodes": host_watch.inodes_free(),
    }


def watched_figures(evidence):
    return {**figures(evidence), "peaks": host_watch.Peaks()}


def grew(*names, limit=LIMIT_MB):
    """One of the host's figures moved by more than the limit, at its peak or while the payload held what it had.
    `taken` is what the kernel took from the payload and nobody read: where it has no figure of its own, that is in its
    memory."""

    def check(evidence):
        peaks = evidence.before["peaks"].stop()
        seen = {**evidence.before, **(evidence.held or {}), **peaks}
        moved = {name: abs(seen[name] - evidence.before[name]) for name in names if name != "taken"}
        claimed = evidence.extra.get("held_value")
        if "taken" in names:
            moved["taken"] = (claimed or 0) >> 20
        text = ", ".join(f"{name} moved by {by} MB" for name, by in moved.items())
        end = f"the payload had {claimed}" if evidence.hook_ran else f"ended early: {evidence.refused or evidence.code}"
        return max(moved.values()) > limit, f"{text}; {end}"

    return host(check)


HELD = {"before": watched_figures, "hook": figures, "may_die": True, **ALONE}


@attack(
    "F03",
    "HostDoS",
    "fill /dev/shm and /tmp with 1 GiB each",
    "ENOSPC at the configured size",
    grew("shared", "disk"),
    **HELD,
)
def _():
    got = []
    for place in ("/dev/shm", "/tmp"):
        path = "%s/fill-%s" % (place, P["nonce"])
        written = 0
        try:
            handle = os.open(path, os.O_CREAT | os.O_WRONLY)
            while written < 1 << 30:
                written += os.write(handle, bytes(1 << 20))
        except OSError:
            pass
        got.append(written)
    hold(ROW, got)
    for place in ("/dev/shm", "/tmp"):
        attempt(place, lambda: os.unlink("%s/fill-%s" % (place, P["nonce"])))
    return got


FULL_MB = 1000


def disk_filled(evidence):
    """What the payload wrote must be on no disk of the host, in whole; and not come back to a person's directory."""
    taken = evidence.before["disk"] - evidence.held["disk"] if evidence.held else 0
    shared = evidence.held["shared"] - evidence.before["shared"] if evidence.held else 0
    back = (
        sum(
            os.lstat(os.path.join(root, name)).st_blocks
            for root, _, names in os.walk(evidence.directory)
            for name in names
        )
        >> 11
    )
    text = f"{taken} MB of disk and {shared} MB of memory while it ran, {back} MB left"
    return max(taken, shared, back) >= FULL_MB, text


FILL = """    written = 0
    try:
        for number in range({files}):
            handle = os.open("fill-%d" % number, os.O_CREAT | os.O_WRONLY)
            for _ in range({megabytes}):
                written += os.write(handle, bytes(1 << 20))
            os.close(handle)
    except OSError as error:
        pass
    hold(ROW, written)
    return written"""


def fill(identity, title, files, megabytes, **options):
    add(
        identity,
        "HostDoS",
        title,
        "ENOSPC/EDQUOT at the session's quota",
        host(disk_filled),
        FILL.format(files=files, megabytes=megabytes).lstrip(),
        **{**HELD, "may_die": False, **options},
    )


fill("F04", "fill the disk: 1 GiB into the workspace", 1, 1100)
fill("F52", "fill the disk by 140 files of 8 MiB", 140, 8)
fill("F53", "fill the disk through a person's directory", 4, 275, workspace="empty")


def inodes_taken(evidence):
    taken = evidence.before["inodes"] - evidence.held["inodes"] if evidence.held else 0
    back = sum(len(names) for _, _, names in os.walk(evidence.directory))
    return max(taken, back) > 35_000, f"{taken} inodes of the host while it ran, {back} left"


INODES = """    made = 0
    try:
        for number in range(40_000):
            if number % 1000 == 0:
                os.makedirs("{place}d%d" % number, exist_ok=True)
            os.close(os.open("{place}d%d/%d" % (number // 1000 * 1000, number), os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError:
        pass
    hold(ROW, made)
    return made"""


add(
    "F54",
    "HostDoS",
    "40,000 empty files in the workspace",
    "ENOSPC/EDQUOT at a limit of inodes",
    host(inodes_taken),
    INODES.format(place="").lstrip(),
    **{**HELD, "may_die": False},
)
add(
    "F55",
    "HostDoS",
    "40,000 empty files in /tmp",
    "ENOSPC at the limit of inodes",
    value(lambda made: made >= 40_000),
    INODES.format(place="/tmp/skerry-attack-inodes/")
    .replace("    return made", "    import shutil\n    " "shutil.rmtree('/tmp/skerry-attack-inodes')\n    return made")
    .lstrip(),
    **{**HELD, "may_die": False},
)


def tree_left(evidence):
    left = [name for name in os.listdir(evidence.directory)]
    runs = os.path.join(evidence.stage.home, ".skerry", "workspaces")
    runs = os.listdir(runs) if os.path.isdir(runs) else []
    slow = evidence.seconds > 25
    if evidence.target.family in ("native",) and runs:
        return True, f"workspaces left: {len(runs)}"
    if slow:
        return True, f"took {evidence.seconds:.0f} s"
    return bool(left) and evidence.target.has_scratch, f"gone after {evidence.seconds:.1f} s"


@attack(
    "F56",
    "HostDoS",
    "a tree 3,000 levels deep in the workspace, closed to its owner",
    "removed, in time",
    host(tree_left),
    control="the bare host removes nothing",
    seconds=20,
    timeout=40,
    alone=True,
)
def _():
    depth = 0
    try:
        while depth < 3000:
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
            depth += 1
    except OSError:
        pass
    attempt("mode", lambda: os.chmod(".", 0))
    return depth


@attack(
    "F06",
    "SelfDoS",
    "open files without end",
    "EMFILE at RLIMIT_NOFILE",
    value(lambda got: got >= 60_000),
    group="limits",
    control="may",
)
def _():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    made = 0
    try:
        while made < 60_000:
            os.open("/dev/null", os.O_RDONLY)
            made += 1
    except OSError:
        pass
    return made


def flood_passed(evidence):
    through = evidence.bytes_out >> 20
    peak = evidence.extra.get("peak_mb", 0)
    return through >= 200 or peak > 150, f"{through} MB came through, the runner held at most {peak} MB"


def drive_flood(target, stage, row):
    """Reads all of it, as a caller would, and looks at the runner's memory meanwhile."""
    run = Run(target, stage, [row])
    session = Session(target, stage, run.job(run.code()))
    evidence, peak, deadline = run.evidence[row.id], 0, time.monotonic() + 40
    while session.process.poll() is None and time.monotonic() < deadline:
        peak = max(peak, int((host_watch.status_field(session.process.pid, "VmHWM") or "0").split()[0]))
        time.sleep(0.02)
    code = session.end(2)
    while event := session.next_event(0.1):
        run.note(session, *event)
    run.finish(session, code, None)
    evidence.extra["peak_mb"] = peak >> 10
    return evidence


add(
    "F07",
    "HostDoS",
    "flood the output: 200 MiB on stdout",
    "cut at a cap, the runner's memory stays flat",
    host(flood_passed),
    "head -c 209715200 /dev/zero | tr '\\\\0' 'x'; echo",
    language="shell",
    drive=drive_flood,
    timeout=40,
)


def core_left(evidence):
    found = [name for name in os.listdir(evidence.directory) if name.startswith("core")]
    return bool(found), f"core files: {found}" if found else str(evidence.value)


@attack(
    "F08",
    "SelfDoS",
    "core dump into the workspace",
    "RLIMIT_CORE hard 0",
    either(host(core_left), succeeded()),
    workspace="empty",
)
def _():
    got = [attempt("raise the limit", lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))]
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(1)
    os.waitpid(child, 0)
    return got


def work():
    start = time.monotonic()
    sum(number * number for number in range(700_000))
    return time.monotonic() - start


def host_speed(_evidence):
    return min(work() for _ in range(3))


def starved(evidence):
    if evidence.held is None:
        return False, "ended early"
    ratio = evidence.held / evidence.before
    return ratio > 5, f"the host's own work took {ratio:.1f} times as long"


@attack(
    "F65",
    "HostDoS",
    "100 processes that spin: the host's own work must go on",
    "a fair share",
    host(starved),
    before=host_speed,
    control="may",
    hook=host_speed,
    alone=True,
    may_die=True,
    seconds=20,
    timeout=30,
)
def _():
    for _ in range(100):
        if os.fork() == 0:
            end = time.monotonic() + 12
            while time.monotonic() < end:
                pass
            os._exit(0)
    hold(ROW, None, 10)
    os.killpg(0, signal.SIGKILL)  # ends this process too, which is its group's leader
