"""Run after run, some of them killed at a bad moment: nothing piles up, and the next start takes what a dead one left.

60 runs, 1,000 with SKERRY_SOAK=1; 40 moments to kill at, eight times as many with it. SKERRY_SEED repeats a sequence; the seed is printed.
"""
import collections
import contextlib
import itertools
import os
import random
import signal
import subprocess
import time

import harness
import observe

RUNS = 1000 if os.environ.get("SKERRY_SOAK") else 60
SEED = int(os.environ.get("SKERRY_SEED") or random.SystemRandom().randrange(10**6))

SUBPROCESS = ["--mode", "permissive", "-s", "subprocess"]
TREE = "mkdir -p a/b/c; for i in {1..200}; do echo $i > a/b/c/$i; done; ls a/b/c | wc -l"
FORKS = "import os\nfor i in range(20):\n    if os.fork() == 0: os.execlp('sleep', 'sleep', '100')\nprint('forked')"
SLEEP = "print('up', flush=True)\nimport time; time.sleep(100)"
# With something that nobody waits for and that no session holds together with the rest.
DETACH = """import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(100)
    os._exit(0)
os.wait()
"""

Payload = collections.namedtuple("Payload", "arguments code exit_code out")
PAYLOADS = [
    Payload([], "print(6*7)", 0, b"42\n"),
    Payload(["-l", "shell"], "echo hello; exit 3", 3, b"hello\n"),
    Payload(["-l", "javascript"], "console.log(1 + 1)", 0, b"2\n"),
    Payload(["-w", "WORK"], "open('new', 'w').write('x' * 1000); print(open('old').read())", 0, b"old\n"),
    Payload(["-w", "WORK", "-l", "shell"], "mkdir -p d/e; touch d/e/{1..50}; rm -rf d; echo gone", 0, b"gone\n"),
    Payload(["-l", "shell"], TREE, 0, b"200\n"),
    Payload(["-l", "shell"], "(setsid sleep 100 &); sleep 100 & echo left", 0, b"left\n"),
    Payload([], FORKS, 0, b"forked\n"),
    Payload(["--timeout", "1"], "print('slow', flush=True)\nwhile True: pass", 124, b"slow\n"),
    Payload(["--memory", "64"], "x = []\nwhile True: x.append(bytearray(10**6))", 137, b""),
    Payload([*SUBPROCESS, "-l", "shell"], "(setsid sleep 100 &); touch f; echo plain", 0, b"plain\n"),
    Payload([], "import sys; sys.stdout.write('x' * 300000)", 0, b"x" * 300000),
]
COMMON = [0.15, 0.15, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.03, 0.04, 0.04, 0.04]
KILLS = ["kill skerry", "kill the launcher", "kill both", "terminate the launcher", "interrupt skerry"]


def slab_objects():
    """How many of these the kernel holds, whoever refers to them. Only root may ask."""
    try:
        with open("/proc/slabinfo", encoding="utf-8") as file:
            lines = [line.split() for line in file]
    except OSError:
        return {}
    kinds = ("pid_namespace", "net_namespace", "user_namespace", "uts_namespace", "mnt_cache")
    return {line[0]: int(line[1]) for line in lines if line[0] in kinds}


def cgroup_count(controller):
    with open("/proc/cgroups", encoding="utf-8") as file:
        return next((int(line.split()[2]) for line in file if line.startswith(controller + "\t")), 0)


def start_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[19]


@contextlib.contextmanager
def directories(paths):
    """Of the user who runs skerry, for a while."""
    for path in paths:
        os.mkdir(path)
        if harness.AS_USER:
            os.chown(path, harness.PLAIN_ID, harness.PLAIN_ID)
    try:
        yield
    finally:
        for path in filter(os.path.isdir, paths):
            os.rmdir(path)


class SoakTest(harness.SkerryTest):
    @classmethod
    def setUpClass(cls):
        observe.leave_the_mounts_of_others()
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.work = self.directory("work")
        with open(os.path.join(self.work, "old"), "w", encoding="utf-8") as file:
            file.write("old")
        self.assertEqual(self.run_code("print(1)").code, 0)  # makes what stays: ~/.skerry
        self.pids = []

    def counts(self):
        processes = observe.descendants()
        return {"processes": len(processes), "namespaces": len(observe.namespaces_of(processes)),
                "descriptors": len(os.listdir("/proc/self/fd")), "loop devices": len(observe.loop_devices()),
                "entries": sum(len(names + files) for _, names, files in os.walk(f"{self.home}/.skerry")),
                "mounts": len([trace for trace in harness.traces() if trace.startswith("mount")])}

    # --- one run ---

    def start(self, payload):
        arguments = [self.work if argument == "WORK" else argument for argument in payload.arguments]
        process = subprocess.Popen(self.command("run", *arguments, payload.code), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(),
                                   cwd=self.home)
        self.pids.append(str(process.pid))
        return process

    def launcher_of(self, process):
        for pid, name in observe.descendants().items():
            if name == "skerry-launcher" and harness.parent_and_name(pid)[0] == process.pid:
                self.pids.append(str(pid))
                return [pid]
        return []

    def disturb(self, process, how):
        """Gives back what was done."""
        launcher = self.launcher_of(process)
        number = {"terminate the launcher": signal.SIGTERM, "interrupt skerry": signal.SIGINT}.get(how, signal.SIGKILL)
        victims = [process.pid] * (not how.endswith("the launcher")) + launcher * (not how.endswith("skerry"))
        if not victims or process.poll() is not None:
            return "too early or too late"
        for pid in random.sample(victims, len(victims)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return how

    def wait_until_alone(self, what):
        deadline = time.monotonic() + 5
        while (left := observe.descendants()) and time.monotonic() < deadline:
            time.sleep(0.005)
        for pid in left:  # so that the next run is not blamed
            os.kill(pid, signal.SIGKILL)
        observe.reap_orphans()
        self.assertEqual(left, {}, f"5 seconds after {what}")

    def step(self, number):
        """One run or two at a time. Gives back how many."""
        chosen = random.choices(PAYLOADS, COMMON, k=2 if random.random() < 0.2 else 1)
        self.since_a_kill += len(chosen)
        kill = random.choice(KILLS) if self.since_a_kill >= 10 else None
        self.since_a_kill = 0 if kill else self.since_a_kill
        started = time.monotonic()
        processes = [self.start(payload) for payload in chosen]
        if kill:
            time.sleep(random.uniform(0, self.seconds.get(chosen[0].code, 0.1)))
            kill = self.disturb(processes[0], kill)
        for process, payload in zip(processes, chosen):
            out, err = process.communicate(timeout=60)
            if kill and process is processes[0]:
                self.codes[kill, process.returncode] += 1
                continue
            self.seconds[payload.code] = time.monotonic() - started
            self.assertEqual((process.returncode, out), (payload.exit_code, payload.out),
                             f"run {number}: {payload.arguments} {payload.code!r}: {err!r}")
        self.wait_until_alone(f"run {number} ({kill or 'not killed'}): {[payload.code for payload in chosen]}")
        return len(chosen)

    # --- the rules ---

    def left_of_ours(self):
        return observe.traces_of(self.pids, self.before)

    def test_nothing_piles_up(self):
        print(f"SKERRY_SEED={SEED}", flush=True)
        random.seed(SEED)
        self.codes, self.since_a_kill, self.seconds = collections.Counter(), 0, {}
        before, slabs, groups, started = self.counts(), slab_objects(), cgroup_count("memory"), time.monotonic()
        done = 0
        while done < RUNS:
            done += self.step(done)
        unswept = self.left_of_ours()
        self.assertEqual(self.run_code("print('last')").out, b"last\n")
        self.assertEqual(self.run_code(*SUBPROCESS, "print('last')").out, b"last\n")
        self.assertEqual(self.counts(), before)
        self.assertEqual(self.left_of_ours(), set(), "after the next start")
        time.sleep(1)  # the kernel frees namespaces in its own time
        grown = {name: slab_objects()[name] - count for name, count in slabs.items()}
        print(f"{done} runs in {time.monotonic() - started:.0f} s; killed, with their exit codes: "
              f"{dict(sorted(self.codes.items(), key=str))}; left to the next start: {len(unswept)}; "
              f"memory cgroups {groups} → {cgroup_count('memory')}; objects of the kernel: {grown}", flush=True)
        # The kernel keeps some of them ready, and other sandboxes of the machine count too.
        many = {name: more for name, more in grown.items() if name != "mnt_cache" and more > 60 + RUNS / 25}
        self.assertEqual(many, {}, f"in {RUNS} runs")

    def test_the_sweep_takes_what_the_dead_left(self):
        """Kills a launcher and a skerry when their sandbox is up, which leaves the most."""
        for how, arguments in itertools.product(("kill skerry", "kill the launcher", "kill both"), ([], SUBPROCESS)):
            with self.subTest(how=how, arguments=arguments):
                process = self.start(Payload(arguments, DETACH + SLEEP, 0, b""))
                self.assertEqual(process.stdout.readline(), b"up\n")
                self.disturb(process, how)
                process.communicate(timeout=30)
                self.wait_until_alone(how)
                self.assertEqual(self.run_code(*arguments, "print(1)").out, b"1\n")
                self.assertEqual(self.left_of_ours(), set())

    def test_a_launcher_that_is_killed_while_it_ends_a_sandbox_leaves_nothing_running(self):
        """When skerry is killed its launcher ends the sandbox. It is killed at every moment of that in turn."""
        pauses = [step * 0.0001 for step in range(0, 40)] * (8 if os.environ.get("SKERRY_SOAK") else 1)
        for pause in pauses:
            process = self.start(Payload(SUBPROCESS, DETACH + SLEEP, 0, b""))
            self.assertEqual(process.stdout.readline(), b"up\n")
            launcher = self.launcher_of(process)
            os.kill(process.pid, signal.SIGKILL)
            until = time.monotonic() + pause
            while time.monotonic() < until:  # a sleep is not so exact
                pass
            for pid in launcher:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.communicate(timeout=30)
            self.wait_until_alone(f"skerry, and after {pause * 1000:.1f} ms the launcher")
        self.assertEqual(self.run_code(*SUBPROCESS, "print(1)").out, b"1\n")
        self.assertEqual(self.left_of_ours(), set())

    def test_a_program_that_disables_its_init_leaves_nothing_running(self):
        for number in ("SIGSTOP", "SIGKILL"):
            with self.subTest(number):
                code = f"{DETACH}import signal; os.kill(os.getppid(), signal.{number}); time.sleep(100)"
                process = self.start(Payload([*SUBPROCESS, "--timeout", "1"], code, 0, b""))
                process.communicate(timeout=30)
                self.wait_until_alone(number)
        self.assertEqual(self.left_of_ours(), set())

    def cgroup_parents(self):
        """Where a launcher of ours makes its groups."""
        process = self.start(Payload([], SLEEP, 0, b""))
        process.stdout.readline()
        launcher = str(self.launcher_of(process)[0])
        found = {os.path.dirname(trace.split(" ", 1)[1]) for trace in harness.traces()
                 if trace.startswith("cgroup") and launcher in trace.split("-")}
        process.terminate()
        process.communicate()
        return found

    def test_the_sweep_takes_nothing_of_others(self):
        alive = subprocess.Popen(["sleep", "100"])
        dead = subprocess.Popen(["true"])
        dead_start = start_time(dead.pid)
        dead.wait()
        here = os.stat("/proc/self/ns/pid").st_ino
        owner = f"{here}-{dead.pid}-{dead_start}"
        kept = [f"{here}-{alive.pid}-{start_time(alive.pid)}-decoy", f"{here + 1}-{dead.pid}-{dead_start}-decoy",
                "decoy", f"{here}-decoy", owner, f"x{owner}-decoy", f"{owner}x-decoy"]
        taken = f"{owner}-decoy"
        places = [*((path, "skerry-", []) for path in self.cgroup_parents()), ("/tmp", "skerry-scratch-", SUBPROCESS)]
        for parent, prefix, arguments in places:
            made = [os.path.join(parent, prefix + name) for name in [*kept, taken]] + [f"{parent}/other-{taken}"]
            with self.subTest(parent=parent), directories(made):
                self.assertEqual(self.run_code(*arguments, "print(1)").out, b"1\n")
                left = [path for path in made if os.path.isdir(path)]
                self.assertEqual(left, [path for path in made if os.path.basename(path) != prefix + taken])
        alive.kill()
        alive.wait()

    def test_the_sweep_follows_no_link(self):
        dead = subprocess.Popen(["true"])
        name = f"skerry-scratch-{os.stat('/proc/self/ns/pid').st_ino}-{dead.pid}-{start_time(dead.pid)}-decoy"
        dead.wait()
        target = self.directory("target")
        with open(os.path.join(target, "precious"), "w", encoding="utf-8") as file:
            file.write("x")
        os.symlink(target, f"/tmp/{name}")
        result = self.run_code(*SUBPROCESS, "print(1)")
        if os.path.islink(f"/tmp/{name}"):
            os.unlink(f"/tmp/{name}")
        self.assertEqual((result.out, os.listdir(target)), (b"1\n", ["precious"]))


if __name__ == "__main__":
    harness.main()
