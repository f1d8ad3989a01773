"""Whatever system call of the launcher fails, a run says so and runs nothing, or runs behind the whole fence.

fault_injector takes the launcher's place and makes one call of the launcher, or of a process that it makes, fail or be
its last. Without SKERRY_SOAK a sample of the calls is tried. SKERRY_FAULT="native 1 mount 3 EPERM" tries only that:
scenario, process (0 is the launcher), call, which of them, and the error or SIGKILL.
"""
import collections
import contextlib
import errno
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness
import observe

INJECTOR = os.path.join(os.path.dirname(harness.BINARY), "fault_injector")
SOAK = bool(os.environ.get("SKERRY_SOAK"))
ONE = os.environ.get("SKERRY_FAULT", "").split()
SAMPLE_SECONDS = 1  # for each scenario, beyond the first call of each kind
SLOW_SECONDS = 10
PAYLOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fence_payload.py")
MARKER = "payload-ran"

# Calls that also fail for other reasons than a missing right. Not those that say what is not true, as that a file is
# not there: a machine without that file is a machine that Skerry runs on.
OTHER_ERRORS = {
    "brk": ["ENOMEM"], "capset": ["EINVAL"], "chown": ["EINVAL"],
    "clone3": ["ENOMEM", "EAGAIN", "ENOSPC", "ENOSYS", "EINVAL"], "close_range": ["ENOSYS"], "dup2": ["EMFILE"],
    "execveat": ["ENOENT", "ENOMEM", "ETXTBSY"], "fallocate": ["ENOSPC"], "fchownat": ["EINVAL"], "fcntl": ["EMFILE"],
    "fsconfig": ["EINVAL"], "fsmount": ["ENOMEM", "EMFILE"], "fsopen": ["ENOSYS", "EMFILE"], "ftruncate": ["ENOSPC"],
    "getrandom": ["ENOSYS"], "ioctl": ["EBUSY", "ENXIO"],
    "landlock_create_ruleset": ["ENOSYS", "EOPNOTSUPP"], "landlock_restrict_self": ["E2BIG"],
    "memfd_create": ["EMFILE"], "mkdir": ["ENOSPC"], "mkdirat": ["ENOSPC"], "mknodat": ["ENOSPC"],
    "mmap": ["ENOMEM"], "mount": ["ENOMEM", "ENOSPC", "EINVAL"], "mount_setattr": ["EINVAL", "ENOSYS"],
    "move_mount": ["ENOSPC"], "newfstatat": ["EACCES"], "open_tree": ["EMFILE", "ENOSYS"],
    "openat": ["EMFILE", "ENFILE"], "pivot_root": ["EINVAL", "EBUSY"],
    "poll": ["EINTR", "ENOMEM"], "prlimit64": ["EINVAL"], "read": ["EIO", "EINTR"],
    "recvfrom": ["EINTR"], "recvmsg": ["EINTR", "ECONNRESET", "EMFILE"],
    "rmdir": ["EBUSY"], "seccomp": ["EINVAL", "ENOSYS"], "sendmsg": ["EINTR", "ENOBUFS"],
    "setgroups": ["ENOSYS"], "setresuid": ["EAGAIN"], "setsid": ["EINVAL"], "signalfd4": ["EMFILE"],
    "socket": ["EMFILE"], "socketpair": ["EMFILE"], "symlink": ["ENOSPC"], "unshare": ["ENOSPC", "EINVAL"],
    "wait4": ["EINTR"], "waitid": ["EINTR"], "write": ["EIO", "ENOSPC", "EBUSY"],
}
CANNOT_FAIL = ("getegid", "geteuid", "getpid", "gettid", "getuid")
# When one of these fails, a program of the C library ends, or throws and ends; it cannot say more.
OF_THE_LIBRARY = ("brk", "mmap", "mprotect", "arch_prctl", "getrandom", "futex", "execve")

Call = collections.namedtuple("Call", "process name count text in_setup")
Fault = collections.namedtuple("Fault", "call what")
Run = collections.namedtuple("Run", "code out err ran limits seconds injected pids")


def system_call_names():
    names = {}
    for path in glob.glob("/usr/include/**/asm/unistd_64.h", recursive=True)[:1]:
        with open(path, encoding="utf-8") as file:
            names = {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", file.read())}
    return names


NAMES = system_call_names()
NUMBERS = {name: number for number, name in NAMES.items()}


class FaultTest(harness.SkerryTest):
    SCENARIOS = {
        "native": ["--workspace", "WORK"],
        "temporary": [],
        "subprocess": ["--mode", "permissive", "--sandbox", "subprocess"],
    }

    @classmethod
    def setUpClass(cls):
        observe.leave_the_mounts_of_others()
        super().setUpClass()
        cls.messages, cls.notes, cls.covered = collections.Counter(), collections.Counter(), set()
        if not os.path.exists(INJECTOR):
            super().tearDownClass()
            raise unittest.SkipTest("fault_injector is not built: it needs an x86-64")
        cls.places = {name: os.path.join(cls.base, name) for name in ("faulty", "real", "logs")}
        for path in cls.places.values():
            os.mkdir(path)
        directory = os.path.dirname(harness.BINARY)
        shutil.copy(os.path.join(directory, "skerry-launcher"), cls.places["real"])
        for name in ("skerry", "skerry-init"):
            shutil.copy(os.path.join(directory, name), cls.places["faulty"])
        shutil.copy(INJECTOR, os.path.join(cls.places["faulty"], "skerry-launcher"))
        if harness.AS_USER:
            os.chown(cls.places["logs"], harness.PLAIN_ID, harness.PLAIN_ID)
        cls.good, cls.binary = cls.binary, os.path.join(cls.places["faulty"], "skerry")
        cls.secret = os.path.join(cls.base, "secret")
        with open(cls.secret, "w", encoding="utf-8") as file:
            file.write("of the host")

    @classmethod
    def tearDownClass(cls):
        for title, found in (("What was said:", cls.messages), ("What else was seen:", cls.notes)):
            print(title, *(f"{times:6} {text}" for text, times in sorted(found.items())), sep="\n", flush=True)
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.work = self.directory("work")
        self.loops = observe.loop_devices()
        self.log = os.path.join(self.places["logs"], "log")
        self.tried, self.times_wrong, self.left_to_the_next_start = 0, 0, []

    # --- one run ---

    def write_plan(self, fault):
        call, what = fault or (Call(0, None, 0, "", True), "EPERM")
        action = ("kill", signal.SIGKILL.value) if what == "SIGKILL" else ("error", getattr(errno, what))
        words = (os.path.join(self.places["real"], "skerry-launcher"), self.log, call.process,
                 NUMBERS.get(call.name, 0), call.count, *action)
        with open(os.path.join(self.places["faulty"], "plan"), "w", encoding="utf-8") as file:
            file.write("".join(f"{word}\n" for word in words))

    def payload(self, scenario):
        kinds = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")
        host = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}
        with open(PAYLOAD, encoding="utf-8") as file:
            return f"HOST, SECRET, NATIVE = {host!r}, {self.secret!r}, {scenario != 'subprocess'!r}\n{file.read()}"

    def run_with(self, fault, scenario):
        if os.path.exists(self.log):
            os.unlink(self.log)
        self.write_plan(fault)
        arguments = [self.work if argument == "WORK" else argument for argument in self.SCENARIOS[scenario]]
        start = time.monotonic()
        process = subprocess.Popen(self.command("run", "--json", *arguments, self.payload(scenario)),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(), cwd=self.home)
        while not (ran := MARKER in observe.descendants().values()) and process.poll() is None:
            time.sleep(0.005)
        limits = observe.limits_of_our_cgroups() if ran else {}
        out, err = process.communicate(timeout=100)
        seconds = time.monotonic() - start
        for name in os.listdir(self.work):
            os.unlink(os.path.join(self.work, name))
        log = self.log_lines()
        ran = ran or b'\\"no_new_privs\\"' in out
        return Run(process.returncode, out, err, ran, limits, seconds, "injected" in log,
                   [process.pid, *log[0].split()[1:]])

    def log_lines(self):
        if not os.path.exists(self.log):
            return [""]
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def clean_run(self, scenario):
        """A run that nothing is wrong with, and every call that its launcher and what that made have done."""
        run = self.run_with(None, scenario)
        if len(self.log_lines()) < 2:
            self.skipTest("processes may not be traced here")
        self.assertEqual((run.code, run.err), (0, b""), run.out)
        lines = [(int(line[0]), NAMES[int(line[1])], int(line[2]), line[3])
                 for line in (text.split(" ", 3) for text in self.log_lines()[1:])]
        became_init = max(at for at, line in enumerate(lines) if line[1] == "execveat")
        started = next(at for at, line in enumerate(lines) if at > became_init and line[:2] == (0, "sendmsg"))
        calls = [Call(*line, at <= started) for at, line in enumerate(lines)]
        return run, [call for call in calls if call.name not in ("exit", "exit_group", *CANNOT_FAIL)
                     and not asks_for_another_way_to_kill(call)]

    # --- what is judged ---

    def wrong_fence(self, seen, scenario, degraded=()):
        """What must hold whatever `degraded` says, but for the files of the host: a process without namespaces has no
        other fence around them than Landlock, and docs/backends/subprocess.md says so."""
        native = scenario != "subprocess"
        fenced = native or not any(line.startswith("landlock:") for line in degraded)
        kept = set(seen["capabilities"].values()) - {0}
        if not native and (harness.AS_USER or os.geteuid() != 0):
            kept -= {seen["capabilities"]["bounding"]}  # a plain user cannot give that up outside of a user namespace
        written = [path for path, result in seen["writes"].items() if result == "done"]
        mounts = {mount[0]: mount[1].split(",") for mount in seen.get("mounts", [])}
        rules = {
            "capabilities": not kept,
            "no_new_privs": seen["no_new_privs"] == 1,
            "seccomp": seen["seccomp"] == 2,
            "core files": seen["limits"]["RLIMIT_CORE"] == [0, 0],
            "a file of the host": isinstance(seen["host file"], int) or not fenced,
            "a write to what is read-only": not set(written) - {"/dev/x"},
            "user and group": set(seen["ids"]) == {1000} if native else seen["ids"] is False,
            "host id 0": not native or not any(outside for _, _, outside, _ in seen["maps"]),
            "interfaces": not native or seen["interfaces"] == ["lo"],
            "host name": not native or seen["hostname"] == "skerry",
            "namespaces": not native or all(seen["own namespaces"].values()),
            "read-only mounts": not native or all("ro" in mounts.get(path, []) for path in ("/", "/usr", "/proc/sys")),
        }
        return [f"the fence is open: {name}" for name, holds in rules.items() if not holds]

    def fence_of(self, run, scenario):
        return self.wrong_fence(json.loads(json.loads(run.out)["stdout"]), scenario)

    def wrong_success(self, run, clean, scenario):
        result, expected = json.loads(run.out), json.loads(clean.out)
        if not result["stdout"]:
            return [f"exit code 0 and no output: {result['stderr']}"]
        seen, wanted = (json.loads(each["stdout"]) for each in (result, expected))
        lost = {name: (wanted[name], seen.get(name)) for name in wanted if seen.get(name) != wanted[name]}
        lost |= {name: (clean.limits.get(name), run.limits.get(name)) for name in {*run.limits, *clean.limits}
                 if run.limits.get(name) != clean.limits.get(name)}
        added = [line for line in result["degraded"] if line not in expected["degraded"]]
        self.notes.update(f"worked, and said: {line}" for line in added)
        wrong = [each for each in self.wrong_fence(seen, scenario, added) if each not in self.fence_of(clean, scenario)]
        if not added:
            wrong += [f"lost without a word: {name}: {difference(*values)}" for name, values in lost.items()]
        return wrong + ([f"worked, but said {run.err!r}"] if run.err else [])

    def wrong_failure(self, run, fault):
        if run.code == 137 and not fault.call.in_setup and json.loads(run.out or "{}").get("outcome") == "lost":
            self.messages["the program was lost with its sandbox"] += 1
            return []
        wrong = [] if run.code == 125 else [f"exit code {run.code}"]
        if run.ran and fault.call.in_setup:
            wrong.append("the program ran")
        match = re.fullmatch(r"skerry: ([^\n]+)\n", run.err.decode(errors="replace"))
        if not match:
            return wrong + [f"not one line that explains it: {run.err!r}"]
        message = re.sub(r"skerry-[a-z0-9-]{8,}|\d{3,}", "…", match.group(1).replace(self.base, "BASE"))
        self.messages[message] += 1
        step, _, reason = message.rpartition(": ")
        bare = re.fullmatch(r"\w+", step) and reason in map(os.strerror, errno.errorcode)
        expected = fault.what == "SIGKILL" or not fault.call.in_setup or fault.call.name in OF_THE_LIBRARY or (
            fault.call[:2] == (0, "fcntl"))  # its descriptors are not there: it has nobody to tell
        nameless = bare or message.startswith("the launcher ")
        if nameless and not expected or message.startswith(("unexpected", "malformed")):
            wrong.append(f"names no step: {message}")
        return wrong

    def leftovers(self, pids):
        processes = observe.descendants()
        namespaces = observe.namespaces_of(processes) - observe.namespaces_of([os.getpid()])
        entries = set(glob.glob(f"{self.home}/.skerry/**", recursive=True)) - self.entries
        return (observe.traces_of(pids, self.before) | (observe.loop_devices() - self.loops)
                | {f"entry {path}" for path in entries} | {f"namespace {name}" for name in namespaces}
                | {f"process {pid} {name}" for pid, name in processes.items()})

    def wrong_leftovers(self, fault, run):
        launcher_is_gone = fault.call.process == 0 and (
            fault.what == "SIGKILL" or not fault.call.in_setup or b"the launcher" in run.err)
        patience = time.monotonic() + 3
        while (found := self.leftovers(run.pids)) and time.monotonic() < patience:
            if launcher_is_gone and not any(each.startswith("process") for each in found):
                self.left_to_the_next_start.append((fault, run.pids))
                return []
            time.sleep(0.01)
        self.remove(found)
        return [f"left behind: {', '.join(sorted(found))}"] if found else []

    def wrong_after_the_next_start(self, scenario):
        """What a launcher could not remove because it was gone, the next one does."""
        if self.left_to_the_next_start:
            self.run_without_faults()
        self.notes["left to the next start"] += len(self.left_to_the_next_start)
        return [f"{self.name(fault, scenario)}: left behind by the next start too: {', '.join(sorted(found))}"
                for fault, pids in self.left_to_the_next_start if (found := self.leftovers(pids))]

    def run_without_faults(self):
        command = [self.good if word == self.binary else word for word in self.command("run", "1")]
        subprocess.run(command, check=True, env=self.environment(), cwd=self.home)

    def remove(self, found):
        """So that the next fault is not blamed."""
        for pid in observe.descendants() if found else ():
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.1 if found else 0)
        for each in found:
            if each.startswith("cgroup"):
                with contextlib.suppress(OSError):
                    os.rmdir(each.split(" ", 1)[1])
        observe.reap_orphans()

    def judge(self, fault, scenario, clean):
        run = self.run_with(fault, scenario)
        if not run.injected:
            return  # the number of calls varies, as of those that wait: there was nothing to fail
        self.tried += 1
        wrong = self.wrong_success(run, clean, scenario) if run.code == 0 else self.wrong_failure(run, fault)
        if run.seconds > SLOW_SECONDS:
            wrong.append(f"took {run.seconds:.0f} seconds")
        self.note_wrong(f"{self.name(fault, scenario)}: {each}" for each in [*wrong, *self.wrong_leftovers(fault, run)])

    def note_wrong(self, lines):
        for line in lines:
            print(line, flush=True)  # at once: the long form takes long
            self.times_wrong += 1

    @staticmethod
    def name(fault, scenario):
        call, what = fault
        return f'"{scenario} {call.process} {call.name} {call.count} {what}" ({call.text})'

    # --- which faults ---

    def choose(self, calls):
        """The faults that must be tried, and those that are tried as time permits."""
        groups = collections.defaultdict(list)
        for call in calls:
            groups[call.process == 0, call.name, call.in_setup].append(call)
        first, more = [], []
        for kind, group in groups.items():
            if kind in self.covered and not SOAK:
                continue
            self.covered.add(kind)
            first += [Fault(call, "EPERM") for call in dict.fromkeys([group[0], group[-1]])]
            first += [Fault(group[0], "SIGKILL")] * (kind[0] and kind[2])  # it clears up after others
            chosen = group if SOAK and kind[2] else dict.fromkeys([*group[::7][:20], group[-1]])
            errors = ["EPERM", *OTHER_ERRORS.get(kind[1], []), "SIGKILL"]
            more += [Fault(call, what) for call in chosen for what in errors]
        must = set(first)
        more = [fault for fault in more if fault not in must]
        random.Random(len(more)).shuffle(more)  # a sample of all kinds, and the same one each time
        return first, more

    def try_all(self, scenario):
        if ONE and ONE[0] != scenario:
            self.skipTest("not the one that was asked for")
        clean, calls = self.clean_run(scenario)
        self.note_wrong(f"{scenario}, without a fault: {each}" for each in self.fence_of(clean, scenario))
        self.run_without_faults()
        self.entries = set(glob.glob(f"{self.home}/.skerry/**", recursive=True))
        first, more = self.choose(calls)
        if ONE:
            first, more = [Fault(call, ONE[4]) for call in calls if [str(each) for each in call[:3]] == ONE[1:4]], []
        for fault in first:
            self.judge(fault, scenario, clean)
        deadline = time.monotonic() + SAMPLE_SECONDS
        while more and (SOAK or time.monotonic() < deadline):
            self.judge(more.pop(0), scenario, clean)
        self.note_wrong(self.wrong_after_the_next_start(scenario))
        print(f"{scenario}: {len(calls)} calls, {self.tried} faults injected, {len(more)} left out", flush=True)
        self.assertEqual(self.times_wrong, 0, "see above; SKERRY_FAULT=\"…\" repeats one")

    def test_in_a_persons_directory(self):
        self.try_all("native")

    def test_in_a_temporary_directory(self):
        self.try_all("temporary")

    def test_without_namespaces(self):
        self.try_all("subprocess")


def asks_for_another_way_to_kill(call):
    """The hierarchy without limits: where it may not be used the others are, as on machines without it."""
    return call.name == "access" and call.text == "/sys/fs/cgroup/unified"


def difference(wanted, seen):
    if isinstance(wanted, list) and isinstance(seen, list):
        wanted, seen = [each for each in wanted if each not in seen], [each for each in seen if each not in wanted]
    return f"{json.dumps(seen)[:200]} and not {json.dumps(wanted)[:200]}"


if __name__ == "__main__":
    harness.main()
