"""B: what the machine tells of itself."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import hashlib
import os
import subprocess
import time

from inside import *
from judge import host, of_host_files, succeeded, value
from model import ADVISORY, add, attack

MACHINE = "machine"


def real_addresses(evidence):
    lines = [line for line in (evidence.value or "").splitlines() if line and not line.startswith("0000000000000000")]
    return bool(lines), lines[0] if lines else "no addresses"


add(
    "B08",
    "HostLeak",
    "real addresses in /proc/kallsyms",
    "zeros or masked",
    host(real_addresses),
    "return read('/proc/kallsyms', 4096)",
    group=MACHINE,
    control="may",
)


add(
    "B09",
    "HostLeak",
    "/proc/keys, timer_list, interrupts, sched_debug, slabinfo and their like",
    "masked",
    value(lambda got: got, lambda got: "readable: " + ", ".join(got)),
    "return [name for name in ('keys', 'key-users', 'timer_list', 'interrupts', 'softirqs', 'sched_debug', 'slabinfo', "
    "'vmallocinfo', 'iomem', 'ioports', 'modules', 'buddyinfo', 'pagetypeinfo', 'zoneinfo', 'diskstats', 'partitions', "
    "'swaps', 'locks', 'latency_stats', 'scsi/scsi', 'acpi/wakeup', 'bus/pci/devices', 'cmdline', 'mtrr') "
    "if read('/proc/' + name, 4096).strip()]",
    group=MACHINE,
)


add(
    "B10",
    "HostLeak",
    "the kernel log by syslog(2)",
    "EPERM",
    succeeded(),
    "return calls([('syslog', 3, ctypes.create_string_buffer(4096), 4096), ('syslog', 10, None, 0)])",
    group=MACHINE,
    control_needs_root=True,
)


add(
    "B52",
    "HostLeak",
    "memory of the kernel and the machine: kcore, kmsg, kpageflags, kpagecount",
    "ENOENT/EACCES/masked",
    value(lambda got: got, lambda got: "readable: " + ", ".join(got)),
    "return [name for name in ('kcore', 'kpageflags', 'kpagecount', 'kpagecgroup', 'vmcore', 'mem') "
    "if read('/proc/' + name, 64)]",
    group=MACHINE,
    control="may",
    control_needs_root=True,
)


FILE_SYSTEMS = [
    "/proc/sys/fs/binfmt_misc/register",
    "/sys/kernel/debug/tracing/trace_marker",
    "/sys/kernel/tracing/trace",
    "/sys/kernel/security/lockdown",
    "/sys/fs/bpf",
    "/sys/fs/pstore",
    "/sys/kernel/config",
    "/sys/firmware/efi/efivars",
    "/sys/fs/fuse/connections",
    "/sys/kernel/debug",
    "/sys/kernel/security",
    "/sys/firmware/dmi/tables/DMI",
    "/sys/class/net",
    "/sys/block",
    "/sys/kernel/notes",
    "/sys/devices/system",
]


add(
    "B58",
    "HostLeak",
    "debugfs, tracefs, securityfs, bpffs, efivars, binfmt_misc, any part of /sys",
    "ENOENT",
    succeeded(),
    f"return opened({FILE_SYSTEMS!r}, os.O_RDONLY)",
    group=MACHINE,
)


@attack(
    "B59",
    "HostLeak",
    "physical addresses by /proc/self/pagemap",
    "zeros or EPERM",
    succeeded(),
    group=MACHINE,
    control_needs_root=True,
)
def _():
    page = mmap.mmap(-1, 4096)
    page[:1] = b"x"
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    handle = os.open("/proc/self/pagemap", os.O_RDONLY)
    entry = struct.unpack("Q", os.pread(handle, 8, address // 4096 * 8))[0]
    return [["frame number", "OK" if entry & ((1 << 55) - 1) else "zero"]]


def names_of_host(evidence):
    return evidence.stage.mark in str(evidence.value), (
        "sockets of the host are listed" if evidence.stage.mark in str(evidence.value) else "only its own"
    )


add(
    "B60",
    "HostLeak",
    "sockets of the host in /proc/net",
    "own network namespace",
    host(names_of_host),
    "return [read('/proc/net/' + name, 1 << 20) for name in ('unix', 'tcp', 'netlink')]",
    group=MACHINE,
)


def machine_identity(evidence):
    hit = []
    for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, encoding="utf-8") as file:
                own = file.read().strip()
        except OSError:
            continue
        if own and own in evidence.value:
            hit.append(path)
    return bool(hit), "the host's " + ", ".join(hit) if hit else "none of the host's"


add(
    "B61",
    "HostLeak",
    "identity of the machine: machine-id, boot_id",
    "hidden",
    host(machine_identity),
    "return [read(path).strip() for path in ('/etc/machine-id', '/var/lib/dbus/machine-id', "
    "'/proc/sys/kernel/random/boot_id')]",
    group=MACHINE,
)


def hosts_name(evidence):
    own = os.uname().nodename
    return own in (evidence.value or []), f"host name {own!r}" if own in (evidence.value or []) else str(evidence.value)


add(
    "B62",
    "HostLeak",
    "the host's name",
    "another name",
    host(hosts_name),
    "return [os.uname().nodename, read('/etc/hostname').strip(), read('/proc/sys/kernel/hostname').strip()]",
    group=MACHINE,
)


def hosts_users(evidence):
    with open("/etc/passwd", "rb") as file:
        own = hashlib.sha256(file.read()).hexdigest()
    return own == evidence.value, "the host's /etc/passwd" if own == evidence.value else "another /etc/passwd"


add(
    "B63",
    "HostLeak",
    "the host's users in /etc/passwd",
    "another file",
    host(hosts_users),
    "import hashlib; return hashlib.sha256(read('/etc/passwd', 1 << 20).encode()).hexdigest()",
    group=MACHINE,
)


add(
    "B64",
    "HostLeak",
    "page-cache side channel: mincore and cachestat of files in /usr",
    "EPERM, or nothing told",
    of_host_files(succeeded()),
    "handle = os.open('/usr/bin/env', os.O_RDONLY); "
    "window = ctypes.create_string_buffer(struct.pack('QQ', 0, 1 << 20)); "
    "out = ctypes.create_string_buffer(40); return [['cachestat', word(call('cachestat', handle, window, out, 0))]]",
    group=MACHINE,
    absent=("ENOSYS",),
    control_needs_root=True,
)


def start_programs(_evidence):
    for _ in range(3):
        subprocess.run(["/usr/bin/env", "true"], check=False)
        time.sleep(0.1)


@attack(
    "B65",
    ADVISORY,
    "inotify on /usr/bin shows which programs the host starts",
    "a channel that stays while /usr is shared",
    value(lambda events: events > 0, lambda events: f"{events} bytes of events"),
    hook=start_programs,
    seconds=15,
)
def _():
    watcher = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(watcher, b"/usr/bin/env", 0x20 | 0x1)  # IN_OPEN, IN_ACCESS
    hold(ROW)
    try:
        return len(os.read(watcher, 65536))
    except BlockingIOError:
        return 0


add(
    "B66",
    ADVISORY,
    "load and memory of the whole machine in /proc/loadavg, meminfo, stat",
    "a channel that stays",
    value(lambda got: got, lambda got: "readable: " + ", ".join(got)),
    "return [name for name in ('loadavg', 'meminfo', 'stat', 'vmstat', 'cpuinfo', 'uptime') "
    "if read('/proc/' + name, 64)]",
    group=MACHINE,
)
