"""The host's own figures: processes, memory, sockets, disks, files."""

import hashlib
import os
import threading
import time


def processes(comm):
    """The ids of the processes with that name; zombies do not count."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index(b"(") + 1 : text.rindex(b")")]
        if name == comm.encode() and text[text.rindex(b")") + 2 :][:1] not in b"ZX":
            found.append(int(pid))
    return found


def gone_within(comm, seconds):
    """Whether no process of that name is left after at most so long."""
    deadline = time.monotonic() + seconds
    while processes(comm):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def status_field(pid, name):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(name + ":")), "")
    except OSError:
        return ""


def kilobytes(name):
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(name + ":")), 0)


def available_mb():
    return kilobytes("MemAvailable") // 1024


def shared_mb():
    return kilobytes("Shmem") // 1024


def socket_memory_mb(protocol):
    """Pages that the kernel counts for a protocol, of all network namespaces together."""
    with open("/proc/net/sockstat", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == protocol + ":" and "mem" in words:
                return int(words[words.index("mem") + 1]) * 4096 >> 20
    return 0


def disk_free_mb(path="/tmp"):
    figures = os.statvfs(path)
    return figures.f_bfree * figures.f_frsize >> 20


def inodes_free(path="/tmp"):
    return os.statvfs(path).f_ffree


def digest(path):
    """Of a file's content as the page cache has it, and of what chmod and its kin change."""
    try:
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        entry = os.stat(path)
        return content, entry.st_mode, entry.st_uid, entry.st_mtime_ns, entry.st_size, entry.st_nlink
    except OSError as error:
        return (error.errno,)


class Peaks:
    """The largest figures of the kernel's own counters until told to stop."""

    COUNTERS = {
        "shared": shared_mb,
        "tcp": lambda: socket_memory_mb("TCP"),
        "udp": lambda: socket_memory_mb("UDP"),
    }

    def __init__(self):
        self.most, self.stop_now = dict.fromkeys(self.COUNTERS, 0), threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.stop_now.wait(0.05):
            for name, counter in self.COUNTERS.items():
                self.most[name] = max(self.most[name], counter())

    def stop(self):
        self.stop_now.set()
        self.thread.join()
        return self.most


class Sampler:
    """Looks at the processes of one name until told to stop, and keeps the largest figures."""

    def __init__(self, comm):
        self.comm, self.most, self.most_threads, self.most_mb, self.stop_now = comm, 0, 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.stop_now.wait(0.05):
            found = processes(self.comm)
            self.most = max(self.most, len(found))
            threads = memory = 0
            for pid in found:
                threads += int(status_field(pid, "Threads") or 0)
                memory += int((status_field(pid, "VmRSS") or "0").split()[0])
            self.most_threads = max(self.most_threads, threads)
            self.most_mb = max(self.most_mb, memory >> 10)

    def stop(self):
        self.stop_now.set()
        self.thread.join()
        return self
