"""G: local sockets and IPC of the host."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
from inside import *
from judge import host, leaks, succeeded
from model import add, attack

IPC = "ipc"


add(
    "G01",
    "Escape",
    "connect to a unix socket of the host by its path",
    "ENOENT/EPERM",
    leaks("unix"),
    "return unix_answer(P['unix'])",
    group=IPC,
)
SOCKETS = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/user/0/bus",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/systemd/journal/socket",
    "/dev/log",
    "/run/snapd.socket",
    "/tmp/.X11-unix/X0",
    "/run/user/1000/bus",
    "/run/libvirt/libvirt-sock",
    "/var/run/mysqld/mysqld.sock",
    "/run/acpid.socket",
    "/run/udev/control",
]
add(
    "G03",
    "Escape",
    "docker.sock, containerd.sock, podman.sock, D-Bus, X11 and their like",
    "ENOENT",
    succeeded(),
    f"return [attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path)) for path in {SOCKETS!r}]",
    group=IPC,
    control="may",
    absent=("ENOENT",),
)


@attack("G04", "Lateral", "System V shared memory of the host by its key", "ENOENT", leaks("sysv"), group=IPC)
def _():
    segment = libc.shmget(P["segment_key"], 0, 0)
    if segment < 0:
        return "ENOENT"
    libc.shmat.restype = ctypes.c_void_p
    area = libc.shmat(segment, None, 0o10000)  # SHM_RDONLY
    return ctypes.string_at(area, 24).decode("ascii", "replace")


@attack("G05", "HostLeak", "ssh-agent and gpg-agent socket in the environment", "unset", leaks("agent"), group=IPC)
def _():
    path = os.environ.get("SSH_AUTH_SOCK") or os.environ.get("GPG_AGENT_INFO", "").split(":")[0] or P["agent"]
    return unix_answer(path)


add(
    "G51",
    "Escape",
    "connect to an abstract socket of the host",
    "ECONNREFUSED/EPERM",
    leaks("abstract"),
    "return unix_answer(chr(0) + P['abstract'])",
    group=IPC,
)


def heard_datagram(evidence):
    said = evidence.stage.listeners["datagram"].heard(evidence.extra["nonce"])
    return said, "the host heard it" if said else str(evidence.refused)


add(
    "G52",
    "Exfil",
    "send a datagram to an abstract socket of the host",
    "ECONNREFUSED/EPERM",
    host(heard_datagram),
    "client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
    "client.sendto(P['nonce'].encode(), chr(0) + P['datagram']); time.sleep(0.1)",
    group=IPC,
)


@attack(
    "G53",
    "Escape",
    "a socket of the host by /proc/*/root, /proc/*/cwd and inherited directories",
    "ENOENT/EACCES",
    leaks("unix"),
    group=IPC,
)
def _():
    got = []
    paths = ["/proc/%s/root%s" % (pid, P["unix"]) for pid in ("self", "1", str(os.getppid()))]
    paths += ["/proc/self/fd/%d/host.sock" % number for number in range(3, 40)] + [P["unix"]]
    for path in paths:
        try:
            got.append(unix_answer(path))
        except OSError:
            pass
    return got


add(
    "G54",
    "Lateral",
    "list the System V objects of the host",
    "own IPC namespace",
    host(lambda evidence: (str(evidence.stage.segment_key) in str(evidence.value), str(evidence.value).strip())),
    "return read('/proc/sysvipc/shm') + read('/proc/sysvipc/sem') + read('/proc/sysvipc/msg')",
    group=IPC,
)
