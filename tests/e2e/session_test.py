"""Sessions at the command line: what stays, what is taken back, what is recorded, and what a kill leaves."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness
from sessions import SessionTest

IDENTITY = {"GIT_CONFIG_GLOBAL": "/dev/null"}
GIT = "git -c user.name=agent -c user.email=agent@example.com -c init.defaultBranch=main"


class LifeTest(SessionTest):
    def run_in(self, code, *options, **more):
        return self.shell(code, "--session", self.session, *options, **more)

    def checked(self, code, *options, **more):
        result = self.run_in(code, *options, **more)
        self.assertEqual(result.code, 0, result.err)
        return result

    def agrees(self):
        result = self.skerry("session", "check", self.session)
        self.assertEqual((result.code, result.err), (0, b""), result.out)

    def test_files_stay_from_run_to_run(self):
        self.checked("echo one > a; mkdir d; echo two > d/b")
        self.assertEqual(self.checked("cat a d/b; rm a").out, b"one\ntwo\n")
        self.assertEqual(sorted(os.listdir(self.workspace("d"))), ["b"])
        self.assertFalse(os.path.exists(self.workspace("a")))
        self.agrees()

    def test_it_is_listed_shown_and_deleted(self):
        self.create("other")
        listed = self.skerry("session", "list", "--json").json
        self.assertEqual([row["id"] for row in listed], ["other", "s"])
        shown = self.skerry("session", "show", "s", "--json").json
        self.assertEqual(shown["max_bytes"], 1024 << 20)
        self.assertGreater(shown["entries"], 6)
        self.assertEqual(self.skerry("session", "delete", "other").code, 0)
        self.assertEqual([row["id"] for row in self.skerry("session", "list", "--json").json], ["s"])
        again = self.skerry("session", "delete", "other")
        self.assertEqual(again.code, 125)
        self.assertIn(b"there is no session other", again.err)

    def test_names_that_are_none_are_refused(self):
        for name in ("../x", ".hidden", "a/b", "", "x" * 65, "a b", "é", "-x", "..", "a\nb"):
            result = self.skerry("session", "create", "--", name)
            self.assertNotEqual(result.code, 0, name)
        self.assertEqual(self.skerry("session", "create", "s").code, 125)  # is there
        self.assertEqual(sorted(os.listdir(os.path.join(self.home, "sessions"))), [".skerry", "s"])

    def test_a_question_about_nothing_leaves_nothing(self):
        for arguments in (("run", "--session", "nothing", "print(1)"), ("fs", "read", "nothing", "x"),
                          ("session", "undo", "nothing"), ("session", "diff", "nothing")):
            result = self.skerry(*arguments)
            self.assertEqual(result.code, 125, arguments)
            self.assertIn(b"there is no session nothing", result.err)
        self.assertEqual(os.listdir(os.path.join(self.home, "sessions", ".skerry")), ["s"])

    def test_diff_and_undo(self):
        self.write("text", b"one\ntwo\nthree\n")
        self.checked("sed -i s/two/2/ text; printf '\\000\\001' > binary; rm .memory/progress.md")
        diff = self.skerry("session", "diff", "s").out.decode()
        self.assertIn("-two\n+2\n", diff)
        self.assertIn("Binary files /dev/null and b/binary (2 bytes, sha256 ", diff)
        self.assertIn("deleted file mode 100644\n--- a/.memory/progress.md", diff)
        undone = self.skerry("session", "undo", "s", "--json").json
        self.assertEqual({row["path"]: row["action"] for row in undone["files"]},
                         {"text": "changed", "binary": "removed", ".memory/progress.md": "created"})
        self.assertEqual(self.read("text"), b"one\ntwo\nthree\n")
        self.agrees()
        self.assertEqual(self.skerry("session", "undo", "s").code, 125)
        self.assertEqual(self.skerry("session", "diff", "s").out, b"")

    def test_undo_keeps_later_work(self):
        self.write("f", b"first\n")
        self.checked("echo second > f; echo new > g")
        self.write("f", b"third\n")
        refused = self.skerry("session", "undo", "s")
        self.assertEqual(refused.code, 125)
        self.assertIn(b"changed since that run: f", refused.err)
        self.assertEqual((self.read("f"), self.read("g")), (b"third\n", b"new\n"))
        self.assertEqual(self.skerry("session", "undo", "--force", "s").code, 0)
        self.assertEqual(self.read("f"), b"first\n")
        self.assertFalse(os.path.exists(self.workspace("g")))
        self.agrees()

    def test_a_dry_run_shows_and_changes_nothing(self):
        self.write("f", b"old\n")
        result = self.checked("echo new > f; echo x > g; echo said", "--dry-run")
        self.assertEqual(result.out, b"said\n")
        for line in (b"would create: g", b"would change: f", b"-old\n+new\n"):
            self.assertIn(line, result.err)
        self.assertEqual(self.read("f"), b"old\n")
        self.assertFalse(os.path.exists(self.workspace("g")))
        self.agrees()

    def test_a_dry_run_in_a_persons_directory_too(self):
        directory = self.directory("mine")
        result = self.shell("echo x > made; mkdir -p .git/hooks; echo evil > .bashrc", "--dry-run", "--json",
                            "--workspace", directory).json
        self.assertEqual(result["files_created"], ["made"])
        self.assertIn("+x\n", result["diff"])
        self.assertEqual([row["path"] for row in result["files_withheld"]], [".bashrc"])
        self.assertEqual(os.listdir(directory), [])
        self.assertEqual(self.shell("true", "--dry-run").code, 125)  # nothing would stay anyway

    def begin(self, code):
        return subprocess.Popen(self.command("run", "--session", "s", "-l", "shell", code), env=self.environment(),
                                cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def test_two_at_once_run_beside_each_other(self):
        first = self.begin("echo 1 >> f; sleep 2; echo 3 >> f")
        self.eventually(lambda: [row["state"] for row in self.skerry("session", "list", "--json").json] == ["busy"])
        self.assertEqual(self.fs("list").code, 0)
        time.sleep(0.5)
        self.checked("echo 2 >> f")
        self.assertIsNone(first.poll())
        self.assertEqual(first.wait(timeout=60), 0)
        self.assertEqual(self.read("f"), b"1\n2\n3\n")
        self.agrees()

    def beats_beyond(self, known):
        for _ in range(100):
            beats = int(self.checked("cat beats 2>/dev/null | wc -l").out)
            if beats > known:
                return beats
            time.sleep(0.1)
        self.fail(f"the heart stopped after {known} beats")

    def test_what_a_run_left_running_lives_on(self):
        self.checked("(setsid sh -c 'while :; do date +%s%N >> beats; sleep 0.1; done' >/dev/null 2>&1 &)")
        first = self.beats_beyond(0)
        self.beats_beyond(first)
        self.assertEqual(self.skerry("session", "stop", "s").code, 0)
        self.assertEqual(self.checked("pgrep -fc 'date [+]' || true").out, b"0\n")
        self.agrees()

    def test_a_killed_daemon_leaves_the_old_files_and_a_run_that_is_recorded_as_lost(self):
        self.write("f", b"old\n")
        for delay in (0.05, 0.2, 0.5):
            process = self.begin("echo new > f; for i in $(seq 200); do echo x > n$i; done")
            time.sleep(delay)
            self.note_pids(self.daemon)
            self.daemon.kill()
            self.assertIn(process.wait(timeout=30), (0, 125))
            type(self).start()
            self.agrees()
            new = [name for name in os.listdir(self.workspace()) if name.startswith("n")]
            self.assertIn(len(new), (0, 200))
        states = [row["state"] for row in json.loads(self.skerry("history", "s", "--json").out)]
        self.assertNotIn("running", states)

    def test_a_killed_client_leaves_a_session_that_is_in_order(self):
        for delay in (0.05, 0.2, 0.5):
            process = self.begin("for i in $(seq 200); do echo x > n$i; done; sleep 0.3")
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.eventually(lambda: self.skerry("session", "show", "s", "--json").json["running"] == 0)
            self.agrees()

    def test_when_its_time_is_over_it_goes(self):
        self.assertEqual(self.skerry("session", "create", "old", "--ttl", "1").code, 0)
        self.eventually(lambda: [row["id"] for row in self.skerry("session", "list", "--json").json] == ["s"])
        self.assertFalse(os.path.exists(os.path.join(self.home, "sessions", "old")))
        self.assertIn(b"bootstrap", self.skerry("history", "old").out)  # the history stays

    def test_a_new_one_starts_from_a_source(self):
        source = self.directory("source")
        os.makedirs(os.path.join(source, "init", "data"))
        with open(os.path.join(source, "init", "data", "seed.txt"), "w", encoding="utf-8") as file:
            file.write("seed")
        self.with_settings(SKERRY_SANDBOX__WORKSPACE__SOURCE=source)
        self.create("sown")
        self.assertEqual(self.skerry("fs", "read", "sown", "data/seed.txt").out, b"seed")


class ContextTest(SessionTest):
    def cell(self, code, *arguments, name="c", **options):
        return self.skerry("run", "--session", self.session, "--context", name, *arguments, code, **options)

    def context(self, *arguments):
        return self.skerry("context", *arguments, "--session", self.session)

    def test_a_cell_runs_in_a_context_of_the_session(self):
        self.write("in", b"5")
        first = self.cell("x = int(open('in').read()); open('out', 'w').write(str(x * 2)); print(x)", "--yes")
        self.assertEqual((first.code, first.out, first.err), (0, b"5\n", b""))
        self.assertEqual(self.read("out"), b"10")
        result = self.cell("x + 1", "--json")
        self.assertEqual((result.json["context"], result.json["cell"]), ("c", 2))
        self.assertEqual([item["kind"] for item in json.loads(self.skerry("history", self.session, "--json").out)[-2:]],
                         ["cell", "cell"])
        other = self.skerry("run", "--session", "none", "--context", "c", "1")
        self.assertEqual(other.code, 125)
        self.assertIn(b"there is no session none", other.err)
        self.assertEqual(self.skerry("context", "list", "--json").json, [])

    def test_the_commands_are_about_those_of_the_session(self):
        self.cell("x = 1")
        row, = self.context("list", "--json").json
        self.assertEqual((row["name"], row["language"], row["state"], row["cells"]), ("c", "python", "idle", 1))
        self.assertEqual(self.context("fork", "c", "d").out, b"forked c into d\n")
        self.assertEqual(self.cell("x", name="d").out, b"1\n")
        self.assertEqual(self.context("interrupt", "c").out, b"nothing is running in c\n")
        self.assertEqual(self.context("restart", "c").out, b"restarted c\n")
        self.assertEqual(self.cell("'x' in globals()").out, b"False\n")
        self.assertEqual(self.context("delete", "c").out, b"deleted c\n")
        self.assertEqual([row["name"] for row in self.context("list", "--json").json], ["d"])

    def test_what_cells_have_not_is_refused(self):
        for options in (["--dry-run"], ["--caused-by", "x"], ["--memory", "99"], ["--workspace", "."]):
            result = self.cell("1", *options)
            self.assertEqual((result.code, result.out), (125, b""), options)
            self.assertIn(options[0].encode(), result.err)


class OrdinaryWorkTest(SessionTest):
    """What people and agents do all day survives, in a session and in a person's directory."""

    SCRIPT = (
        f"set -e; {GIT} init -q repo; cd repo; echo 1 > a; {GIT} add a; {GIT} commit -qm first; cd ..; "
        f"{GIT} clone -q repo clone; cd clone; echo 2 > b; {GIT} add b; {GIT} commit -qm second; cd ..; "
        "mkdir -p library app; cd library; "
        "printf '{\"name\":\"library\",\"version\":\"1.0.0\",\"bin\":{\"tool\":\"tool.js\"}}' > package.json; "
        "printf '#!/usr/bin/env node\\nconsole.log(42)\\n' > tool.js; chmod +x tool.js; cd ../app; "
        "printf '{\"name\":\"app\",\"version\":\"1.0.0\"}' > package.json; "
        "npm install --offline --no-audit --no-fund --install-links ../library >/dev/null 2>&1")
    AFTERWARDS = (
        f"set -e; cd clone; {GIT} status --porcelain; {GIT} log --oneline | wc -l; {GIT} fsck; cd ../app; "
        "node_modules/.bin/tool")

    def judge(self, run):
        self.assertEqual(run(self.SCRIPT).code, 0)
        result = run(self.AFTERWARDS)
        self.assertEqual((result.code, result.out), (0, b"2\n42\n"), result.err)

    def has_npm(self):
        if not shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin"):
            self.skipTest("npm is not installed where a sandbox sees it")

    def test_git_and_npm_in_a_session(self):
        self.has_npm()
        self.judge(lambda code: self.shell(code, "--session", self.session, "--timeout", "120", "--memory", "1024"))
        self.assertEqual(self.skerry("session", "check", self.session).code, 0)

    def test_git_and_npm_in_a_persons_directory(self):
        self.has_npm()
        directory = self.directory("mine")
        self.judge(lambda code: self.shell(code, "--workspace", directory, "--timeout", "120", "--memory", "1024"))
        # And on the person's side.
        clone = os.path.join(directory, "clone")
        log = subprocess.run(["git", "-c", "safe.directory=*", "-C", clone, "log", "--oneline"], capture_output=True,
                             check=False, env={"PATH": os.environ["PATH"], "HOME": self.home})
        self.assertEqual((log.returncode, log.stdout.count(b"\n")), (0, 2), log.stderr)


class RecordTest(SessionTest):
    def record(self):
        return os.path.join(self.home, ".skerry", "record.db")

    def spoil(self):
        for suffix in ("-wal", "-shm"):
            if os.path.exists(self.record() + suffix):
                os.unlink(self.record() + suffix)
        with open(self.record(), "r+b") as file:
            file.write(b"this is no database" * 300)

    def remove_record(self):
        type(self).stop()
        for suffix in ("", "-wal", "-shm", ".old"):
            if os.path.exists(self.record() + suffix):
                os.unlink(self.record() + suffix)
        type(self).start()

    def test_without_a_record_nothing_happens(self):
        """What the daemon keeps is there too, so there is no daemon without one."""
        self.addCleanup(self.remove_record)
        type(self).stop()
        self.spoil()
        for free in ({}, {"SKERRY_SANDBOX__RECORD__REQUIRED": "false"}):
            refused = self.skerry("serve", environment=free)
            self.assertEqual((refused.code, refused.out), (125, b""), refused.err)
            self.assertIn(b"record", refused.err)
        result = self.shell("echo x > f", "--session", "s")
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"skerry serve", result.err)
        self.assertEqual(self.fs("write", "g", stdin=b"x").code, 125)
        self.assertFalse(os.path.exists(self.workspace("f")) or os.path.exists(self.workspace("g")))
        type(self).daemon = None

    def test_what_is_in_the_way_can_be_moved_away(self):
        self.addCleanup(self.remove_record)
        type(self).stop()
        self.spoil()
        os.rename(self.record(), self.record() + ".old")
        type(self).start()
        # The new record does not know the session; it is told when something happens in it.
        result = self.shell("echo x > f", "--session", "s")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.skerry("session", "check", "s").code, 0)


@unittest.skipIf(os.geteuid() == 0 and not harness.AS_USER, "as root a program without namespaces has no user to be")
class InPlaceTest(SessionTest):
    """A sandbox without layers works on a copy of the session's files: what it changed is committed all the same."""

    IN_PLACE = ("--sandbox", "subprocess", "--session", "s")
    settings = {"SKERRY_SANDBOX__SECURITY": "permissive"}

    def test_the_record_is_right(self):
        self.shell("echo native > n", "--session", "s")
        result = self.shell("echo 1 > a; mkdir d; echo 2 > d/b; rm .memory/findings.md; echo more >> n", *self.IN_PLACE)
        self.assertEqual(result.code, 0, result.err)
        check = self.skerry("session", "check", "s")
        self.assertEqual(check.code, 0, check.out)
        last = json.loads(self.skerry("history", "s", "--json").out)[-1]
        self.assertEqual([row["path"] for row in last["files"]["created"]], ["a", "d/b"])
        self.assertEqual([row["path"] for row in last["files"]["changed"]], ["n"])
        self.assertEqual([row["path"] for row in last["files"]["removed"]], [".memory/findings.md"])
        self.assertEqual(self.skerry("session", "undo", "s").code, 0)
        self.assertEqual(self.skerry("fs", "read", "s", "n").out, b"native\n")
        self.assertFalse(os.path.exists(self.workspace("a")) or os.path.exists(self.workspace("d")))
        self.assertTrue(os.path.exists(self.workspace(".memory/findings.md")))
        self.assertEqual(self.skerry("session", "check", "s").code, 0)

    def test_a_dry_run_shows_and_changes_nothing(self):
        result = self.shell("echo 1 > a", "--dry-run", *self.IN_PLACE)
        self.assertEqual(result.code, 0, result.err)
        self.assertIn(b"+1", result.out + result.err)
        self.assertFalse(os.path.exists(self.workspace("a")))


class DisabledTest(harness.SkerryTest):
    """Without sandboxes a local guard is left."""

    def local(self, code, **more):
        return self.shell(code, "--json", "--workspace", self.directory("mine"),
                          environment={"SKERRY_SANDBOX__ENABLED": "false", "SKERRY_SANDBOX__SECURITY": "permissive",
                                       "SKERRY_SANDBOX__REJECT_AS_CONFIRMATION": "true"}, **more)

    @unittest.skipIf(os.geteuid() == 0 and not harness.AS_USER, "as root a program without namespaces has no user to be")
    def test_harmless_code_runs_and_pwd_tells_no_path_of_the_host(self):
        result = self.local("echo hello")
        self.assertEqual(result.json["stdout"], "hello\n", result.err)
        self.assertTrue(any("disabled" in line for line in result.json["degraded"]))
        self.assertEqual(self.local(" pwd\n").json["stdout"], "/workspace\n")

    def test_what_is_dangerous_does_not_even_with_an_approval(self):
        for code in ("rm -rf x", "rm -rf /", "sudo id", "dd if=/dev/zero of=x", ":(){ :|:& };:"):
            result = self.local(code)
            self.assertEqual(result.code, 126, code)
            self.assertIn("local guard", result.json["error"])

    def test_strict_security_runs_nothing(self):
        result = self.shell("true", environment={"SKERRY_SANDBOX__ENABLED": "false"})
        self.assertEqual(result.code, 125)
        self.assertIn(b"local guard", result.err)


if __name__ == "__main__":
    unittest.main()
