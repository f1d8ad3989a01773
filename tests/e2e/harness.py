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


def parent_and_name(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None, None
    state, parent = text.rpartition(")")[2].split()[:2]
    return (int(parent), text[text.index("(") + 1:text.rindex(")")]) if state != "Z" else (None, None)


def is_ours(pid):
    """Whether this process started it, by however many steps: orphans come to us, who are a subreaper."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parent_and_name(pid)[0] or 0
    return False


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
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        name = parent_and_name(pid)[1]
        if name and name.startswith("skerry") and is_ours(pid):
            found.add(f"process {pid} {name}")
    for root, names, _ in os.walk("/sys/fs/cgroup"):
        found.update(f"cgroup {root}/{name}" for name in names
                     if name.startswith("skerry-") and not is_in_use_by_others(f"{root}/{name}"))
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        found.update(f"mount {line.strip()}" for line in file)
    found.update(f"directory {name}" for name in os.listdir("/tmp")
                 if name.startswith(("skerry-scratch-", "skerry-probe-")))
    return found


def main():
    unittest.main(verbosity=2)
