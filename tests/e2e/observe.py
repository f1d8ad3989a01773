"""What the host sees of the sandboxes that this process started, by however many steps."""
import ctypes
import glob
import os

import harness

LIMIT_FILES = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes", "memory.max",
               "memory.swap.max", "pids.max", "cpu.cfs_quota_us", "cpu.max")


def read_words(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split()
    except OSError:
        return None


def leave_the_mounts_of_others():
    """Where we may: what other programs mount meanwhile is then not seen, and nothing of ours is missed."""
    libc = ctypes.CDLL(None)
    if os.geteuid() == 0 and libc.unshare(0x20000) == 0:  # CLONE_NEWNS
        libc.mount(b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE


descendants = harness.descendants


def reap_orphans():
    """They come to us, who are a subreaper."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def namespaces_of(pids):
    found = set()
    for path in (path for pid in pids for path in glob.glob(f"/proc/{pid}/ns/*")):
        try:
            found.add(os.readlink(path))
        except OSError:
            pass
    return found


def loop_devices():
    files = map(read_words, glob.glob("/sys/block/loop*/loop/backing_file"))
    return {f"loop device of {' '.join(words)}" for words in files if words}


def traces_of(pids, before):
    """New traces. Cgroups and directories have the pid of their owner in their names; those of others are not meant."""
    names = set(map(str, pids))
    return {trace for trace in harness.traces() - before
            if not trace.startswith(("cgroup", "directory")) or names & set(trace.split("-"))}


def limits_of_our_cgroups():
    """The limits of the groups that a process of ours is in, by the file that holds them."""
    limits = {}
    for parent, names, _ in os.walk("/sys/fs/cgroup"):
        for group in (f"{parent}/{name}" for name in names if name.startswith("skerry-")):
            members = read_words(f"{group}/cgroup.procs") or []
            if not any(harness.is_ours(int(pid)) for pid in members):
                continue
            limits[f"{parent} members"] = len(members)
            limits |= {f"{parent} {name}": read_words(f"{group}/{name}") for name in LIMIT_FILES}
    return limits
