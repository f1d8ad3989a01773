"""What every payload has around it inside the sandbox.

The suite sends this file as text, followed by the payloads. It must need nothing but Python's standard library, write
without buffers, and never decide whether an attack succeeded: it only says that a payload ran and what it got.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

P = {}  # parameters of this run; the suite fills them in
X86 = os.uname().machine == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

# name: (x86-64, arm64); -1 where an architecture never had it.
NUMBERS = {
    "accept4": (288, 242),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "cachestat": (451, 451),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "file_getattr": (468, 468),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "get_mempolicy": (239, 236),
    "getpid": (39, 172),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "listmount": (458, 458),
    "lookup_dcookie": (212, 18),
    "lsm_get_self_attr": (459, 459),
    "lsm_list_modules": (461, 461),
    "lsm_set_self_attr": (460, 460),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, -1),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setattr": (314, 274),
    "seccomp": (317, 277),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "splice": (275, 76),
    "statmount": (457, 457),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syncfs": (306, 267),
    "sysfs": (139, -1),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, -1),
    "userfaultfd": (323, 282),
    "ustat": (136, -1),
    "vhangup": (153, 58),
    "vmsplice": (278, 75),
}
NAMESPACES = {
    "mnt": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
CLONE_NEWTIME = 0x80
CLONE_NEWUSER = NAMESPACES["user"]
CLONE_NEWNS = NAMESPACES["mnt"]
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2


def say(kind, row, value=None):
    os.write(1, ("\n@%s %s %s %s\n" % (P["nonce"], kind, row, json.dumps(value))).encode("utf-8", "backslashreplace"))


def name_of(error):
    if error == errno.EOPNOTSUPP:  # it has two names
        return "EOPNOTSUPP"
    return errno.errorcode.get(error, str(error))


def call(name, *arguments):
    """The result of a system call, or minus its error."""
    number = name if isinstance(name, int) else NUMBERS[name][0 if X86 else 1]
    if number < 0:
        return -errno.ENOSYS
    ctypes.set_errno(0)
    packed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(number), *packed)
    return -ctypes.get_errno() if result == -1 else result


def word(result):
    """What a result is called: OK or the name of the error."""
    return "OK" if result >= 0 else name_of(-result)


def ioctl(handle, code, argument=None):
    """As word() of it."""
    ctypes.set_errno(0)
    result = libc.ioctl(handle, ctypes.c_ulong(code), argument)
    return word(result if result >= 0 else -ctypes.get_errno())


def calls(table):
    """Makes each call of [(name, arguments...)] and says how each went."""
    return [[str(name), word(call(name, *arguments))] for name, *arguments in table]


def attempt(what, action):
    """[what, OK or the error's name] of something that raises OSError when it is refused."""
    try:
        action()
        return [what, "OK"]
    except OSError as error:
        return [what, name_of(error.errno) if error.errno else str(error)]
    except ValueError as error:  # how Python says that a limit may not be raised
        return [what, str(error)]


def opened(paths, flags):
    """Tries to open each, and only that: nothing is read or written."""
    return [
        attempt(path, lambda path=path: os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))) for path in paths
    ]


def read(path, size=65536):
    """What can be read there as text, up to so many bytes; empty when it cannot. The kernel gives its tables page by page."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    found = b""
    try:
        while len(found) < size and (piece := os.read(handle, size - len(found))):
            found += piece
    except OSError:
        pass
    finally:
        os.close(handle)
    return found.decode("utf-8", "backslashreplace")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    os.write(handle, text.encode())
    os.close(handle)


def put(path, text, mode=0o644):
    """As write(), but a refusal does not end the payload: the next attempt may go through."""
    return attempt(path, lambda: write(path, text, mode))


def names_in(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def hold(row, value=None, seconds=8):
    """Lets the host look, and goes on when it has: one line on stdin, or the time is over."""
    say("hold", row, value)
    select.select([0], [], [], seconds)


def tcp_answers(addresses, port):
    """What a server at each address says first, or why it cannot be reached."""
    got = []
    for address in addresses:
        try:
            client = socket.create_connection((address, port), timeout=2)
            got.append(client.recv(100).decode())
        except OSError as error:
            got.append(str(error))
    return got


def unix_answer(name, kind=socket.SOCK_STREAM):
    client = socket.socket(socket.AF_UNIX, kind)
    client.settimeout(2)
    client.connect(name)
    return client.recv(100).decode()


def in_child(action, seconds=3):
    """[result or None, signal or 0] of action() in a process of its own."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sender, json.dumps(action()).encode())
        except OSError as error:
            os.write(sender, json.dumps(name_of(error.errno)).encode())
        finally:
            os._exit(0)
    os.close(sender)
    ready = select.select([receiver], [], [], seconds)[0]
    answer = os.read(receiver, 65536) if ready else b""
    os.close(receiver)
    try:
        os.kill(child, signal.SIGKILL) if not ready else None
    except OSError:
        pass
    status = os.waitpid(child, 0)[1]
    return [json.loads(answer) if answer else None, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0]


def private_mounts():
    """A mount namespace of one's own, so that a try on the bare host harms nobody. False where there is none."""
    if call("unshare", CLONE_NEWNS) < 0:
        return False
    return call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None) >= 0


def may_touch_mounts():
    return private_mounts() or not P["host"]


def run_machine_code(code, data=b""):
    """Runs x86-64 machine code in a child; {data} lies below 4 GB and its address is in rdi. As in_child."""

    def body():
        anonymous, private, low = 0x20, 0x02, 0x40
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        area = libc.mmap(None, 16384, 7, anonymous | private | low, -1, 0)
        ctypes.memmove(area, code, len(code))
        ctypes.memmove(area + 8192, data, len(data))
        function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_ulong)(area)
        return function(area + 8192)

    return in_child(body)


def run_row(row, function, seconds):
    """One payload in a process of its own: it may crash, hang or be killed, the others still run."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0) if not P["own_group"] else None
        say("ran", row)
        try:
            say("got", row, function())
        except OSError as error:
            say("refused", row, [name_of(error.errno) if error.errno else "OSError", str(error)])
        except MemoryError:
            say("refused", row, ["ENOMEM", "MemoryError"])
        except Exception as error:  # a mistake in the payload, which must not look like a defence
            say("broken", row, "%s: %s" % (type(error).__name__, error))
        os._exit(0)
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            say("late", row, seconds)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.003)
    if os.WIFSIGNALED(status):
        say("died", row, os.WTERMSIG(status))


def run_all(rows):
    libc.prctl(15, P["comm"].encode(), 0, 0, 0)  # PR_SET_NAME: the host finds our processes by it
    for row, function, seconds in rows:
        run_row(row, function, seconds)
    say("end", "-")
