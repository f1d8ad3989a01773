"""What a program can find out about the fence around it, as JSON. fault_test.py runs it in sandboxes.

It says that it runs by its name, waits until the host has looked at it from outside, then looks around. The test puts
NATIVE (whether there are namespaces), HOST (the host's namespaces) and SECRET (a file of the host) in front.
"""
import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(15, b"payload-ran", 0, 0, 0)
sys.stdin.read()


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return f"error {error.errno}"


def attempt(action):
    try:
        action()
        return "done"
    except OSError as error:
        return error.errno


def call(number, *arguments):
    return ctypes.get_errno() if libc.syscall(number, *arguments) < 0 else "done"


def capabilities():
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    bounding = [number for number in range(64) if libc.prctl(23, number, 0, 0, 0) == 1]
    ambient = [number for number in range(64) if libc.prctl(47, 1, number, 0, 0) == 1]
    return {"effective": sets[0] + sets[3], "permitted": sets[1] + sets[4], "inheritable": sets[2] + sets[5],
            "bounding": len(bounding), "ambient": len(ambient)}


def mounts():
    """What can be reached: a mount that another one covers cannot (the template's empty /proc)."""
    reached = {}
    for mount in all_mounts():
        reached[mount[0]] = mount
    return reached.values()


def all_mounts():
    told = ("size", "nr_inodes", "mode", "hidepid", "ro")
    for line in read("/proc/self/mountinfo").splitlines():
        front, back = line.split(" - ")
        point, options, *tags = front.split()[4:]
        kind, super_options = back.split()[0], back.split()[2].split(",")
        yield [point, options, tags, kind, [option for option in super_options if option.startswith(told)]]


def loopback_flags():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        return struct.unpack("16xh", fcntl.ioctl(probe, 0x8913, struct.pack("16sh", b"lo", 0)))[0]


def is_open(descriptor):
    return attempt(lambda: os.fstat(descriptor)) == "done"


def try_to_write(path):
    return attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))


def zeros_in_map(name):
    return [name, *(word == "0" for word in read(f"/proc/self/{name}").split())]


def look_around():
    ids, groups, limits = [*os.getresuid(), *os.getresgid()], os.getgroups(), dir(resource)
    return {
        "ids": ids if NATIVE else 0 in ids, "groups": groups if NATIVE else 0 in groups, "capabilities": capabilities(),
        "no_new_privs": libc.prctl(39, 0, 0, 0, 0), "seccomp": libc.prctl(21), "secure bits": libc.prctl(27),
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in limits if name.startswith("RLIMIT_")},
        "interfaces": [name for _, name in socket.if_nameindex()],
        "descriptors": [number for number in range(1024) if is_open(number)],
        "environment": {name: value for name, value in os.environ.items() if NATIVE or "/" not in value},
        "umask": os.umask(0o22), "session": os.getsid(0) == os.getpid(),
        "host file": attempt(lambda: open(SECRET, encoding="utf-8").close()),
        "writes": {path: try_to_write(path) for path in ("/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x",
                                                         "/proc/sys/kernel/core_pattern")},
        # Only Landlock minds the first; only seccomp minds the others.
        "whiteout": attempt(lambda: os.mknod("whiteout", 0o20600, 0)),
        "calls": [call(272, 0x10000000), call(435, 0, 0), call(425, 1, 0), call(321, 5, 0, 0)]}


def look_at_the_namespaces():
    settings = ("max_inotify_instances", "max_inotify_watches", "max_user_namespaces", "max_net_namespaces")
    status = read("/proc/self/status").splitlines()
    return {
        "maps": [zeros_in_map("uid_map"), zeros_in_map("gid_map")], "setgroups": read("/proc/self/setgroups"),
        "filters": [line for line in status if line.startswith("Seccomp")],
        "mounts": sorted(mounts()), "cgroup": read("/proc/self/cgroup"),
        "own namespaces": {name: os.readlink(f"/proc/self/ns/{name}") != inode for name, inode in HOST.items()},
        "loopback": loopback_flags(), "hostname": socket.gethostname(),
        "names": {path: sorted(os.listdir(path)) for path in ("/", "/dev", "/etc", "/home", "/run", "/tmp",
                                                              "/home/agent")},
        "settings": {name: read(f"/proc/sys/user/{name}") for name in settings},
        "masked": {name: read(f"/proc/{name}")[:20] for name in ("kallsyms", "keys", "modules", "cmdline")}}


print(json.dumps(look_around() | (look_at_the_namespaces() if NATIVE else {})))
