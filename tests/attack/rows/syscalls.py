"""E: system calls that are merely reachable."""

# pylint: disable=wildcard-import,unused-wildcard-import,function-redefined
import os

from inside import *
from judge import either, host, reached, value
from model import add, attack

SYSCALLS = "syscalls"
ATTRIBUTES = "ctypes.create_string_buffer(struct.pack('IIQQQQQ', 1, 112, 1, 0, 0, 0, 0x20) + bytes(64))"
PROGRAM = (
    "ctypes.create_string_buffer(struct.pack('IIPP', 1, 2, ctypes.addressof(CODE), ctypes.addressof(LICENSE)) + "
    "bytes(100))"
)


def surface(identity, title, table, refusals=("EPERM", "ENOSYS"), first="", **options):
    """Calls of [(name, arguments...)]: reachable when one is answered by anything but a refusal."""
    source = (first + "; " if first else "") + f"return calls({table})"
    add(identity, "Surface", title, "/".join(refusals), reached(*refusals), source, **{"group": SYSCALLS, **options})


surface("E01", "io_uring_setup", "[('io_uring_setup', 1, ctypes.create_string_buffer(120))]")
surface(
    "E02",
    "bpf(BPF_PROG_LOAD)",
    f"[('bpf', 5, {PROGRAM}, 120)]",
    first="CODE = ctypes.create_string_buffer(bytes.fromhex('b7000000000000009500000000000000')); "
    "LICENSE = ctypes.create_string_buffer(b'GPL')",
    control_needs_root=True,
)
surface(
    "E03",
    "add_key and keyctl on the user keyring",
    "[('add_key', b'user', b'skerry-attack', b'x', 1, -4), " "('keyctl', 0, -4, 0), ('keyctl', 6, -4, None, 0)]",
)
surface("E04", "perf_event_open", f"[('perf_event_open', {ATTRIBUTES}, 0, -1, -1, 0)]", ("EPERM", "ENOSYS", "EACCES"))
surface("E05", "userfaultfd", "[('userfaultfd', 0), ('userfaultfd', 1)]")
surface(
    "E06",
    "kexec_load",
    "[('kexec_load', 0, 0, None, 0x7FFF), ('kexec_file_load', -1, -1, 0, None, 0)]",
    control_needs_root=True,
)
surface(
    "E07",
    "init_module",
    "[('init_module', None, 0, b''), ('delete_module', b'no-such-module', 0)]",
    control_needs_root=True,
)
surface("E08", "finit_module", "[('finit_module', -1, b'', 0)]", control_needs_root=True)
surface(
    "E09",
    "name_to_handle_at",
    "[('name_to_handle_at', -100, b'/', BUFFER, BUFFER, 0)]",
    first="BUFFER = ctypes.create_string_buffer(struct.pack('II', 128, 0) + bytes(200))",
)
surface("E10", "fanotify_init", "[('fanotify_init', 0, 0), ('fanotify_init', 0x200, 0)]")
surface(
    "E11",
    "quotactl",
    "[('quotactl', 0x80000700, b'/dev/vda', 0, BUFFER), ('quotactl_fd', 0, 0x80000700, 0, BUFFER)]",
    first="BUFFER = ctypes.create_string_buffer(256)",
    control_needs_root=True,
)
surface("E12", "swapon and swapoff", "[('swapon', b'/nowhere', 0), ('swapoff', b'/nowhere')]", control_needs_root=True)
surface("E13", "iopl and ioperm", "[('iopl', 0), ('ioperm', 0x378, 1, 0)]")
surface("E14", "acct", "[('acct', b'/nowhere/at/all')]", control_needs_root=True)
surface("E15", "modify_ldt", "[('modify_ldt', 0, ctypes.create_string_buffer(64), 64)]")
surface(
    "E16",
    "mbind, move_pages, migrate_pages and their kin",
    "[('mbind', 0, 4096, 0, None, 0, 0), ('move_pages', 0, 0, None, None, None, 0), "
    "('migrate_pages', 0, 0, None, None), ('set_mempolicy', 0, None, 0), ('get_mempolicy', None, None, 0, None, 0), "
    "('set_mempolicy_home_node', 0, 0, 0, 0)]",
)
surface("E17", "kcmp", "[('kcmp', os.getpid(), os.getpid(), 2, 0, 0)]")
surface("E18", "memfd_secret", "[('memfd_secret', 0)]")


def cpu_code(identity, title, expected, code, **options):
    """Machine code that asks for a system call in a foreign way; E24 and its kin."""
    add(
        identity,
        "Surface",
        title,
        expected,
        value(
            lambda got: got[0] is not None and isinstance(got[0], int) and got[0] > 0,
            lambda got: f"answered {got[0]}, signal {got[1]}",
        ),
        f"return run_machine_code(bytes.fromhex({code!r})) if X86 else [None, 31]",
        group=SYSCALLS,
        absent=(),
        control="may" if os.uname().machine != "x86_64" else True,
        **options,
    )


# mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
cpu_code("E24", "32-bit system calls by int 0x80", "killed / ENOSYS", "b814000000cd80c3")


@attack(
    "E25", "Surface", "x32 system call numbers", "killed / ENOSYS", reached("EPERM", "ENOSYS", "killed"), group=SYSCALLS
)
def _():
    got = []
    for number in (0x40000000 | 39, 0x40000000 | 102, 0x40000000 | 520, 0x40000000):
        result, died = in_child(lambda: word(call(number)) if X86 else "ENOSYS")
        got.append([hex(number), "killed" if died else result])
    return got


@attack(
    "E27",
    "Surface",
    "seccomp notification listener (to play the supervisor)",
    "EPERM",
    reached("EPERM", "ENOSYS", "EACCES"),
    group=SYSCALLS,
)
def _():
    libc.prctl(38, 1, 0, 0, 0)
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
    return [
        ["NEW_LISTENER", word(call("seccomp", 1, 8, program))],
        ["with WAIT_KILLABLE", word(call("seccomp", 1, 0x28, program))],
    ]


surface(
    "E28",
    "setns",
    "[('setns', OWN, 0), ('setns', -1, 0)]",
    first="OWN = call(257 if X86 else 56, -100, b'/proc/self/ns/uts', os.O_RDONLY)",
)
surface(
    "E29",
    "statmount, listmount, lsm_get_self_attr, lsm_list_modules",
    "[('statmount', REQUEST, BUFFER, 256, 0), ('listmount', REQUEST, BUFFER, 8, 0), "
    "('lsm_get_self_attr', 100, BUFFER, SIZE, 0), ('lsm_list_modules', BUFFER, SIZE, 0), "
    "('lsm_set_self_attr', 100, BUFFER, 8, 0)]",
    first="REQUEST = ctypes.create_string_buffer(struct.pack('IIQQQ', 32, 0, (1 << 64) - 1, 2, 0)); "
    "BUFFER = ctypes.create_string_buffer(4096); SIZE = ctypes.create_string_buffer(struct.pack('I', 4096))",
)


surface(
    "E52",
    "io_uring_enter and io_uring_register, and a setup with SQPOLL",
    "[('io_uring_enter', -1, 0, 0, 0, None, 0), ('io_uring_register', -1, 0, None, 0), ('io_uring_setup', 1, SQPOLL)]",
    first="SQPOLL = ctypes.create_string_buffer(struct.pack('III', 0, 0, 2) + bytes(108))",
)
surface(
    "E53",
    "bpf: maps, ids of the host's programs, BTF",
    "[('bpf', 0, MAP, 72), ('bpf', 11, MAP, 72), ('bpf', 12, MAP, 72), ('bpf', 22, MAP, 72)]",
    first="MAP = ctypes.create_string_buffer(struct.pack('IIII', 2, 4, 4, 1) + bytes(80))",
)
surface(
    "E54",
    "keyctl: join a session keyring, persistent keyring, request_key",
    "[('keyctl', 1, b'skerry-attack', 0), ('keyctl', 22, os.getuid(), -3), ('request_key', b'user', b'x', None, -3)]",
)
add(
    "E55",
    "Surface",
    "userfaultfd by /dev/userfaultfd",
    "ENOENT",
    reached("ENOENT", "EACCES", "EPERM"),
    "return opened(['/dev/userfaultfd'], os.O_RDWR)",
    group=SYSCALLS,
    control="may",
)


@attack(
    "E56",
    "Surface",
    "huge pages, of which the whole host has one pool: mmap, shmget, memfd_create",
    "EPERM/EINVAL",
    reached("EPERM", "ENOSYS", "EINVAL"),
    group=SYSCALLS,
)
def _():
    libc.mmap.restype = ctypes.c_void_p
    ctypes.set_errno(0)
    area = libc.mmap(None, 2 << 20, 3, 0x40022, -1, 0)
    failed = area == ctypes.c_void_p(-1).value
    return [
        ["mmap", word(-ctypes.get_errno() if failed else 0)],
        ["shmget", word(call(29 if X86 else 194, 0, 2 << 20, 0o4000 | 0o1600))],
        ["memfd", word(call("memfd_create", b"x", 4))],
    ]


surface("E57", "reboot (with wrong magic numbers)", "[('reboot', 1, 2, 3, None)]", control_needs_root=True)
surface(
    "E58",
    "sethostname and setdomainname (present values)",
    "[('sethostname', NAME, len(NAME)), ('setdomainname', b'x', 65)]",
    first="NAME = os.uname().nodename.encode()",
    control_needs_root=True,
)
surface(
    "E59",
    "the clock: settimeofday, clock_settime, adjtimex, clock_adjtime (nothing is changed)",
    "[('settimeofday', None, None), ('clock_settime', 0, BAD), ('adjtimex', BAD), ('clock_adjtime', 0, BAD)]",
    first="BAD = ctypes.create_string_buffer(struct.pack('QQ', 0, 1 << 62) + bytes(240))",
)
surface(
    "E60",
    "calls of the past: uselib, ustat, sysfs, lookup_dcookie, vhangup",
    "[('uselib', b'/nowhere'), ('ustat', 0, BUFFER), ('sysfs', 3, 0, 0), ('lookup_dcookie', 0, BUFFER, 64)]",
    first="BUFFER = ctypes.create_string_buffer(64)",
)


@attack(
    "E61",
    "Surface",
    "numbers beyond the table, newer than the sandbox",
    "ENOSYS",
    reached("EPERM", "ENOSYS", "killed"),
    group=SYSCALLS,
)
def _():
    got = []
    for number in list(range(468, 520)) + list(range(548, 600)) + [1023, 1024, 4095, 0x3FFFFFFF]:
        result = call(number, -1, None, None, 0, 0, 0)
        if result != -errno.ENOSYS:
            got.append([str(number), word(result)])
    return got or [["all", "ENOSYS"]]


surface(
    "E62",
    "personality: READ_IMPLIES_EXEC, ADDR_NO_RANDOMIZE, MMAP_PAGE_ZERO, 32 bit",
    "[('personality', 0x0400000), ('personality', 0x0040000), ('personality', 0x0100000), ('personality', 8)]",
)


@attack(
    "E63",
    "Surface",
    "KSM, whose merging tells what others have in memory: prctl and madvise",
    "EPERM/EINVAL",
    reached("EPERM", "ENOSYS", "EINVAL"),
    group=SYSCALLS,
)
def _():
    page = mmap.mmap(-1, 8192)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.set_errno(0)
    advised = libc.madvise(ctypes.c_void_p(address), 4096, 12)
    return [
        ["prctl", word(call("prctl", 67, 1, 0, 0, 0))],
        ["madvise", word(0 if advised == 0 else -ctypes.get_errno())],
    ]


# lea rax,[rdi+32]; sub rsp,8; mov [rsp],eax; mov dword [rsp+4],0x23; retf. There, in 32-bit code: exit(42) by int 0x80.
add(
    "E64",
    "Surface",
    "32-bit code segment by a far return, then int 0x80",
    "killed",
    value(lambda got: got == [None, 0], lambda got: "the call was made" if got == [None, 0] else f"signal {got[1]}"),
    "code = bytes.fromhex('488d47204883ec08890424c744240423000000cb'); "
    "inner = bytes.fromhex('b801000000bb2a000000cd80'); "
    "return run_machine_code(code, bytes(32) + inner) if X86 else [None, 31]",
    group=SYSCALLS,
    control="may",
)
# mov ebx,1; mov ecx,edi; mov edx,length; mov ebp,edi; add ebp,0x800; mov eax,4 (write); sysenter; ret. It never returns
# here, so what it wrote is the proof.
add(
    "E65",
    "Surface",
    "sysenter from 64-bit code",
    "killed or an illegal instruction",
    either(
        value(lambda got: False, lambda got: f"signal {got[1]}"),
        host(lambda evidence: ("entered-" + evidence.extra["nonce"][::-1] in evidence.text, "its output was seen")),
    ),
    "text = ('entered-' + P['nonce'][::-1]).encode(); "
    "code = bytes.fromhex('bb0100000089f9ba%02x00000089fd81c500080000b8040000000f34c3' % len(text)); "
    "return run_machine_code(code, text) if X86 else [None, 31]",
    group=SYSCALLS,
    control="may",
)


@attack("E66", "Surface", "a program from a memfd has the same fence", "unshare EPERM", reached(), group=SYSCALLS)
def _():
    handle = os.memfd_create("program", 0)
    with open("/usr/bin/python3", "rb") as file:
        os.write(handle, file.read())
    code = "import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.unshare(0x10000000) and ctypes.get_errno())"
    done = subprocess.run(
        ["python3", "-c", code],
        executable="/proc/self/fd/%d" % handle,
        pass_fds=(handle,),
        capture_output=True,
        text=True,
        timeout=4,
        check=False,
    )
    return [["unshare after exec", word(-int(done.stdout.strip() or errno.EPERM))]]


surface(
    "E67",
    "Linux AIO, whose contexts the whole host shares (fs.aio-max-nr)",
    "[('io_setup', 1, ctypes.create_string_buffer(8))]",
)
add(
    "E68",
    "Surface",
    "core scheduling and speculation controls by prctl",
    "EPERM/EINVAL/ENODEV",
    reached("EPERM", "EINVAL", "ENODEV", "ENOSYS"),
    "return calls([('prctl', 62, 1, 0, 0, 0)])",
    group=SYSCALLS,
    control="may",
)
add(
    "E71",
    "Surface",
    "sync of the whole host, again and again",
    "ENOSYS/EPERM",
    reached("EPERM", "ENOSYS"),
    "return [['syncfs', word(call('syncfs', os.open('/usr', os.O_RDONLY)))]]",
    group=SYSCALLS,
)


@attack(
    "E72",
    "Surface",
    "make a file immutable by FS_IOC_SETFLAGS",
    "EPERM/ENOTTY/EROFS",
    reached("EPERM", "ENOTTY", "EROFS", "EACCES", "EOPNOTSUPP", "EINVAL"),
    group=SYSCALLS,
    control_needs_root=True,
)
def _():
    write("flags", "")
    handle = os.open("flags", os.O_RDONLY)
    got = [["immutable", ioctl(handle, 0x40086602, ctypes.create_string_buffer(struct.pack("l", 0x10)))]]
    ioctl(handle, 0x40086602, ctypes.create_string_buffer(8))
    return got


add(
    "E73",
    "Surface",
    "ptrace of one's own child",
    "EPERM",
    reached(),
    "return [['TRACEME', in_child(lambda: word(call('ptrace', 0, 0, 0, 0)))[0]]]",
    group=SYSCALLS,
)
