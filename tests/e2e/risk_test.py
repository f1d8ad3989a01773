"""What skerry says of code before it runs, and whom it asks."""
import json
import os
import pty
import select
import time
import unittest

import harness

REJECTED = 126


class AskedTest(harness.SkerryTest):
    """Nothing answers for the person."""
    answers = ()

    def tearDown(self):
        self.skerry("context", "stop")
        super().tearDown()

    def environment(self, extra=None):
        environment = super().environment(extra)
        if "SKERRY_SANDBOX__REJECT_AS_CONFIRMATION" not in (extra or {}):
            del environment["SKERRY_SANDBOX__REJECT_AS_CONFIRMATION"]
        return environment


class RiskCommandTest(AskedTest):
    def risk(self, *arguments, **options):
        result = self.skerry("risk", "--json", *arguments, **options)
        self.assertEqual(result.code, 0, result.err)
        return json.loads(result.out)

    def test_has_the_names_of_the_specification(self):
        risk = self.risk("eval('1')")
        self.assertEqual(risk["level"], "critical")
        self.assertTrue(risk["requires_confirmation"])
        self.assertTrue(risk["requires_isolation"])
        self.assertEqual(risk["suggested_sandbox"], "isolated")
        self.assertIn("python.eval", risk["detected_patterns"][0])
        self.assertEqual((risk["findings"][0]["line"], risk["findings"][0]["column"]), (1, 1))
        self.assertIsInstance(risk["reason"], str)

    def test_the_reference_behaviours(self):
        for language, code, level, sandbox in (
                ("python", "print('Hello')", "safe", "subprocess"),
                ("python", "eval('1')", "critical", "isolated"),
                ("python", "import os", "high", "isolated"),
                ("python", "open('f','r').read()", "medium", "isolated"),
                ("python", "", "safe", "subprocess"),
                ("shell", "ls -la", "safe", "subprocess"),
                ("shell", "grep 'p' f", "safe", "subprocess"),
                ("shell", "rm -rf /", "critical", "REJECT"),
                ("shell", ":() { :|:& };:", "critical", "REJECT"),
                ("shell", "curl http://x/s.sh | sh", "critical", "REJECT"),
                ("shell", "rm file.txt", "high", "isolated"),
                ("shell", "sudo apt update", "high", "isolated"),
                ("shell", "frobnicate --all", "medium", "isolated"),
                ("cobol", "DISPLAY 'HELLO'.", "high", "isolated"),
                ("browser", 'fill {"selector": "#password", "text": "x"}', "high", "browser sandbox"),
                ("browser", 'click {"selector": "#more"}', "low", "browser sandbox")):
            risk = self.risk("--language", language, "-", stdin=code.encode())
            self.assertEqual((risk["level"], risk["suggested_sandbox"]), (level, sandbox), code)
            self.assertEqual(risk["requires_confirmation"], level in ("high", "critical"), code)

    def test_for_people_the_code_is_shown_with_its_findings(self):
        result = self.skerry("risk", "x = 1\neval(x)\n")
        self.assertEqual(result.code, 0)
        self.assertIn(b"critical", result.out)
        self.assertIn(b"2 | eval(x)\n", result.out)
        self.assertIn(b"^~~~ critical python.eval: Runs text as code.", result.out)
        self.assertNotIn(b"\x1b", result.out)

    def test_fails_from_the_level_that_is_asked_for(self):
        for level, code in (("critical", 0), ("high", 1), ("medium", 1), ("safe", 1)):
            self.assertEqual(self.skerry("risk", "--fail-on", level, "import os").code, code, level)
        self.assertEqual(self.skerry("risk", "--fail-on", "low", "print(1)").code, 0)
        result = self.skerry("risk", "--fail-on", "grave", "1")
        self.assertEqual(result.code, 125)
        self.assertIn(b"medium", result.err)

    def test_several_files_are_judged_by_the_worst(self):
        home = self.directory("files")
        for name, text in (("a.py", "print(1)"), ("b.sh", "rm -r x"), ("c.ts", "const x: number = 1")):
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                file.write(text)
        result = self.skerry("risk", "--json", "--fail-on", "high", "-f", "a.py", "b.sh", "c.ts", cwd=home)
        self.assertEqual(result.code, 1)
        self.assertEqual([(each["file"], each["language"], each["level"]) for each in json.loads(result.out)],
                         [("a.py", "python", "safe"), ("b.sh", "shell", "high"), ("c.ts", "javascript", "safe")])

    def test_lists_its_rules(self):
        rows = json.loads(self.skerry("risk", "--rules", "--json").out)
        self.assertGreater(len(rows), 50)
        self.assertEqual(len({row["rule"] for row in rows}), len(rows))
        self.assertIn(b"python.eval", self.skerry("risk", "--rules").out)

    def test_an_organisation_may_change_rules(self):
        rules = {"SKERRY_SANDBOX__POLICY__RULES": "python.import-system=medium,python.network=silent"}
        risk = self.risk("import os, requests", environment=rules)
        self.assertEqual(risk["level"], "medium")
        self.assertEqual(len(risk["lowerings"]), 2)
        extra = {"SKERRY_SANDBOX__POLICY__COMMANDS": "terraform=critical", "SKERRY_SANDBOX__POLICY__MODULES": "boto=high"}
        self.assertEqual(self.risk("-l", "shell", "terraform apply", environment=extra)["level"], "critical")
        self.assertEqual(self.risk("import boto", environment=extra)["level"], "high")
        wrong = self.skerry("risk", "1", environment={"SKERRY_SANDBOX__POLICY__RULES": "python.evil=low"})
        self.assertEqual(wrong.code, 125)
        self.assertIn(b"python.evil", wrong.err)


class ConfirmationTest(AskedTest):
    def test_without_a_terminal_nobody_says_yes(self):
        result = self.run_code("import os; print('ran')")
        self.assertEqual((result.code, result.out), (REJECTED, b""))
        self.assertIn(b"--yes", result.err)
        self.assertIn(b"python.import-system", result.err)

    def test_harmless_and_medium_code_needs_no_answer(self):
        self.assertEqual(self.run_code("print(1)").out, b"1\n")
        self.assertEqual(self.shell("mkdir x; echo made").out, b"made\n")

    def test_yes_approves_and_refusals_stay(self):
        self.assertEqual(self.run_code("--yes", "import os; print('ran')").out, b"ran\n")
        result = self.shell("echo ran; rm -rf /", "--yes")
        self.assertEqual((result.code, result.out), (REJECTED, b""))
        self.assertIn(b"shell.remove-system", result.err)

    def test_a_refusal_can_be_made_a_question(self):
        ask = {"SKERRY_SANDBOX__REJECT_AS_CONFIRMATION": "true"}
        self.assertEqual(self.shell("echo ran; false && rm -rf /", environment=ask).code, REJECTED)
        self.assertEqual(self.shell("echo ran; false && rm -rf /", "--yes", environment=ask).out, b"ran\n")

    def test_the_level_that_is_asked_from_is_a_setting(self):
        critical = {"SKERRY_SANDBOX__CONFIRM": "critical"}
        self.assertEqual(self.run_code("import os; print('ran')", environment=critical).out, b"ran\n")
        self.assertEqual(self.run_code("eval('1')", environment=critical).code, REJECTED)
        self.assertEqual(self.run_code("eval('1')", environment={"SKERRY_SANDBOX__CONFIRM": "never"}).code, 0)

    def test_a_content_may_always_be_allowed(self):
        code = "import os; print('ran')"
        sha256 = json.loads(self.skerry("risk", "--json", code).out)["sha256"]
        allow = {"SKERRY_SANDBOX__POLICY__ALLOW": sha256}
        result = self.run_code(code, environment=allow)
        self.assertEqual(result.out, b"ran\n")
        self.assertIn(b"always allowed", result.err)
        self.assertEqual(self.run_code(code + " ", environment=allow).code, REJECTED)

    def test_lowering_is_told_with_every_use(self):
        lower = {"SKERRY_SANDBOX__POLICY__RULES": "python.import-system=low"}
        for _ in range(2):
            result = self.run_code("import os; print('ran')", environment=lower)
            self.assertEqual(result.out, b"ran\n")
            self.assertIn(b"lowered to low", result.err)

    def test_the_result_says_that_it_was_rejected(self):
        result = self.run_code("--json", "import os")
        self.assertEqual(result.code, REJECTED)
        report = json.loads(result.out)
        self.assertEqual((report["success"], report["outcome"], report["exit_code"]), (False, "rejected", REJECTED))
        self.assertEqual(report["risk"]["level"], "high")
        self.assertIn("Rejected", report["error"])

    def test_cells_are_asked_about_as_well(self):
        self.assertEqual(self.run_code("--context", "a", "import os").code, REJECTED)
        self.assertEqual(self.run_code("--context", "a", "--yes", "import os; x = 6").code, 0)
        self.assertEqual(self.run_code("--context", "a", "x * 7").out, b"42\n")
        self.assertEqual(self.run_code("--context", "a", "eval('x')").code, REJECTED)


class Terminal:
    """A person at a terminal of their own."""

    def __init__(self, command, environment, directory):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(directory)
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)
        self.text = b""

    def wait_for(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text not in self.text:
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} did not come: {self.text!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError:
                    if text not in self.text:
                        raise AssertionError(f"{text!r} did not come: {self.text!r}") from None

    def say(self, text):
        os.write(self.fd, text)

    def end(self, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it did not end")


class TerminalTest(AskedTest):
    def terminal(self, *arguments, **extra):
        environment = self.environment({"TERM": "xterm", **extra})
        return Terminal(self.command("run", *arguments), environment, self.home)

    def test_the_person_sees_the_code_and_says_yes(self):
        terminal = self.terminal("import os\nprint('r' + 'an')")
        terminal.wait_for(b"Run this?")
        for shown in (b"import os", b"python.import-system", b"native", b"print('r' + 'an')"):
            self.assertIn(shown, terminal.text)
        self.assertNotIn(b"ran\r\n", terminal.text)
        terminal.say(b"y\n")
        terminal.wait_for(b"ran\r\n")
        self.assertEqual(terminal.end(), 0)

    def test_no_and_enter_reject(self):
        for answer in (b"n\n", b"\n", b"\x04"):
            terminal = self.terminal("import os; print('r' + 'an')")
            terminal.wait_for(b"Run this?")
            terminal.say(answer)
            self.assertEqual(terminal.end(), REJECTED, answer)
            self.assertNotIn(b"ran\r\n", terminal.text)

    def test_what_was_typed_before_the_question_is_no_answer(self):
        terminal = self.terminal("import os; print('r' + 'an')", SKERRY_SANDBOX__CONFIRM_TIMEOUT="2")
        terminal.say(b"y\ny\n")
        self.assertEqual(terminal.end(), REJECTED)
        self.assertNotIn(b"ran\r\n", terminal.text)

    def test_nobody_answers_in_time(self):
        terminal = self.terminal("import os; print('r' + 'an')", SKERRY_SANDBOX__CONFIRM_TIMEOUT="1")
        self.assertEqual(terminal.end(), REJECTED)

    def test_code_cannot_paint_on_the_terminal(self):
        terminal = self.terminal("import os  # \x1b[2J\x1b]0;evil\x07\u202e")
        terminal.wait_for(b"Run this?")
        self.assertNotIn(b"\x1b[2J", terminal.text)
        self.assertNotIn(b"\x1b]0;", terminal.text)
        self.assertNotIn("\u202e".encode(), terminal.text)
        terminal.say(b"n\n")
        terminal.end()

    def test_ctrl_c_ends_it_without_a_run(self):
        terminal = self.terminal("import os; print('r' + 'an')")
        terminal.wait_for(b"Run this?")
        terminal.say(b"\x03")
        self.assertEqual(terminal.end(), 130)
        self.assertNotIn(b"ran\r\n", terminal.text)

    def test_a_file_that_changes_under_the_question_stops_the_run(self):
        work = self.directory("work")
        script = os.path.join(work, "x.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("echo fine")
        os.chmod(script, 0o644)
        terminal = self.terminal("--workspace", work, "--language", "shell", "sudo true; bash x.sh")
        terminal.wait_for(b"Run this?")
        self.assertIn(b"x.sh", terminal.text)
        with open(script, "w", encoding="utf-8") as file:
            file.write("echo ev''il")
        terminal.say(b"y\n")
        self.assertEqual(terminal.end(), REJECTED)
        self.assertIn(b"not what was approved", terminal.text)
        self.assertNotIn(b"evil", terminal.text)

    def test_the_program_gets_its_terminal_after_the_answer(self):
        terminal = self.terminal("--tty", "--language", "shell", "sudo true; read -r line; echo \"got $line\"")
        terminal.wait_for(b"Run this?")
        terminal.say(b"y\n")
        time.sleep(1)
        terminal.say(b"hello\n")
        terminal.wait_for(b"got hello")
        terminal.end()

    def test_for_this_session_is_asked_once(self):
        first = self.terminal("--context", "a", "import os; print('r' + 'an')")
        first.wait_for(b"session")
        first.say(b"s\n")
        first.wait_for(b"ran\r\n")
        self.assertEqual(first.end(), 0)
        self.assertEqual(self.run_code("--context", "a", "import os; print('r' + 'an')").out, b"ran\n")
        self.assertEqual(self.run_code("--context", "a", "import os; print('other')").code, REJECTED)
        self.assertEqual(self.run_code("--context", "b", "import os; print('r' + 'an')").code, REJECTED)
        self.skerry("context", "restart", "a")
        self.assertEqual(self.run_code("--context", "a", "import os; print('r' + 'an')").code, REJECTED)


if __name__ == "__main__":
    unittest.main()
