"""The person's desk, in a real terminal: skerry approvals and skerry top, driven by keys in tmux."""
import concurrent.futures
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

import daemon
import harness

PROMPT = "ready>"
BUSY = 10  # percent of a core that a busy loop gets also beside others


def rows(text):
    """Without the empty ones below."""
    return text.rstrip("\n").split("\n")


class Screen:
    """A shell in a terminal of its own. What a person sees is `text`."""

    def __init__(self, test, columns=110, rows=40):
        self.test = test
        self.looks = 0
        self.socket = os.path.join(test.home, f"tmux-{time.monotonic_ns()}")
        shell = ["sh", "-c", f"PS1='{PROMPT} ' exec sh -i"]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), *shell)
        test.addCleanup(self.close)
        self.server = int(self.tmux("display-message", "-p", "#{pid}"))
        self.await_prompt()

    def tmux(self, *arguments):
        environment = self.test.own_environment({"SHELL": "/bin/sh", "TERM": "screen", "PAGER": "cat"})
        return subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], env=environment, check=True, timeout=20,
                              cwd=self.test.home, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")
        self.test.eventually(lambda: not os.path.exists(f"/proc/{self.server}") or self.reap())

    def reap(self):
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self.server, os.WNOHANG)[0] == self.server
        return False

    @property
    def text(self):
        return self.tmux("capture-pane", "-p")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, *arguments):
        self.await_prompt()
        self.type(" ".join([self.test.binary, *arguments]))
        self.press("Enter")

    def await_text(self, *wanted, seconds=20):
        return self.await_true(lambda text: all(each in text for each in wanted), seconds, wanted)

    def await_true(self, question, seconds=20, what=None):
        """The screen as soon as the question about it is true."""
        deadline = time.monotonic() + seconds
        while not question(text := self.text):
            if time.monotonic() > deadline:
                self.test.fail(f"not within {seconds} seconds: {what or question}; the screen:\n{text}")
            time.sleep(0.05)
        return text

    def await_prompt(self):
        """What is typed while a program ends is thrown away with what it did not read."""
        return self.await_true(lambda text: rows(text)[-1].rstrip() == PROMPT, what="a prompt")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def program(self):
        """The process that the shell runs."""
        shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        return next((int(pid) for pid in os.listdir("/proc") if pid.isdigit()
                     and harness.parent_and_name(int(pid))[0] == shell), None)

    def is_as_before(self):
        """Whether a shell in it shows what is typed, line by line, and has its cursor and its own screen."""
        self.looks += 1
        self.await_prompt()
        self.type(f"echo look-{self.looks}=$(stty -a | tr ';\\n' '  ' | grep -c -- ' icanon .* echo ')")
        self.press("Enter")
        self.await_text(f"look-{self.looks}=1")
        flags = self.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}").split()
        return flags == ["1", "0"]


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class DeskTest(daemon.DaemonTest):
    arguments = ()

    def setUp(self):
        super().setUp()
        self.people = concurrent.futures.ThreadPoolExecutor(8)
        self.addCleanup(self.people.shutdown)

    def ask(self, session, code="rm -rf x", **fields):
        """A run that waits for its answer; what came of it is its result."""
        fields = {"language": "shell", "approve": False, "patience": 30} | fields
        return self.people.submit(self.api.post, f"/v1/sessions/{session}/execute", code=code, **fields)

    def assert_ran(self, run):
        self.assertEqual((run.result().status, run.result().json["outcome"]), (200, "exited"))

    def assert_rejected(self, run, reason=""):
        self.assertEqual(run.result().json["outcome"], "rejected")
        self.assertIn(reason, run.result().json["error"])

    def waiting(self, count=1):
        def items():
            found = self.api.expect(200, "GET", "/v1/approvals")["items"]
            return found if len(found) == count else None
        return self.eventually(items, what=f"{count} questions")

    def cli(self, *arguments):
        return harness.Result(subprocess.run(self.program(*arguments), env=self.own_environment(), cwd=self.home,
                                             stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False))

    def checked(self, *arguments):
        result = self.cli(*arguments)
        self.assertEqual(result.code, 0, result.err)
        return result

    def clear(self):
        for item in self.api.expect(200, "GET", "/v1/approvals")["items"]:
            self.api.post(f"/v1/approvals/{item['id']}", decision="reject", digest=item["digest"])


class ApprovalsTest(DeskTest):
    """Without a terminal."""

    def setUp(self):
        super().setUp()
        self.session = self.make()
        self.addCleanup(self.clear)

    def test_nothing_waits(self):
        self.assertIn(b"nothing waits", self.checked("approvals").out)
        self.assertEqual(self.checked("approvals", "list", "--json").json, [])

    def test_a_question_is_listed_shown_and_approved(self):
        run = self.ask(self.session, "echo first\nrm -rf x\n")
        question = self.waiting()[0]
        listed = self.checked("approvals").out.decode()
        for part in (question["id"], self.session, "shell: echo first", "skerry approvals show"):
            self.assertIn(part, listed)
        self.assertEqual([row["id"] for row in self.checked("approvals", "list", "--json").json], [question["id"]])
        shown = self.checked("approvals", "show", question["id"]).out.decode()
        for part in ("2 | rm -rf x", "^~~~", "network        none", "limits", question["digest"], "left", "skerry approvals approve"):
            self.assertIn(part, shown)
        self.assertEqual(self.checked("approvals", "show", question["id"], "--json").json["code"], question["code"])
        said = self.checked("approvals", "approve", question["id"], "--digest", question["digest"]).out.decode()
        self.assertIn(f"{question['id']} approved once", said)
        self.assert_ran(run)
        self.assertEqual(run.result().json["stdout"], "first\n")

    def test_a_beginning_of_the_id_is_enough(self):
        run = self.ask(self.session)
        question = self.waiting()[0]
        result = self.checked("approvals", "reject", question["id"][:-6], "--reason", "not today", "--json").json
        self.assertEqual((result["id"], result["decision"]), (question["id"], "reject"))
        self.assert_rejected(run, "not today")

    def test_a_script_has_to_say_what_it_approves(self):
        run = self.ask(self.session)
        question = self.waiting()[0]
        refused = self.cli("approvals", "approve", question["id"])
        self.assertEqual(refused.code, 125)
        self.assertIn(b"--digest", refused.err)
        wrong = self.cli("approvals", "approve", question["id"], "--digest", "0" * 64)
        self.assertEqual(wrong.code, 125, wrong.err)
        self.assertFalse(run.done())
        self.checked("approvals", "approve", question["id"], "--yes")
        self.assert_ran(run)

    def test_an_approval_for_the_session_asks_no_more_there(self):
        run = self.ask(self.session)
        self.checked("approvals", "approve", self.waiting()[0]["id"], "--yes", "--session")
        self.assert_ran(run)
        self.assert_ran(self.ask(self.session))

    def test_an_answer_that_comes_too_late_ends_with_126(self):
        self.with_settings(SKERRY_SANDBOX__CONFIRM_TIMEOUT="4")
        session = self.make()
        run = self.ask(session)
        question = self.waiting()[0]
        self.assert_rejected(run)
        late = self.cli("approvals", "approve", question["id"], "--digest", question["digest"])
        self.assertEqual(late.code, 126, late.err)
        self.assertIn(b"too late", late.err)

    def test_those_that_are_over_tell_who_decided(self):
        run = self.ask(self.session)
        question = self.waiting()[0]
        self.checked("approvals", "reject", question["id"], "--reason", "not today")
        run.result()
        again = self.cli("approvals", "reject", question["id"])
        self.assertNotEqual(again.code, 0)
        self.assertIn(b"already", again.err)
        listed = self.checked("approvals", "list", "--all", "--session", self.session).out.decode()
        for part in (question["id"], "rejected", "local", "not today"):
            self.assertIn(part, listed)
        self.assertIn("not today", self.checked("approvals", "show", question["id"]).out.decode())

    def test_ids_that_are_none_are_told(self):
        for name in ("none", "../tokens", "a b"):
            result = self.cli("approvals", "show", name)
            self.assertEqual(result.code, 125)
            self.assertIn(b"there is no approval", result.err)

    def test_without_a_terminal_events_are_lines_of_json(self):
        watch = subprocess.Popen(self.program("approvals", "watch", "--once"), env=self.own_environment(),
                                 cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        asked = []

        def first_line():
            """Asks until somebody listens: a watch that has begun is not to be seen from outside."""
            asked.append(self.ask(self.session))
            self.waiting(len(asked))
            return watch.stdout.readline() if select.select([watch.stdout], [], [], 1)[0] else None
        requested = json.loads(self.eventually(first_line, what="an event"))
        self.assertEqual((requested["type"], requested["session_id"]), ("approval.requested", self.session))
        self.clear()
        types = {json.loads(line)["type"] for line in watch.stdout}
        self.assertIn("approval.decided", types)
        self.assertEqual(watch.wait(20), 0)


class WatchTest(DeskTest):
    """skerry approvals watch, by keys."""

    def setUp(self):
        super().setUp()
        self.session = self.make()
        self.addCleanup(self.clear)
        self.screen = Screen(self)

    def watch(self, *options):
        self.screen.run("approvals", "watch", *options)
        self.screen.await_text("nothing waits; q quits")

    def question(self, code="rm -rf x", **fields):
        """The run, and the screen once the question is on it and keys count."""
        run = self.ask(self.session, code, **fields)
        return run, self.await_keys()

    def await_keys(self, others=""):
        """The screen as soon as its last row offers them."""
        offer = re.compile(rf"^\[\w+ left{others}\] a once .* q quit$")
        return self.screen.await_true(lambda text: offer.match(rows(text)[-1]), what="keys")

    def test_a_approves_once(self):
        self.watch()
        run, text = self.question("echo said; rm -rf x")
        for part in ("high risk", f"session        {self.session}", "1 | echo said; rm -rf x", " left] a once",
                     "s session", "c content", "digest"):
            self.assertIn(part, text)
        self.screen.press("a")
        self.assertEqual(run.result().json["stdout"], "said\n")
        self.screen.await_text("approved once", "nothing waits; q quits")
        self.screen.press("q")
        self.assertTrue(self.screen.is_as_before())

    def test_s_approves_for_the_session(self):
        self.watch()
        run, _ = self.question()
        self.screen.press("s")
        self.assert_ran(run)
        self.assert_ran(self.ask(self.session))

    def test_r_rejects_with_a_reason(self):
        self.watch()
        run, _ = self.question()
        self.screen.press("r")
        self.screen.await_text("reason (Enter rejects")
        self.screen.type("not on my wach")
        self.screen.press("BSpace", "BSpace")
        self.screen.type("tch ✓")
        self.screen.await_text("not on my watch ✓")
        self.screen.press("Enter")
        self.assert_rejected(run, "not on my watch ✓")
        self.screen.await_text("rejected", "nothing waits")

    def test_escape_takes_the_no_back(self):
        self.watch()
        run, _ = self.question()
        self.screen.press("r")
        self.screen.await_text("reason (Enter rejects")
        self.screen.press("Escape")
        self.screen.await_true(lambda text: "reason (Enter rejects" not in text)
        self.await_keys()
        self.assertFalse(run.done())
        self.screen.press("a")
        self.assert_ran(run)

    def test_the_time_that_is_left_is_counted_down(self):
        self.watch()
        left = re.compile(r"\[(\w+) left")
        first = left.search(self.question()[1])[1]
        self.screen.await_true(lambda text: (found := left.search(text)) and found[1] != first, what="another time")

    def test_two_questions_and_the_next_one(self):
        self.watch()
        first, _ = self.question("rm -rf first")
        second = self.ask(self.session, "rm -rf second")
        self.screen.await_text("waits too")
        self.await_keys(", 1 more")
        self.screen.press("n")
        self.screen.await_text("1 | rm -rf second")
        self.await_keys(", 1 more")
        self.screen.press("a")
        self.assert_ran(second)
        self.assertFalse(first.done())

    def test_what_is_answered_elsewhere_vanishes_with_a_word(self):
        self.watch()
        run, _ = self.question()
        question = self.waiting()[0]
        self.checked("approvals", "reject", question["id"], "--reason", "from elsewhere")
        self.screen.await_text("was rejected by", "from elsewhere", "nothing waits")
        self.assert_rejected(run)

    def test_what_expires_vanishes_with_a_word(self):
        self.with_settings(SKERRY_SANDBOX__CONFIRM_TIMEOUT="5")
        self.session = self.make()
        self.watch()
        run, _ = self.question()
        self.screen.await_text("has expired", "nothing waits")
        self.assert_rejected(run)
        self.screen.press("q")
        self.screen.await_prompt()

    def test_once_ends_after_the_first(self):
        self.watch("--once")
        run, _ = self.question()
        self.screen.press("a")
        self.screen.await_text("approved once", PROMPT)
        self.assert_ran(run)
        self.assertTrue(self.screen.is_as_before())

    def test_v_shows_the_whole(self):
        self.watch()
        self.question("rm -rf x  # the whole")
        self.screen.press("v")
        self.screen.await_true(lambda text: text.count("1 | rm -rf x  # the whole") == 2)

    def test_only_questions_of_the_session_that_is_named(self):
        other = self.make()
        self.watch("--session", self.session)
        self.ask(other, "rm -rf elsewhere")
        self.waiting()
        self.question("rm -rf here")
        self.assertNotIn("elsewhere", self.screen.text)

    def test_hostile_text_moves_nothing_and_is_no_prompt(self):
        fake = "[9m59s left] a once  s session  c content  r reject  n next  v view  q quit"
        hostile = f"rm -rf x\n# \x1b[2J\x1b[H\x1b]0;stolen\x07{fake}\r{fake}\n# \u202e\u200b{'x' * 300}{fake}\n{fake}\n"
        self.watch()
        before = self.screen.tmux("display-message", "-p", "#{pane_title}")
        run, text = self.question(hostile)
        self.assertIn("\\u001b[2J\\u001b[H", text)
        self.assertIn("\\u202e\\u200b", text)
        self.assertEqual(self.screen.tmux("display-message", "-p", "#{pane_title}"), before)
        ours = [row for row in text.split("\n") if row.startswith("[")]
        self.assertEqual(len(ours), 1, text)
        self.assertNotIn("9m59s", ours[0])
        self.assertEqual(rows(text)[-1], ours[0])
        self.screen.press("r", "Enter")
        self.assert_rejected(run)

    def test_keys_that_were_typed_before_do_not_answer(self):
        self.watch()
        self.screen.type("aaaaaaaa")
        run, _ = self.question()
        self.assertFalse(run.done())

    def test_a_lost_connection_is_told_and_made_again(self):
        self.watch()
        self.daemon.kill()
        self.screen.await_text("the connection to the daemon was lost; trying again")
        type(self).start()
        self.api = self.daemon.api
        self.screen.await_text("connected again", "nothing waits")
        run, _ = self.question()
        self.screen.press("a")
        self.assert_ran(run)

    def test_approve_shows_it_and_asks(self):
        run = self.ask(self.session)
        question = self.waiting()[0]
        self.screen.run("approvals", "approve", question["id"])
        self.screen.await_text("1 | rm -rf x", "Approve this once? [y] yes, [N] no:")
        self.screen.press("Enter")
        self.screen.await_text("nothing was answered")
        self.assertFalse(run.done())
        self.screen.run("approvals", "approve", question["id"])
        self.screen.await_true(lambda text: text.count("Approve this once? [y] yes, [N] no:") == 2)
        self.screen.press("y", "Enter")
        self.assert_ran(run)

    def test_a_signal_gives_the_terminal_back(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.watch()
            os.kill(self.screen.program(), number)
            self.screen.await_true(lambda _: self.screen.program() is None)
            self.assertTrue(self.screen.is_as_before())


class TopTest(DeskTest):
    """skerry top, by keys."""

    def busy(self):
        session = self.make()
        self.start_command(session, "while :; do :; done")
        return session

    def large(self):
        """Much memory and hardly any CPU."""
        session = self.make()
        code = "python3 -c 'x = bytearray(150 << 20); import time; time.sleep(1000)'"
        self.start_command(session, code)
        return session

    def usage(self, session):
        items = [item for item in self.checked("top", "--json").json if item["session_id"] == session]
        return items[0]["usage"] if items and items[0]["usage"] else None

    @staticmethod
    def order(text, *sessions):
        """The sessions as they stand on the screen."""
        found = sorted((text.find(session), session) for session in sessions)
        return [session for at, session in found if at >= 0]

    def test_it_is_printed_once_without_a_terminal(self):
        session = self.busy()
        self.eventually(lambda: (self.usage(session) or {"cpu_percent": 0})["cpu_percent"] > BUSY, seconds=20)
        text = self.checked("top").out.decode()
        self.assertNotIn("\x1b", text)
        self.assertRegex(text.split("\n")[0], r"^skerry top   1 sandbox   CPU \d+ %")
        self.assertRegex(text, rf"\n{session[:17]}")
        self.assertEqual(self.checked("top", "--json", "--session", "none").json, [])
        self.assertEqual(self.cli("top", "--sort", "beauty").code, 125)

    def test_a_busy_loop_is_seen_sorted_and_ended(self):
        busy, large = self.busy(), self.large()
        self.eventually(lambda: (self.usage(large) or {"memory_bytes": 0})["memory_bytes"] > 100 << 20, seconds=30)
        screen = Screen(self, columns=140)
        screen.type("echo before-top")
        screen.press("Enter")
        screen.await_text("\nbefore-top")
        screen.run("top")
        row = re.compile(rf"^{busy[:17]}\S* +\w+ +(\d+) ", re.M)
        text = screen.await_true(lambda text: (found := row.search(text)) and int(found[1]) > BUSY, what="a busy row")
        self.assertNotIn("before-top", text)
        self.assertIn("while :; do :; done", text)
        self.assertIn("2 sandboxes", text)
        self.assertEqual(self.order(text, busy, large), [busy, large])
        screen.press("m")
        text = screen.await_true(lambda text: self.order(text, busy, large) == [large, busy], what="by memory")
        self.assertIn("MEM*", text)
        screen.press("c")
        screen.await_true(lambda text: self.order(text, busy, large) == [busy, large], what="by CPU")

        screen.press("k", "k", "k", "Enter")
        screen.await_text(f"session    {busy}", "% of a core", "Enter goes back")
        screen.press("Enter")
        screen.await_text("CPU%*")
        screen.press("K")
        screen.await_text(f"End everything that runs in {busy}? y or n")
        screen.press("n")
        screen.await_true(lambda text: "End everything" not in text)
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{busy}")["running"], 1)
        screen.press("K")
        screen.await_text(f"End everything that runs in {busy}? y or n")
        screen.press("y")
        screen.await_text(f"ended what ran in {busy}", "1 sandbox ")
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{busy}")["running"], 0)

        screen.press("q")
        screen.await_text("before-top", PROMPT)
        self.assertTrue(screen.is_as_before())

    def test_the_window_may_change(self):
        screen = Screen(self, columns=140)
        screen.run("top")
        screen.await_text("no sandboxes", "q quits, ? helps")
        screen.resize(50, 12)
        # Until it is drawn again, the last rows of the larger one are seen.
        screen.await_true(lambda text: len(found := rows(text)) == 12 and "skerry top" in found[0]
                          and "q quits" in found[11], what="all of it in twelve rows")
        screen.press("?")
        screen.await_text("this, and back")
        screen.press("q")
        screen.await_text(PROMPT)

    def test_waiting_questions_are_counted(self):
        session = self.make()
        self.addCleanup(self.clear)
        self.ask(session)
        self.waiting()
        screen = Screen(self)
        screen.run("top")
        screen.await_text("1 approval waits")
        screen.press("q")

    def test_it_stays_while_the_daemon_is_away(self):
        screen = Screen(self)
        screen.run("top")
        screen.await_text("q quits, ? helps")
        type(self).stop()
        screen.await_text("no news: ")
        type(self).start()
        self.api = self.daemon.api
        screen.await_true(lambda text: "no news" not in text and "q quits" in text)
        screen.press("q")
        screen.await_text(PROMPT)

    def test_signals_give_the_terminal_back(self):
        screen = Screen(self)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGABRT):
            screen.run("top")
            screen.await_text("q quits, ? helps")
            os.kill(screen.program(), number)
            screen.await_true(lambda _: screen.program() is None)
            self.assertTrue(screen.is_as_before(), number)

    def test_it_can_be_stopped_and_go_on(self):
        screen = Screen(self)
        screen.run("top")
        screen.await_text("q quits, ? helps")
        screen.press("C-z")
        screen.await_true(lambda text: "Stopped" in text and text.rstrip().endswith(PROMPT))
        screen.type("fg")
        screen.press("Enter")
        screen.await_true(lambda text: "q quits, ? helps" in text and "Stopped" not in text)
        screen.press("q")
        screen.await_text(PROMPT)
        self.assertTrue(screen.is_as_before())


if __name__ == "__main__":
    harness.main()
