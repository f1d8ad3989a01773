"""B: /proc, /sys, the environment, capabilities."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
from inside import *
from judge import host, leaks, succeeded
from model import add, attack

PROC = "proc"


@attack(
    "B01",
    "HostLeak",
    "the caller's secrets in any visible /proc/*/environ",
    "only own processes; clean environment",
    leaks("environment"),
    group=PROC,
)
def _():
    return [read("/proc/%s/environ" % pid, 1 << 20) for pid in os.listdir("/proc") if pid.isdigit() or pid == "self"]


add(
    "B02",
    "HostLeak",
    "the caller's secrets in the environment",
    "scrubbed to an allow list",
    leaks("environment"),
    "return dict(os.environ)",
    group=PROC,
)


@attack(
    "B04",
    "Escape",
    "write /proc/sys/kernel/core_pattern (its present value)",
    "EROFS/EACCES",
    succeeded(),
    group=PROC,
    control_needs_root=True,
)
def _():
    path = "/proc/sys/kernel/core_pattern"
    present = read(path) or "core\n"
    handle = os.open(path, os.O_WRONLY)
    return [attempt(path, lambda: os.write(handle, present.encode()))]


@attack(
    "B05",
    "HostDoS",
    "write other knobs of /proc/sys (their present values)",
    "EROFS/EACCES/ENOENT",
    succeeded(),
    group=PROC,
    control_needs_root=True,
)
def _():
    got = []
    for name in (
        "kernel/panic",
        "kernel/sysrq",
        "kernel/modprobe",
        "kernel/printk",
        "kernel/randomize_va_space",
        "kernel/kptr_restrict",
        "kernel/perf_event_paranoid",
        "kernel/threads-max",
        "vm/overcommit_memory",
        "vm/swappiness",
        "vm/panic_on_oom",
        "vm/mmap_min_addr",
        "vm/nr_hugepages",
        "fs/file-max",
        "fs/suid_dumpable",
        "fs/protected_symlinks",
        "fs/inotify/max_user_instances",
        "kernel/core_uses_pid",
        "kernel/hotplug",
        "kernel/poweroff_cmd",
        "dev/tty/legacy_tiocsti",
    ):
        present = read("/proc/sys/" + name)

        def put():
            handle = os.open("/proc/sys/" + name, os.O_WRONLY)
            os.write(handle, present.encode())

        if present:
            got.append(attempt(name, put))
    return got


SYSFS = [
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/release_agent",
    "/sys/fs/cgroup/memory/release_agent",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/devices/devices.allow",
    "/sys/fs/cgroup/unified/cgroup.procs",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/power/state",
    "/sys/kernel/profiling",
    "/sys/module/kernel/parameters/panic",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/transparent_hugepage/enabled",
]
add(
    "B11",
    "Escape",
    "sysfs open for writing: uevent_helper, cgroups, release_agent, power",
    "ENOENT/EROFS",
    succeeded(),
    f"return opened({SYSFS!r}, os.O_WRONLY)",
    group=PROC,
    control_needs_root=True,
)


@attack(
    "B12",
    "HostDoS",
    "lower one's own oom_score_adj",
    "EACCES",
    succeeded(),
    group=PROC,
    control="needs CAP_SYS_RESOURCE, which root may lack",
)
def _():
    present = int(read("/proc/self/oom_score_adj"))

    def put(score):
        handle = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(handle, str(score).encode())

    return [attempt(str(score), lambda: put(score)) for score in (-1000, -1, present - 1)]


NOT_ANOTHER = "pid 1 is the program itself"


def of_another(judge):
    """Only where pid 1 is not the payload's own program."""

    def wrapped(evidence):
        if isinstance(evidence.value, list) and evidence.value[:1] == [["pid 1 is ours", "yes"]]:
            return None, NOT_ANOTHER
        return judge(evidence)

    return wrapped


# Docker starts the program itself as pid 1: what it does to pid 1 it does to itself.
OURS = "ours = [['pid 1 is ours', 'yes']] if os.getppid() == 1 else []; "
add(
    "B13",
    "InternalEsc",
    "open /proc/1/mem for writing",
    "EACCES/ENOENT",
    of_another(succeeded()),
    OURS + "return ours + opened(['/proc/1/mem'], os.O_RDWR)",
    group=PROC,
    control="may",
    control_needs_root=True,
)


def host_path(evidence):
    text = str(evidence.value)
    lines = [
        line
        for line in text.replace("\\n", "\n").splitlines()
        if evidence.stage.mark in line or "/var/lib/docker" in line or "upperdir=/" in line
    ]
    return bool(lines), lines[0] if lines else "no path of the host"


add(
    "B14",
    "HostLeak",
    "paths of the host in mountinfo, mounts and mountstats",
    "no host path",
    host(host_path),
    "return [read('/proc/self/' + name, 1 << 20) for name in ('mountinfo', 'mounts', 'mountstats')]",
    group=PROC,
    control="the host's own directories are no mounts",
)


@attack(
    "B15",
    "InternalEsc",
    "capability sets that are not empty",
    "all five sets 0",
    succeeded(),
    group=PROC,
    control_needs_root=True,
)
def _():
    lines = [line.split() for line in read("/proc/self/status").splitlines() if line.startswith("Cap")]
    return [[name + value, "OK" if int(value, 16) else "empty"] for name, value in lines]


add(
    "B51",
    "HostDoS",
    "/proc/sysrq-trigger open for writing (nothing is written)",
    "ENOENT/EACCES/EROFS",
    succeeded(),
    "return [row for row in opened(['/proc/sysrq-trigger'], os.O_WRONLY) if not os.path.exists('/proc/sysrq-trigger') "
    "or not os.path.samefile('/proc/sysrq-trigger', '/dev/null')]",
    group=PROC,
    control="may",
)


@attack(
    "B53",
    "InternalEsc",
    "look into pid 1: environ, maps, fd, cwd, root, exe, stack, auxv",
    "EACCES/ENOENT",
    of_another(succeeded()),
    group=PROC,
    control_needs_root=True,
)
def _():
    got = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    for name in ("environ", "maps", "auxv", "stack", "syscall", "pagemap", "smaps", "io", "personality"):
        got.append([name, "OK" if read("/proc/1/" + name, 64) else "nothing"])
    for name in ("fd", "fdinfo", "map_files", "root", "cwd", "ns"):
        got.append(attempt(name, lambda: os.listdir("/proc/1/" + name)))
    for name in ("exe", "root", "cwd", "ns/mnt"):
        got.append(attempt("link " + name, lambda: os.readlink("/proc/1/" + name)))
    return got


@attack(
    "B54",
    "HostLeak",
    "paths of the host in cgroup, descriptors, auxv, command lines of others",
    "no host path",
    host(host_path),
    group=PROC,
    control="the payload itself is told the paths",
)
def _():
    got = [read("/proc/self/" + name) for name in ("cgroup", "auxv", "cpuset", "maps")]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) not in (os.getpid(), os.getppid()):
            got += [read("/proc/%s/%s" % (pid, name)) for name in ("cgroup", "environ")]
            got += [read("/proc/%s/cmdline" % pid).split("import")[0]] if P["family"] == "native" else []
        for number in range(16):
            try:
                got.append(os.readlink("/proc/%s/fd/%d" % (pid, number)))
            except OSError:
                pass
    return got


add(
    "B55",
    "InternalEsc",
    "no_new_privs is off, or no filter is on",
    "NoNewPrivs 1, Seccomp 2",
    succeeded(),
    "text = read('/proc/self/status'); return [['NoNewPrivs', 'set' if 'NoNewPrivs:\\t1' in text else 'OK'], "
    "['Seccomp', 'set' if 'Seccomp:\\t2' in text else 'OK']]",
    group=PROC,
)


@attack(
    "B56",
    "Escape",
    "rewrite one's own uid_map, gid_map, setgroups, projid_map",
    "EPERM/EACCES",
    succeeded(),
    group=PROC,
    control="the host's own map cannot be written either",
)
def _():
    got = []
    for name, text in (("setgroups", "allow"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1"), ("projid_map", "0 0 1")):
        for pid in ("self", "1"):

            def put():
                handle = os.open("/proc/%s/%s" % (pid, name), os.O_WRONLY)
                os.write(handle, text.encode())

            got.append(attempt(pid + "/" + name, put))
    return got


@attack(
    "B57",
    "InternalEsc",
    "open knobs of pid 1 for writing: oom_score_adj, timerslack, comm, autogroup, attr",
    "EACCES/ENOENT",
    of_another(succeeded()),
    group=PROC,
    control_needs_root=True,
)
def _():
    ours = [["pid 1 is ours", "yes"]] if os.getppid() == 1 else []
    return ours + opened(
        [
            "/proc/1/" + name
            for name in (
                "oom_score_adj",
                "timerslack_ns",
                "comm",
                "autogroup",
                "coredump_filter",
                "clear_refs",
                "attr/current",
                "attr/exec",
                "loginuid",
                "make-it-fail",
                "sched",
                "uid_map",
                "timens_offsets",
            )
        ],
        os.O_WRONLY,
    )
