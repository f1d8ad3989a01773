"""Runs the skerry binary as this user or as a plain one, and looks at what is left behind."""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.environ["SKERRY_BIN"]
AS_USER = os.environ.get("SKERRY_TEST_AS") == "user"
PLAIN_ID = 54321  # nobody has it
# For what takes long and is the same for every user.
once = unittest.skipIf(AS_USER and not os.environ.get("SKERRY_SOAK"), "it is run as the other user")

if AS_USER and os.geteuid() != 0:
    print("skipped: not root, so the other run of this file is the one as a plain user")
    sys.exit(0)


PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self):
        return json.loads(self.out)


class SkerryTest(unittest.TestCase):
    """Each class has a home of its own; each test leaves nothing behind, or fails."""

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="skerry-e2e-", dir="/tmp")
        os.chmod(cls.base, 0o755)
        cls.home = os.path.join(cls.base, "home")
        os.mkdir(cls.home)
        cls.binary = BINARY
        if AS_USER:
            # Another user may not be able to reach the build directory.
            os.mkdir(os.path.join(cls.base, "bin"))
            for name in ("skerry", "skerry-launcher", "skerry-init"):
                shutil.copy(os.path.join(os.path.dirname(BINARY), name), os.path.join(cls.base, "bin", name))
            cls.binary = os.path.join(cls.base, "bin", "skerry")
            os.chown(cls.home, PLAIN_ID, PLAIN_ID)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base)

    def setUp(self):
        self.before = traces()

    def tearDown(self):
        # Other tests run beside this one: what is gone a moment later was theirs, and what comes later as well.
        deadline = time.monotonic() + 5
        left = traces() - self.before
        while left and time.monotonic() < deadline:
            time.sleep(0.05)
            left &= traces()
        self.assertEqual(left, set(), "left behind")
        runs = os.path.join(self.home, ".skerry", "workspaces")
        self.assertEqual(os.listdir(runs) if os.path.isdir(runs) else [], [], "workspaces left behind")

    def directory(self, name):
        """A directory of the user who runs skerry."""
        path = tempfile.mkdtemp(prefix=name, dir=self.home)
        if AS_USER:
            os.chown(path, PLAIN_ID, PLAIN_ID)
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def environment(self, extra=None):
        environment = {"HOME": self.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                       "SKERRY_SANDBOX__REJECT_AS_CONFIRMATION": "true"}
        environment.update(extra or {})
        return environment

    # What the risk policy thinks of the programs that tests run is a matter of risk_test.py.
    answers = ("--yes",)

    def command(self, *arguments):
        arguments = list(arguments)
        if "run" in arguments[:3]:
            place = arguments.index("run") + 1
            arguments[place:place] = self.answers
        prefix = []
        if AS_USER:
            prefix = ["setpriv", f"--reuid={PLAIN_ID}", f"--regid={PLAIN_ID}", "--clear-groups"]
        return [*prefix, self.binary, *arguments]

    def skerry(self, *arguments, stdin=b"", environment=None, timeout=100, cwd=None):
        process = subprocess.run(self.command(*arguments), input=stdin, capture_output=True, timeout=timeout,
                                 env=self.environment(environment), cwd=cwd or self.home, check=False)
        return Result(process)

    def run_code(self, *arguments, **options):
        return self.skerry("run", *arguments, **options)

    def shell(self, code, *arguments, **options):
        return self.skerry("run", "--language", "shell", *arguments, code, **options)


def stat_of(pid):
    """The name of a process and the words that follow it in its stat file; nothing when there is no such process."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(handle, 4096).decode(errors="replace")
    except OSError:  # it ended meanwhile
        return None
    finally:
        os.close(handle)
    front, _, rest = text.rpartition(")")
    return front.partition("(")[2], rest.split()


def parent_and_name(pid):
    found = stat_of(pid)
    return (int(found[1][1]), found[0]) if found and found[1][0] != "Z" else (None, None)


def is_ours(pid):
    """Whether this process started it, by however many steps: orphans come to us, who are a subreaper."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parent_and_name(pid)[0] or 0
    return False


def descendants():
    """pid → name of every process that this one started, by however many steps."""
    table = {pid: parent_and_name(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    children = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found, waiting = {}, list(children.get(os.getpid(), []))
    while waiting:
        pid = waiting.pop()
        found[pid] = table[pid][1]
        waiting += children.get(pid, [])
    return found


def is_owned_by_others(name):
    """Whether what has this name belongs to a living process that is not ours, or to a pid namespace that is not: the
    names of cgroups and directories end with the pid namespace, the pid and the start time of their owner, and a word
    of their own."""
    words = name.split("-")[-4:]
    if len(words) < 4 or not words[0].isdigit() or not words[1].isdigit():
        return False
    if words[0] != str(os.stat("/proc/self/ns/pid").st_ino):
        return True
    owner = stat_of(words[1])
    return owner is not None and owner[1][19] == words[2] and not is_ours(int(words[1]))


def is_in_use_by_others(cgroup):
    try:
        with open(f"{cgroup}/cgroup.procs", encoding="utf-8") as file:
            members = [int(line) for line in file]
    except OSError:
        return False
    return bool(members) and not any(map(is_ours, members))


def traces():
    """Everything that a run could leave: processes, cgroups, mounts, directories."""
    found = set()
    found.update(f"process {pid} {name}" for pid, name in descendants().items() if name.startswith("skerry"))
    for root, names, _ in os.walk("/sys/fs/cgroup"):
        found.update(f"cgroup {root}/{name}" for name in names
                     if name.startswith("skerry-") and not is_owned_by_others(name)
                     and not is_in_use_by_others(f"{root}/{name}"))
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        found.update(f"mount {line.strip()}" for line in file)
    found.update(f"directory {name}" for name in os.listdir("/tmp")
                 if name.startswith(("skerry-scratch-", "skerry-probe-")) and not is_owned_by_others(name))
    return found


def main():
    unittest.main(verbosity=2)
