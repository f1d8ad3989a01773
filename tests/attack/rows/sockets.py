"""E: kinds of sockets."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
from inside import *
from judge import reached
from model import add, attack

SOCKETS = "sockets"
REFUSALS = ("EPERM", "EACCES", "EAFNOSUPPORT", "ENOSYS")
UNKNOWN = ("EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EINVAL")


def kinds(identity, title, table, refusals=REFUSALS, **options):
    """socket(family, type, protocol) of each; reachable when one is answered by anything but a refusal."""
    add(
        identity,
        "Surface",
        title,
        "/".join(refusals),
        reached(*refusals),
        "return [[name, attempt(name, lambda: socket.socket(*kind).close())[1]] for name, kind in "
        + repr(table)
        + ".items()]",
        group=SOCKETS,
        **options,
    )


kinds(
    "E20",
    "AF_VSOCK, which no network namespace isolates",
    {"stream": (40, 1, 0), "datagram": (40, 2, 0), "seqpacket": (40, 5, 0)},
    REFUSALS + ("ENODEV", "ESOCKTNOSUPPORT"),
)
kinds("E21", "AF_ALG", {"alg": (38, 5, 0)})
NETLINK = {
    "usersock": 2,
    "sock_diag": 4,
    "nflog": 5,
    "xfrm": 6,
    "selinux": 7,
    "iscsi": 8,
    "audit": 9,
    "fib": 10,
    "connector": 11,
    "netfilter": 12,
    "ip6_fw": 13,
    "dnrt": 14,
    "uevent": 15,
    "generic": 16,
    "scsi": 18,
    "ecrypt": 19,
    "rdma": 20,
    "crypto": 21,
    "smc": 22,
}
kinds(
    "E22",
    "netlink beyond routes: nftables, xfrm, audit, generic, uevent, …",
    {name: (16, 3, number) for name, number in NETLINK.items()},
    REFUSALS + UNKNOWN,
)
FAMILIES = [number for number in range(0, 46) if number not in (1, 2, 10, 16)]
kinds(
    "E23",
    "AF_PACKET, raw sockets and every exotic family",
    {
        **{f"family {family} type {kind}": (family, kind, 0) for family in FAMILIES for kind in (1, 2, 3, 5)},
        "raw icmp": (2, 3, 1),
        "raw": (2, 3, 255),
        "packet": (17, 3, 3),
        "packet datagram": (17, 2, 3),
        "raw6": (10, 3, 58),
    },
    REFUSALS + UNKNOWN + ("ENODEV",),
)


@attack(
    "E81",
    "Surface",
    "socketpair of other families (TIPC, netlink, internet)",
    "EPERM/EAFNOSUPPORT",
    reached(*REFUSALS, "EOPNOTSUPP", *UNKNOWN),
    group=SOCKETS,
    control="only unix and TIPC have pairs",
)
def _():
    got = []
    for family in (2, 10, 16, 17, 30, 31, 38, 40):
        for kind in (1, 2, 5):
            pair = (ctypes.c_int * 2)()
            ctypes.set_errno(0)
            result = libc.socketpair(family, kind, 0, pair)
            got.append(["family %d" % family, word(result if result >= 0 else -ctypes.get_errno())])
    return got


kinds(
    "E82",
    "other protocols of the internet: SCTP, DCCP, UDP-Lite, MPTCP, SMC, L2TP, ping",
    {
        "sctp": (2, 1, 132),
        "sctp-packet": (2, 5, 132),
        "dccp": (2, 6, 33),
        "udplite": (2, 2, 136),
        "mptcp": (2, 1, 262),
        "smc": (43, 1, 0),
        "l2tp": (2, 2, 115),
        "ping": (2, 2, 1),
        "ping6": (10, 2, 58),
        "mptcp6": (10, 1, 262),
    },
    REFUSALS + UNKNOWN,
)


def options(identity, title, table, refusals, **settings):
    """setsockopt of (kind of socket, level, name, value) each."""
    add(
        identity,
        "Surface",
        title,
        "/".join(refusals),
        reached(*refusals),
        "return [[name, attempt(name, lambda: socket.socket(*kind).setsockopt(level, number, value))[1]] "
        "for name, (kind, level, number, value) in " + repr(table) + ".items()]",
        group=SOCKETS,
        **settings,
    )


TCP, UDP = (2, 1, 0), (2, 2, 0)
options(
    "E83",
    "privileged socket options: SO_*BUFFORCE, SO_MARK, IP_TRANSPARENT, SO_BINDTODEVICE, SO_PRIORITY",
    {
        "SO_SNDBUFFORCE": (UDP, 1, 32, 1 << 20),
        "SO_RCVBUFFORCE": (UDP, 1, 33, 1 << 20),
        "SO_MARK": (UDP, 1, 36, 7),
        "IP_TRANSPARENT": (UDP, 0, 19, 1),
        "SO_PRIORITY 7": (UDP, 1, 12, 7),
        "SO_DEBUG": (TCP, 1, 1, 1),
    },
    ("EPERM", "EACCES", "ENOPROTOOPT"),
    control_needs_root=True,
)
options(
    "E84",
    "TCP_ULP: kernel TLS and its kin (CVE-2023-0461 class)",
    {"tls": (TCP, 6, 31, b"tls"), "espintcp": (TCP, 6, 31, b"espintcp"), "mptcp": (TCP, 6, 31, b"mptcp")},
    ("EPERM", "EACCES"),
)
options(
    "E85",
    "tables of netfilter by setsockopt: IPT_SO_SET_REPLACE, ARPT, EBT",
    {
        "iptables": (UDP, 0, 64, bytes(96)),
        "arptables": (UDP, 0, 96, bytes(96)),
        "ip6tables": ((10, 2, 0), 41, 64, bytes(96)),
        "ebtables": (UDP, 0, 128, bytes(120)),
    },
    ("EPERM", "EACCES", "ENOPROTOOPT"),
    control="may",
    control_needs_root=True,
)


@attack(
    "E86",
    "Surface",
    "out-of-band data on unix sockets (CVE-2025-38236 class)",
    "EPERM/EOPNOTSUPP",
    reached("EPERM", "EOPNOTSUPP", "ENOSYS"),
    group=SOCKETS,
    absent=("EOPNOTSUPP",),
)
def _():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return [attempt("MSG_OOB", lambda: one.send(b"x", socket.MSG_OOB))]


add(
    "E87",
    "Surface",
    "zero copy and its pinned pages: MSG_ZEROCOPY, TCP_ZEROCOPY_RECEIVE, SO_DEVMEM",
    "EPERM/ENOPROTOOPT",
    reached("EPERM", "ENOPROTOOPT", "EACCES"),
    "return [attempt('SO_ZEROCOPY', lambda: socket.socket(2, 1).setsockopt(1, 60, 1))]",
    group=SOCKETS,
)
add(
    "E88",
    "Surface",
    "a BPF program on a socket: SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_EBPF",
    "EPERM/EBADF",
    reached("EPERM", "EBADF", "EINVAL", "EACCES"),
    "return [attempt(number, lambda: socket.socket(2, 2).setsockopt(1, number, 0)) for number in (50, 52)]",
    group=SOCKETS,
    control="needs a loaded program",
)
