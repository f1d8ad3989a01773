"""D: processes, signals, time."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os
import time

import host_watch
from inside import *
from judge import either, host, succeeded, value
from model import ADVISORY, HARMFUL, add, attack
from rows.proc import NOT_ANOTHER, of_another
from runner import Run, Session

PROCESSES = "processes"


def victims_dead(evidence):
    time.sleep(0.1)
    dead = [victim.pid for victim in evidence.stage.victims if victim.poll() is not None]
    return bool(dead), f"processes of the host are dead: {dead}" if dead else "the victims live"


@attack(
    "D01",
    "HostDoS",
    "kill a process of the host by its pid",
    "ESRCH",
    host(victims_dead),
    group=PROCESSES,
    control=HARMFUL,
)
def _():
    return [attempt(pid, lambda: os.kill(pid, signal.SIGKILL)) for pid in P["victims"]]


add(
    "D02",
    "HostDoS",
    "kill(-1, SIGKILL)",
    "only its own sandbox dies",
    host(victims_dead),
    "os.kill(-1, signal.SIGKILL)",
    may_die=True,
    control=HARMFUL,
)


@attack(
    "D04",
    "Surface",
    "ptrace: TRACEME, SEIZE and ATTACH of pid 1",
    "EPERM",
    value(lambda got: any(result == "OK" for _, result in got)),
    group=PROCESSES,
)
def _():
    return [
        ["TRACEME", in_child(lambda: word(call("ptrace", 0, 0, 0, 0)))[0]],
        ["SEIZE 1", word(call("ptrace", 0x4206, 1, 0, 0)) if not P["host"] else "EPERM"],
        ["SEIZE parent", word(call("ptrace", 0x4206, os.getppid(), 0, 0)) if not P["host"] else "EPERM"],
    ]


@attack(
    "D05",
    "InternalEsc",
    "process_vm_readv of pid 1",
    "EPERM/ESRCH",
    of_another(succeeded()),
    group=PROCESSES,
    control="may",
    control_needs_root=True,
)
def _():
    ours = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    maps = read("/proc/1/maps").split("-")[0]
    address = int(maps, 16) if maps else 0x400000
    area = ctypes.create_string_buffer(8)
    local = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(area), 8))
    remote = ctypes.create_string_buffer(struct.pack("PN", address, 8))
    return ours + [["readv", word(call("process_vm_readv", 1, local, 1, remote, 1, 0))]]


@attack(
    "D06",
    "InternalEsc",
    "steal descriptors of pid 1 with pidfd_getfd",
    "EPERM",
    of_another(succeeded()),
    group=PROCESSES,
    control="may",
    control_needs_root=True,
)
def _():
    ours = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    handle = call("pidfd_open", 1, 0)
    return ours + [["fd %d" % number, word(call("pidfd_getfd", handle, number, 0))] for number in range(8)]


def still_running(evidence):
    """Everything was to end at the timeout; a second later nothing of it may be left."""
    comm = evidence.extra["comm"]
    if evidence.seconds > evidence.extra["allowed"]:
        return True, f"still running after {evidence.seconds:.1f} s"
    if not host_watch.gone_within(comm, 1):
        return True, f"{len(host_watch.processes(comm))} processes are left"
    return False, f"ended after {evidence.seconds:.1f} s, nothing left"


def until_timeout(seconds):
    """Starts the row with a short time limit: the target's own, or a caller who kills what he started."""

    def drive(target, stage, row):
        run = Run(target, stage, [row])
        session = Session(target, stage, run.job(run.code(), timeout=seconds))
        limit = session.started + seconds + (4 if target.limits_time else 0)
        while event := session.next_event(limit - time.monotonic()):
            run.note(session, *event)
        if session.process.poll() is None:
            session.kill()
        evidence = run.evidence[row.id]
        evidence.seconds = time.monotonic() - session.started
        evidence.extra.update(comm=run.comm, nonce=run.nonce, allowed=seconds + (3.5 if target.limits_time else 4.5))
        evidence.extra["judged"] = still_running(evidence)  # before the target's leftovers are cleaned away
        end_leftovers(run.comm)
        evidence.code, evidence.text = session.end(3), session.text
        return evidence

    return drive


def end_leftovers(comm):
    for pid in host_watch.processes(comm):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def as_judged(evidence):
    return evidence.extra["judged"]


TIMED = {"drive": until_timeout(2), "judge": host(as_judged), "control": "nothing limits the time on the bare host"}


def timed(identity, title, source, expected="killed at the timeout, nothing left"):
    lines = "\n".join(("    " if number else "") + line for number, line in enumerate(source.strip().splitlines()))
    add(
        identity,
        "SelfDoS",
        title,
        expected,
        TIMED["judge"],
        lines,
        drive=TIMED["drive"],
        control=TIMED["control"],
        seconds=60,
    )


timed(
    "D08",
    "ignore SIGTERM, SIGINT, SIGHUP and loop, with detached children",
    """
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        while True:
            time.sleep(0.1)
while True:
    pass
""",
)
timed(
    "D51",
    "stop oneself and one's parents with SIGSTOP",
    """
for pid in (os.getppid(), 1, os.getpid()):
    attempt(pid, lambda: os.kill(pid, signal.SIGSTOP))
time.sleep(60)
""",
)
timed(
    "D52",
    "close the streams and go on in the background",
    """
if os.fork() == 0:
    os.setsid()
    for descriptor in range(3):
        os.close(descriptor)
    time.sleep(60)
for descriptor in range(3):
    os.close(descriptor)
time.sleep(60)
""",
)
timed(
    "D53",
    "end the first thread and go on in another",
    """
threading.Thread(target=lambda: time.sleep(60)).start()
libc.syscall(60 if X86 else 93, 0)
""",
)
timed(
    "D54",
    "a process that forks and exits without end, faster than a list of processes is read",
    """
while True:
    if os.fork():
        os._exit(0)
    os.setsid() if os.getpid() % 7 == 0 else None
""",
)


def left_behind(evidence):
    comm = evidence.extra["comm"]
    if host_watch.gone_within(comm, 1):
        return False, "nothing left"
    count = len(host_watch.processes(comm))
    end_leftovers(comm)
    return True, f"{count} processes outlived the run"


@attack(
    "D55", "HostDoS", "outlive the run: double fork, setsid, CLONE_PARENT, subreaper", "nothing left", host(left_behind)
)
def _():
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    for flags in (signal.SIGCHLD, signal.SIGCHLD | 0x8000, 0x8000):  # CLONE_PARENT
        if call("clone", flags, 0, 0, 0, 0) == 0:
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            if os.fork() == 0:
                time.sleep(25)
            time.sleep(25)
            os._exit(0)
    return "left three"


@attack(
    "D56",
    "HostDoS",
    "signal the host by other calls: pidfd, tgkill, sigqueue, F_SETOWN, process groups",
    "ESRCH",
    host(victims_dead),
    group=PROCESSES,
    control=HARMFUL,
)
def _():
    got = []
    for pid in P["victims"]:
        handle = call("pidfd_open", pid, 0)
        got.append(word(call("pidfd_send_signal", handle, signal.SIGKILL, None, 0)))
        got.append(word(call(234 if X86 else 131, pid, pid, signal.SIGKILL)))  # tgkill
        got.append(word(call(200 if X86 else 130, pid, signal.SIGKILL)))  # tkill
        detail = ctypes.create_string_buffer(struct.pack("iii", signal.SIGKILL, 0, -1) + bytes(116))
        got.append(word(call(129 if X86 else 138, pid, signal.SIGKILL, detail)))  # rt_sigqueueinfo
        got.append(attempt("group", lambda: os.killpg(pid, signal.SIGKILL))[1])
        receiver, sender = os.pipe()
        got.append(attempt("owner", lambda: fcntl.fcntl(receiver, fcntl.F_SETOWN, pid))[1])
        attempt("signal", lambda: fcntl.fcntl(receiver, 10, signal.SIGTERM))  # F_SETSIG
        attempt("async", lambda: fcntl.fcntl(receiver, fcntl.F_SETFL, os.O_ASYNC))
        os.write(sender, b"x")
    return got


def init_died(evidence):
    if evidence.value == "its own":
        return None, NOT_ANOTHER
    alive = evidence.value == "alive"
    return not alive, "pid 1 lives" if alive else "the sandbox ended with it"


@attack(
    "D57", "InternalEsc", "send every signal to pid 1", "pid 1 lives", host(init_died), control=HARMFUL, may_die=True
)
def _():
    if os.getppid() == 1 or P["host"]:
        return "its own"
    for number in range(1, 65):
        attempt(number, lambda: os.kill(1, number))
    time.sleep(0.3)
    return "alive"


@attack(
    "D58",
    "InternalEsc",
    "change the limits of pid 1, and so end it",
    "EPERM/ESRCH",
    of_another(succeeded()),
    group=PROCESSES,
    control=HARMFUL,
)
def _():
    ours = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    return ours + [
        attempt(name, lambda: resource.prlimit(1, getattr(resource, "RLIMIT_" + name), (1000, 1000)))
        for name in ("CPU", "NOFILE", "FSIZE", "STACK", "CORE")
    ]


@attack(
    "D63",
    ADVISORY,
    "change the scheduling of pid 1: nice, class, processors",
    "it slows its own sandbox only",
    of_another(succeeded()),
    group=PROCESSES,
    control=HARMFUL,
)
def _():
    ours = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    return ours + [
        attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19)),
        attempt("scheduler", lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))),
        attempt("affinity", lambda: os.sched_setaffinity(1, {0})),
    ]


@attack(
    "D09",
    "PeerDoS",
    "SCHED_FIFO, SCHED_RR, SCHED_DEADLINE, negative nice, real-time ionice",
    "EPERM",
    succeeded(),
    group=PROCESSES,
    control_needs_root=True,
)
def _():
    deadline = ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 3 * 10**7, 3 * 10**7))
    return [
        attempt("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        attempt("rr", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))),
        ["deadline", word(call("sched_setattr", 0, deadline, 0))],
        attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
        ["ionice", word(call("ioprio_set", 1, 0, (1 << 13) | 0))],
    ]


@attack("D59", "InternalEsc", "raise one's own hard limits", "EPERM", succeeded(), group=PROCESSES, control="may")
def _():
    got = []
    for name in ("NOFILE", "NPROC", "CORE", "MEMLOCK", "FSIZE", "RTPRIO", "NICE", "MSGQUEUE", "SIGPENDING"):
        number = getattr(resource, "RLIMIT_" + name)
        soft, hard = resource.getrlimit(number)
        if hard != resource.RLIM_INFINITY:
            got.append(attempt(name, lambda: resource.setrlimit(number, (soft, hard + 1))))
    return got


add(
    "D60",
    "InternalEsc",
    "regain root: setuid(0), setgid(0), setgroups, capset, a set-user-id program",
    "EPERM/EINVAL",
    either(succeeded()),
    "full = ctypes.create_string_buffer(struct.pack('6I', *([0xFFFFFFFF] * 6))); "
    "head = ctypes.create_string_buffer(struct.pack('II', 0x20080522, 0)); "
    "return [attempt('setuid', lambda: os.setuid(0)), attempt('setgid', lambda: os.setgid(0)), "
    "attempt('setgroups', lambda: os.setgroups([0])), ['capset', word(call('capset', head, full))]]",
    group=PROCESSES,
    control_needs_root=True,
)
add(
    "D61",
    "Surface",
    "prctl(PR_SET_MM) and checkpoint tricks",
    "EPERM/EINVAL",
    value(lambda got: any(result == "OK" for _, result in got)),
    "return [['PR_SET_MM %d' % what, word(call('prctl', 35, what, 0x10000, 0, 0))] for what in (1, 6, 8, 13, 14)]",
    group=PROCESSES,
    control="needs CAP_SYS_RESOURCE, which root may lack",
)
add(
    "D62",
    "Surface",
    "process_madvise and process_mrelease of pid 1",
    "EPERM/ENOSYS",
    value(lambda got: any(result not in ("EPERM", "ENOSYS") for _, result in got)),
    "handle = call('pidfd_open', os.getpid(), 0); "
    "vector = ctypes.create_string_buffer(struct.pack('PN', 0x10000, 4096)); "
    "return [['process_madvise', word(call('process_madvise', handle, vector, 1, 20, 0))], "
    "['process_mrelease', word(call('process_mrelease', handle, 0))]]",
    group=PROCESSES,
)
