"""F: what the kernel counts for a whole user or the whole machine.

While the sandbox holds all that it can get, the caller tries to get one more.
"""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os
import subprocess
import sys

from inside import *
from judge import host, value
from model import ADVISORY, add, attack

PROBE = """
import ctypes, fcntl, os, resource, socket, struct, sys, array
libc = ctypes.CDLL(None, use_errno=True)
def inotify():
    handle = libc.inotify_init1(0)
    return handle >= 0 and libc.inotify_add_watch(handle, b'/', 0x100) >= 0
def pipe():
    size = fcntl.fcntl(os.pipe()[1], 1032)
    if size < 65536: raise OSError(0, 'a pipe of only %d bytes' % size)
    return True
def inflight():
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    one, other = socket.socketpair()
    return one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))]) == 1
def pty():
    return bool(os.openpty())
def aio():
    return libc.syscall(206 if os.uname().machine == 'x86_64' else 0, 64, ctypes.create_string_buffer(8)) == 0
def locked():
    return libc.mlock(ctypes.create_string_buffer(8192), 4096) == 0
def timer():
    return libc.timer_create(0, None, ctypes.create_string_buffer(8)) == 0
def process():
    child = os.fork()
    if child == 0: os._exit(0)
    return os.waitpid(child, 0)[1] == 0
def queue():
    name = b'/skerry-probe-%d' % os.getpid()
    return libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0 and libc.mq_unlink(name) == 0
def file():
    return os.open('/dev/null', os.O_RDONLY) >= 0
def watch():
    import select
    select.epoll().register(os.pipe()[0])
    return True
def namespace():
    return libc.unshare(0x10000000) == 0
try:
    print('yes' if globals()[sys.argv[1]]() else os.strerror(ctypes.get_errno()) or 'no')
except OSError as error:
    print(error)
"""


def as_caller(name):
    """Whether the caller still gets one: 'yes' or what the kernel said."""

    def probe(evidence):
        prefix = evidence.target.as_caller(
            [sys.executable if evidence.target.user == os.geteuid() else "/usr/bin/python3"]
        )
        done = subprocess.run(
            [*prefix, "-c", PROBE, name], capture_output=True, text=True, timeout=20, check=False, cwd="/"
        )
        return done.stdout.strip() or done.stderr.strip()[-100:]

    return probe


def taken_away(evidence):
    if evidence.before != "yes":
        return None, "the caller had none before: " + str(evidence.before)
    if not evidence.hook_ran:
        return False, "the payload got nothing: " + str(evidence.refused)
    return evidence.held != "yes", f"the caller: {evidence.held}; the sandbox held {evidence.extra.get('held_value')}"


WORKERS = """    receivers, held = [], 0
    for _ in range({workers}):
        receiver, sender = os.pipe()
        if os.fork() == 0:
            made, keep = 0, []
            try:
                while made < {most}:
{body}
                    made += 1
            except OSError:
                pass
            os.write(sender, struct.pack("Q", made))
            time.sleep(10)
            os._exit(0)
        os.close(sender)
        receivers.append(receiver)
    for receiver in receivers:
        held += struct.unpack("Q", os.read(receiver, 8).ljust(8, bytes(1)))[0]
    hold(ROW, held)
    os.killpg(0, signal.SIGKILL)"""


def exhaust(identity, title, probe, body, workers=8, most=3000, control=True, kind="HostDoS", **options):
    lines = "\n".join(" " * 20 + line for line in body.strip().splitlines())
    add(
        identity,
        kind,
        title,
        "the caller still gets its own",
        host(taken_away),
        WORKERS.format(workers=workers, most=most, body=lines).lstrip(),
        before=as_caller(probe),
        hook=as_caller(probe),
        alone=True,
        may_die=True,
        seconds=20,
        timeout=30,
        control=control,
        **options,
    )


OTHERS = "it would take them from the other programs of this user"
exhaust(
    "F71",
    "all inotify instances of the user",
    "inotify",
    "if libc.inotify_init1(0) < 0:\n    break\nkeep.append(1)",
    workers=4,
    control=OTHERS,
)
exhaust(
    "F72",
    "all pipe buffers of the user (pipe-user-pages-soft): new pipes get 8 KiB in place of 64",
    "pipe",
    "one, other = os.pipe()\nkeep.append(one)\nattempt('size', lambda: fcntl.fcntl(other, 1031, 1 << 20))",
    most=480,
    control=OTHERS,
    kind=ADVISORY,  # a plain user's sandbox is that user; nothing fails, pipes get smaller
)
exhaust(
    "F73",
    "all descriptors in flight of the user",
    "inflight",
    "if not keep or made % 200 == 0:\n    keep.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))\n"
    "    keep[-1][0].setblocking(False)\n"
    "import array\nkeep[-1][0].sendmsg([b'x'], [(1, 1, array.array('i', [0] * 100))])",
    workers=6,
    most=400,
    control=OTHERS,
)
exhaust(
    "F74",
    "all pseudo-terminals of the machine",
    "pty",
    "keep.append(os.openpty())",
    most=480,
    workers=10,
    control=OTHERS,
)
exhaust(
    "F75",
    "all contexts of asynchronous I/O of the machine (aio-max-nr)",
    "aio",
    "if call('io_setup', 4096, ctypes.create_string_buffer(8)) < 0:\n    break",
    workers=2,
    most=100,
    control=OTHERS,
)
exhaust(
    "F76",
    "all timers and queued signals of the user (RLIMIT_SIGPENDING)",
    "timer",
    "if libc.timer_create(0, None, ctypes.create_string_buffer(8)) != 0:\n    break",
    workers=8,
    most=30000,
    control=OTHERS,
)
exhaust(
    "F77",
    "all memory that the user may lock",
    "locked",
    "area = mmap.mmap(-1, 65536)\naddress = ctypes.addressof(ctypes.c_char.from_buffer(area))\n"
    "if libc.mlock(ctypes.c_void_p(address), 65536) != 0:\n    break\n"
    "keep.append(area)",
    workers=8,
    most=2000,
    control=OTHERS,
)
exhaust(
    "F78",
    "all POSIX queues of the user (RLIMIT_MSGQUEUE)",
    "queue",
    "name = b'/q%d-%d' % (os.getpid(), made)\nif libc.mq_open(name, 0o102, 0o600, None) < 0:\n    break\n"
    "libc.mq_unlink(name)",
    workers=2,
    most=200,
    control=OTHERS,
)
exhaust(
    "F79",
    "all processes of the user",
    "process",
    "if os.fork() == 0:\n    time.sleep(12)\n    os._exit(0)",
    workers=4,
    most=200,
    control=OTHERS,
)
exhaust(
    "F80",
    "the machine's table of open files",
    "file",
    "keep.append(os.open('/dev/null', 0))",
    workers=60,
    most=1000,
    control=OTHERS,
)
exhaust(
    "F81",
    "all user namespaces of the user (max_user_namespaces)",
    "namespace",
    "child = os.fork()\nif child == 0:\n    libc.unshare(0x10000000)\n    time.sleep(12)\n    os._exit(0)",
    workers=2,
    most=100,
    control=OTHERS,
)


def left_in_host(evidence):
    key, name = evidence.value or (0, "")
    with open("/proc/sysvipc/shm", encoding="utf-8") as file:
        found = any(line.split()[0] == str(key) for line in file)
    if found:
        libc.shmctl(libc.shmget(key, 0, 0), 0, None)
    queue = libc.mq_open(name.encode(), os.O_RDONLY) if name else -1
    if queue >= 0:
        libc.mq_unlink(name.encode())
        os.close(queue)
    return found or queue >= 0, (
        "left on the host: " + ("a segment " if found else "") + ("a queue" if queue >= 0 else "")
        if found or queue >= 0
        else "gone"
    )


@attack(
    "F09",
    "HostDoS",
    "System V memory and POSIX queues left behind",
    "own IPC namespace: gone after the end",
    host(left_in_host),
    group="ipc",
)
def _():
    key = 0x42000000 | int(P["nonce"][:5], 16)
    libc.shmget(key, 4096, 0o1666)
    name = "/skerry-attack-" + P["nonce"]
    libc.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
    return [key, name]


add(
    "F82",
    "HostDoS",
    "make cgroups below one's own and move out of the limits",
    "no cgroup file system",
    value(lambda got: any(result == "OK" for _, result in got)),
    "return [attempt(path, lambda: (os.mkdir(path + '/skerry-attack'), os.rmdir(path + '/skerry-attack'))) for path in "
    "('/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/unified', "
    "'/sys/fs/cgroup/systemd')]",
    group="limits",
    control_needs_root=True,
)
