"""E: terminals, the caller's own above all."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os

from inside import *
from judge import host, reached
from model import add, attack
from rows.syscalls import SYSCALLS


def typed(evidence):
    """What the caller's shell would read next from its terminal."""
    session = evidence.extra["session"]
    os.set_blocking(session.slave, False)
    got = b""
    try:
        got = os.read(session.slave, 4096)
    except OSError:
        pass
    finally:
        os.close(session.slave)
        os.close(session.master)
    found = evidence.extra["nonce"].encode() in got
    return found, "typed into the caller's terminal" if found else f"nothing typed; {evidence.value}"


@attack(
    "E32",
    "Escape",
    "TIOCSTI: type into the caller's terminal",
    "EPERM/ENOTTY, nothing typed",
    host(typed),
    tty=True,
    control="may",
)
def _():
    handles = [0, 1, 2]
    for path in ("/dev/tty", "/dev/console", "/proc/self/fd/0", "/proc/1/fd/0"):
        try:
            handles.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        except OSError:
            pass
    got = set()
    for handle in handles:
        for letter in P["nonce"] + "\n":
            got.add(ioctl(handle, 0x5412, ctypes.c_char_p(letter.encode())))
    return sorted(got)


def shown(evidence):
    session = evidence.extra["session"]
    os.set_blocking(session.master, False)
    got = b""
    try:
        got = os.read(session.master, 65536)
    except OSError:
        pass
    finally:
        os.close(session.slave)
        os.close(session.master)
    found = ("note-" + evidence.extra["nonce"]).encode() in got
    return found, "written to the caller's terminal behind its back" if found else str(evidence.value)


@attack(
    "E51",
    "HostLeak",
    "write to the caller's terminal by /dev/tty, past the streams that were handed in",
    "ENXIO",
    host(shown),
    tty=True,
)
def _():
    note = "note-" + P["nonce"]
    return [
        attempt(path, lambda: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), note.encode()))
        for path in (
            "/dev/tty",
            "/dev/console",
            "/proc/1/fd/0",
            "/proc/%d/fd/0" % os.getppid(),
            "/dev/pts/0",
            "/dev/pts/1",
        )
    ]


@attack(
    "E69",
    "Surface",
    "ioctls of terminals: TIOCSETD, TIOCLINUX, KDSKBENT, GIO_UNIMAP, TIOCCONS",
    "EPERM/ENOTTY/EINVAL",
    reached("EPERM", "ENOTTY", "EINVAL", "EACCES", "ENOENT"),
    group=SYSCALLS,
)
def _():
    slave = os.openpty()[1]
    # The last one would take the console of the bare host away.
    codes = (0x5423, 0x541C, 0x4B47, 0x4B66) + (() if P["host"] else (0x541D,))
    return [[hex(code), ioctl(slave, code, ctypes.create_string_buffer(64))] for code in codes]


add(
    "E70",
    "Surface",
    "TIOCSTI on a pty of its own",
    "EPERM/EIO",
    reached("EPERM", "EIO", "ENOENT"),
    "return [['TIOCSTI', ioctl(os.openpty()[1], 0x5412, ctypes.c_char_p(b'x'))]]",
    group=SYSCALLS,
    control="may",
)
