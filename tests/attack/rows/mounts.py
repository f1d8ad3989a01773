"""C: namespaces and mounts."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
from inside import *
from judge import leaks, reached, succeeded
from model import add, attack

MOUNTS = "mounts"


@attack("C02", "HostLeak", "umount a mask or a denied mount", "EPERM/EINVAL", succeeded(), control_needs_root=True)
def _():
    if not may_touch_mounts():
        return [["no private mounts", "ENOSYS"]]
    places = [line.split()[4] for line in read("/proc/self/mountinfo", 1 << 20).splitlines()]
    return [[place, word(call("umount2", place.encode(), MNT_DETACH))] for place in reversed(places) if place != "/"]


add(
    "C03",
    "Surface",
    "unshare(CLONE_NEWUSER)",
    "EPERM",
    reached(),
    "return calls([('unshare', CLONE_NEWUSER)])",
    group=MOUNTS,
)


@attack("C05", "Surface", "clone3, whose flags no filter can read", "ENOSYS", reached(), group=MOUNTS)
def _():
    arguments = ctypes.create_string_buffer(struct.pack("8Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))
    result = call("clone3", arguments, 64)
    if result == 0:
        os._exit(0)
    return [["clone3", word(result)]]


@attack(
    "C07", "HostLeak", "nested user namespace with a fresh, unmasked /proc", "unshare EPERM", succeeded(), group=MOUNTS
)
def _():
    if call("unshare", CLONE_NEWUSER | CLONE_NEWNS | NAMESPACES["pid"]) < 0:
        return [["unshare", "EPERM"]]

    def inner():
        os.makedirs("fresh", exist_ok=True)
        call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        return word(call("mount", b"proc", b"fresh", b"proc", 0, None))

    return [["mount proc", in_child(inner)[0]]]


@attack(
    "C10",
    "Escape",
    "setns into pid 1's and every visible namespace",
    "EPERM",
    succeeded(),
    group=MOUNTS,
    control_needs_root=True,
)
def _():
    got = []
    for pid in ["1", str(os.getppid()), "self"]:
        for name in list(NAMESPACES) + ["time", "pid_for_children"]:
            try:
                handle = os.open("/proc/%s/ns/%s" % (pid, name), os.O_RDONLY)
            except OSError as error:
                got.append([pid + "/" + name, name_of(error.errno)])
                continue
            got.append([pid + "/" + name, word(call("setns", handle, 0))])
    return got


@attack(
    "C11",
    "Escape",
    "overlayfs in a nested user namespace (CVE-2021-3493, CVE-2023-0386)",
    "unshare EPERM",
    succeeded(),
    group=MOUNTS,
)
def _():
    user, group = os.getuid(), os.getgid()
    if call("unshare", CLONE_NEWUSER | CLONE_NEWNS) < 0:
        return [["unshare", "EPERM"]]
    for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % user), ("gid_map", "0 %d 1" % group)):
        attempt(name, lambda: os.write(os.open("/proc/self/" + name, os.O_WRONLY), text.encode()))
    for name in ("lower", "upper", "work", "merged"):
        os.makedirs(name, exist_ok=True)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    options = b"lowerdir=lower,upperdir=upper,workdir=work,userxattr"
    result = call("mount", b"overlay", b"merged", b"overlay", 0, options)
    return [["overlay", word(result)]]


@attack(
    "C12",
    "HostLeak",
    "mount the host's disk",
    "EPERM",
    leaks("secret"),
    group=MOUNTS,
    control="may",
    control_needs_root=True,
)
def _():
    if not may_touch_mounts():
        return ""
    os.makedirs("disk", exist_ok=True)
    got = []
    node = "node-" + P["nonce"]
    attempt(node, lambda: os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(*P["root_device"])))
    for source in (node, "/dev/vda", "/dev/vda1", "/dev/sda", "/dev/sda1", "/dev/nvme0n1p1", "/dev/root"):
        for flags in (MS_RDONLY, 0):
            result = call("mount", source.encode(), b"disk", b"ext4", flags, None)
            got.append(word(result))
            if result >= 0:
                got.append(read("disk" + P["secret"]))
                call("umount2", b"disk", MNT_DETACH)
    attempt(node, lambda: os.unlink(node))
    return got


@attack("C13", "Surface", "pivot_root and chroot", "EPERM", reached(), group=MOUNTS, control_needs_root=True)
def _():
    return calls([("pivot_root", b"/nowhere", b"/nowhere"), ("chroot", b"/")])


add(
    "C51",
    "Surface",
    "unshare of each other namespace",
    "EPERM",
    reached(),
    "return [[name, in_child(lambda: word(call('unshare', flag)))[0]] for name, flag in "
    "[*NAMESPACES.items(), ('time', CLONE_NEWTIME)]]",
    group=MOUNTS,
)


@attack("C52", "Surface", "clone with each namespace flag", "EPERM", reached(), group=MOUNTS)
def _():
    got = []
    for name, flag in NAMESPACES.items():
        result = call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
        if result == 0:
            os._exit(0)
        if result > 0:
            os.waitpid(result, 0)
        got.append([name, word(result)])
    return got


NEW_INTERFACE = (
    "[('fsopen', b'proc', 0), ('fsopen', b'tmpfs', 0), ('fsopen', b'sysfs', 0), ('fsopen', b'cgroup2', 0), "
    "('open_tree', -100, b'/', 1), ('open_tree', -100, b'/proc', 0x8001), ('fspick', -100, b'/', 0), "
    "('fsconfig', -1, 0, None, None, 0), ('fsmount', -1, 0, 0), "
    "('move_mount', -1, b'', -1, b'', 0), ('mount_setattr', -1, b'', 0, None, 0), "
    "('open_tree_attr', -100, b'/', 1, None, 0)]"
)
add(
    "C53",
    "Surface",
    "the new mount interface: fsopen, open_tree, fspick, move_mount, mount_setattr, …",
    "EPERM/ENOSYS",
    reached(),
    f"return calls({NEW_INTERFACE})",
    group=MOUNTS,
)


@attack(
    "C54",
    "Escape",
    "mount by the old call: tmpfs, proc, sysfs, devpts, bind, remount of /usr writable",
    "EPERM",
    succeeded(),
    control_needs_root=True,
)
def _():
    if not may_touch_mounts():
        return [["no private mounts", "ENOSYS"]]
    os.makedirs("here", exist_ok=True)
    return calls(
        [
            ("mount", b"none", b"here", b"tmpfs", 0, None),
            ("mount", b"none", b"here", b"proc", 0, None),
            ("mount", b"none", b"here", b"sysfs", 0, None),
            ("mount", b"none", b"here", b"devpts", 0, None),
            ("mount", b"none", b"here", b"cgroup2", 0, None),
            ("mount", b"none", b"here", b"mqueue", 0, None),
            ("mount", b"/", b"here", None, MS_BIND | MS_REC, None),
            ("mount", b"none", b"/usr", None, MS_REMOUNT | MS_BIND, None),
            ("mount", b"none", b"/proc/sys", None, MS_REMOUNT | MS_BIND, None),
        ]
    )


@attack(
    "C55",
    "InternalEsc",
    "namespaces above one's own by ioctl: NS_GET_PARENT, NS_GET_USERNS, pidfd",
    "EPERM/ENOTTY/EACCES",
    succeeded(),
    group=MOUNTS,
    control="the host's namespaces have nothing above them",
)
def _():
    got = []
    for name in NAMESPACES:
        try:
            handle = os.open("/proc/self/ns/" + name, os.O_RDONLY)
        except OSError as error:
            got.append([name, name_of(error.errno)])
            continue
        for number, what in ((0xB702, "parent"), (0xB701, "owner")):
            ctypes.set_errno(0)
            other = libc.ioctl(handle, number)
            if other >= 0 and os.fstat(other).st_ino == os.stat("/proc/self/ns/user").st_ino:
                got.append([name + " " + what, "its own"])
            else:
                got.append([name + " " + what, word(other if other >= 0 else -ctypes.get_errno())])
    return got


@attack(
    "C56",
    "InternalEsc",
    "namespaces of pid 1 through a pidfd: ioctl PIDFD_GET_*_NAMESPACE, setns(pidfd)",
    "EPERM/EACCES/ENOTTY/ESRCH",
    succeeded(),
    group=MOUNTS,
    control="may",
    control_needs_root=True,
)
def _():
    handle = call("pidfd_open", 1, 0)
    if handle < 0:
        return [["pidfd_open", word(handle)]]
    got = [
        ["setns " + name, in_child(lambda: word(call("setns", handle, flag)))[0]] for name, flag in NAMESPACES.items()
    ]
    if os.getppid() == 1:
        return [["pid 1 is the program itself", "same"]]
    for number in range(1, 12):
        got.append(["ioctl %d" % number, ioctl(handle, 0xFF00 | number)])
    return got
