"""F: memory, in all the places where the kernel keeps it for a program."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
from inside import *
from judge import host
from model import add, attack
from rows.resources import ALONE, HELD, LIMIT_MB, grew


def much_memory(evidence):
    return evidence.samples.most_mb > LIMIT_MB, f"at most {evidence.samples.most_mb} MB resident"


@attack(
    "F02",
    "HostDoS",
    "allocate 1.5 GB, in one process and in children",
    "killed at the memory limit",
    host(much_memory),
    watch=True,
    may_die=True,
    **ALONE,
)
def _():
    receivers = []
    for _ in range(3):
        receiver, sender = os.pipe()
        if os.fork() == 0:
            area = mmap.mmap(-1, 512 << 20)
            for place in range(0, 512 << 20, 4096):
                area[place] = 1
            os.write(sender, b"x")
            time.sleep(10)
            os._exit(0)
        os.close(sender)
        receivers.append(receiver)
    for receiver in receivers:
        os.read(receiver, 1)
    time.sleep(0.7)
    os.killpg(0, signal.SIGKILL)


HOLD_MEMORY = """    held = 0
    try:
{body}
    except (OSError, MemoryError):
        pass
    hold(ROW, held)
    os.killpg(0, signal.SIGKILL)"""


def remove_segments():
    for key in SEGMENT_KEYS:
        segment = libc.shmget(key, 0, 0)
        if segment >= 0:
            libc.shmctl(segment, 0, None)


def memory_row(identity, title, body, *names, setup="", judge=None, **options):
    lines = "\n".join("        " + line for line in body.strip().splitlines())
    add(
        identity,
        "HostDoS",
        title,
        "killed or refused at the memory limit",
        judge or grew(*names),
        (setup + HOLD_MEMORY.format(body=lines)).lstrip(),
        **{**HELD, **options},
    )


memory_row(
    "F57",
    "1.2 GB in memory files that nobody maps",
    """
keep = []
for _ in range(12):
    keep.append(os.memfd_create("x"))
    for _ in range(100):
        held += os.write(keep[-1], bytes(1 << 20))
""",
    "shared",
)


# The host removes the segments of a sandbox without an IPC namespace of its own.
SEGMENT_KEYS = range(0x53410000, 0x53410000 + 12)


memory_row(
    "F58",
    "1.2 GB in System V segments that are detached again",
    f"""
libc.shmat.restype = ctypes.c_void_p
for key in range({SEGMENT_KEYS.start}, {SEGMENT_KEYS.stop}):
    segment = libc.shmget(key, 100 << 20, 0o1666)
    area = libc.shmat(segment, None, 0)
    if segment < 0 or area in (None, ctypes.c_void_p(-1).value):
        break
    ctypes.memset(area, 1, 100 << 20)
    held += 100 << 20
    libc.shmdt(ctypes.c_void_p(area))
""",
    "shared",
    judge=lambda evidence: (remove_segments(), grew("shared")(evidence))[1],
)


# Each process may open about 1,000 files and each socket hold about 200 KB, whatever it asks for: so many are needed.
SOCKET_BODY = """
workers, deadline = [], time.monotonic() + 6
for _ in range({workers}):
    receiver, sender = os.pipe()
    if os.fork() == 0:
        held = 0
        keep = []
        try:
            for _ in range({pairs}):
                one, other = {pair}
                keep.append((one, other))
                one.setblocking(False)
                for option in (7, 8):
                    for end in (one, other):
                        end.setsockopt(1, option, 4 << 20)
                try:
                    before = held
                    while held < {each} << 20 and held - before < {pair_kb} << 10:
                        held += one.send(bytes({chunk}))
                except OSError:
                    pass
                if held >= {each} << 20 or time.monotonic() > deadline:
                    break
        except OSError:
            pass
        os.write(sender, struct.pack("Q", held))
        time.sleep(10)
        os._exit(0)
    os.close(sender)
    workers.append(receiver)
for receiver in workers:
    held += struct.unpack("Q", (os.read(receiver, 8) or bytes(8)).ljust(8, bytes(1)))[0]
"""


SETUP = """    def tcp_pair():
        server = socket.create_server(("127.0.0.1", 0))
        one = socket.create_connection(server.getsockname())
        other = server.accept()[0]
        server.close()
        return one, other

    def udp_pair():
        one, other = socket.socket(2, 2), socket.socket(2, 2)
        other.bind(("127.0.0.1", 0))
        one.connect(other.getsockname())
        return one, other
"""


memory_row(
    "F59",
    "900 MB in TCP buffers of its own loopback, which the whole host shares",
    SOCKET_BODY.format(workers=48, pairs=300, pair="tcp_pair()", each=20, chunk=65536, pair_kb=8000),
    "tcp",
    setup=SETUP,
)


memory_row(
    "F64",
    "the least that TCP gives a socket beyond every limit, in 40,000 sockets",
    """
deadline = time.monotonic() + 10
for _ in range(100):
    if os.fork() == 0:
        keep, sent = [], 0
        try:
            while time.monotonic() < deadline and sent < 8 << 20:
                keep.append(tcp_pair())
                for end in keep[-1]:
                    end.setblocking(False)
                    try:
                        while sent < 8 << 20:
                            sent += end.send(bytes(65536))
                    except BlockingIOError:
                        pass
        except OSError:
            pass
        time.sleep(max(0, deadline + 4 - time.monotonic()))
        os._exit(0)
time.sleep(10.5)
""",
    "tcp",
    setup=SETUP,
    judge=grew("tcp", limit=512),
)


memory_row(
    "F60",
    "900 MB in unix sockets",
    SOCKET_BODY.format(
        workers=48,
        pairs=450,
        pair="socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)",
        each=20,
        chunk=32768,
        pair_kb=8000,
    ),
    "taken",
)


memory_row(
    "F61",
    "900 MB in UDP buffers",
    SOCKET_BODY.format(workers=48, pairs=450, pair="udp_pair()", each=20, chunk=16384, pair_kb=160),
    "udp",
    setup=SETUP,
)


memory_row(
    "F62",
    "900 MB in pipes",
    """
workers = []
for _ in range(8):
    receiver, sender = os.pipe()
    if os.fork() == 0:
        held = 0
        try:
            for _ in range(450):
                one, other = os.pipe()
                os.set_blocking(other, False)
                attempt("size", lambda: fcntl.fcntl(other, 1031, 1 << 20))
                try:
                    while held < 120 << 20:
                        held += os.write(other, bytes(65536))
                except BlockingIOError:
                    pass
        except OSError:
            pass
        os.write(sender, struct.pack("Q", held))
        time.sleep(10)
        os._exit(0)
    os.close(sender)
    workers.append(receiver)
for receiver in workers:
    held += struct.unpack("Q", (os.read(receiver, 8) or bytes(8)).ljust(8, bytes(1)))[0]
""",
    "taken",
    control="may",
)


def locked_memory(evidence):
    got = evidence.value or 0
    return got > 64, f"{got} MB locked"


@attack(
    "F63",
    "HostDoS",
    "lock memory that can never be swapped: mlockall, 128 MB",
    "ENOMEM/EPERM at RLIMIT_MEMLOCK",
    host(locked_memory),
    group="limits",
    control_needs_root=True,
)
def _():
    area = mmap.mmap(-1, 128 << 20)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    if libc.mlock(ctypes.c_void_p(address), 128 << 20) != 0:
        return 0
    return (
        int(next(line for line in read("/proc/self/status").splitlines() if line.startswith("VmLck")).split()[1]) >> 10
    )
