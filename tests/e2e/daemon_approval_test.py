"""A person's yes, over the real WebSocket, and everybody who would like to have it for something else (ATTACKS J15, J17)."""
import contextlib
import hashlib
import json
import os
import signal
import threading
import time

import daemon
import harness

RISKY = "import shutil\nshutil.rmtree('/workspace/tree')\nprint('ran')"
SCRIPT = b"rm -rf /workspace/tree\necho ran\n"


class StreamOver(Exception):
    """The daemon ended it."""


class Desk:
    """Somebody who follows along and decides. Each message is held against the contract."""

    def __init__(self, client, query=""):
        self.socket = client.websocket("/v1/events" + query)
        if self.socket.status != 101:
            raise AssertionError(self.socket.head)
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def read(self):
        opcode, payload = self.socket.frame()
        if opcode == 8:
            raise StreamOver(payload)
        if opcode != 1:
            raise AssertionError(f"frame {opcode}: {payload!r}")
        message = json.loads(payload)
        schema = "Event" if "sequence" in message and message["type"] not in ("gap", "dropped") else "StreamNotice"
        if problems := daemon.CONTRACT.problems(daemon.CONTRACT.named(schema), message):
            raise AssertionError(f"{message}: {problems}")
        self.seen.append(message)
        return message

    def until(self, kind, /, **wanted):
        """The first message of this type that has these fields."""
        while True:
            message = self.read()
            if message["type"] == kind and all(message.get(name) == value for name, value in wanted.items()):
                return message

    def decide(self, question, decision="approve", **more):
        """What the daemon says to it."""
        fields = {"approval_id": question["approval_id"], "decision": decision, "digest": question["digest"]} | more
        self.socket.say(type="decide", **fields)
        while True:
            message = self.read()
            if message["type"] in ("decision", "refused") and message["approval_id"] == fields["approval_id"]:
                return message


class Asking:
    """A request that waits for a person in another thread."""

    def __init__(self, client, path, **fields):
        self.answers = []
        self.thread = threading.Thread(target=lambda: self.answers.append(client.post(path, patience=90, **fields)))
        self.thread.start()

    def answer(self):
        self.thread.join()
        return self.answers[0]


class ApprovalTest(daemon.DaemonTest):
    def prepared(self, **fields):
        session = self.make(**fields)
        self.put_file(session, "tree/f", b"1")
        return session

    def ask(self, session, code=RISKY, client=None, **fields):
        asking = Asking(client or self.api, f"/v1/sessions/{session}/execute", code=code, **fields)
        self.addCleanup(asking.thread.join)
        return asking

    def command(self, session, text):
        asking = Asking(self.api, f"/v1/sessions/{session}/commands", command=text)
        self.addCleanup(asking.thread.join)
        return asking

    def assert_untouched(self, session):
        self.assertEqual(self.get_file(session, "tree/f"), b"1")


class DecideTest(ApprovalTest):
    def test_a_yes_over_the_websocket_lets_it_run_once(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            self.assertNotIn(RISKY, json.dumps(question))
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertEqual((shown["code"], shown["digest"], shown["state"]), (RISKY, question["digest"], "waiting"))
            waiting = self.api.expect(200, "GET", f"/v1/executions/{question['execution_id']}")
            self.assertEqual(waiting["state"], "waiting")
            self.assertGreater(waiting["approval"]["remaining_seconds"], 0)
            self.assertEqual(desk.decide(question)["type"], "decision")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            decided = next((each for each in desk.seen if each["type"] == "approval.decided"), None)
            decided = decided or desk.until("approval.decided")
            self.assertEqual((decided["decision"], decided["scope"]), ("approved", "once"))
            ended = desk.until("execution.ended", session_id=session)
            self.assertEqual(ended["execution_id"], question["execution_id"])
            # What was approved once is asked about again.
            self.put_file(session, "tree/f", b"1")
            second = self.ask(session)
            again = desk.until("approval.requested", session_id=session)
            self.assertNotEqual(again["approval_id"], question["approval_id"])
            desk.decide(again, "reject", reason="once is enough")
            self.assertIn("once is enough", second.answer().body.decode())
        self.assert_untouched(session)

    def test_who_decided_when_and_from_where_is_kept(self):
        session = self.prepared()
        token = self.daemon.issue(name="person", tenant="local", scopes=["approve"])
        with Desk(self.daemon.tcp(token["token"])) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested")
            desk.decide(question, "reject", reason="not today")
            asking.answer()
        kept = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
        self.assertEqual((kept["state"], kept["decided_by"], kept["reason"]), ("rejected", token["id"], "not today"))
        self.assertIn("127.0.0.1", kept["decided_from"])
        self.assertIsNotNone(kept["decided_at"])
        listed = self.api.expect(200, "GET", "/v1/approvals", query={"state": "decided", "session": session})["items"]
        self.assertEqual([each["id"] for each in listed], [question["approval_id"]])

    KNOWN = RISKY + "  # known from now on"

    def test_for_this_content_it_is_asked_once_in_all_sessions_of_the_tenant(self):
        first, second = self.prepared(), self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(first, self.KNOWN)
            question = desk.until("approval.requested", session_id=first)
            desk.decide(question, scope="content")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            self.assertEqual(self.ask(second, self.KNOWN).answer().json["stdout"], "ran\n")
            # Other content, another tenant: asked.
            for client, session, code in ((self.api, self.prepared(), self.KNOWN + " "), self.of_another_tenant()):
                waits = self.ask(session, code, client)
                asked = desk.until("approval.requested", session_id=session)
                desk.decide(asked, "reject")
                self.assertNotIn("ran", waits.answer().json.get("stdout", ""))

    def of_another_tenant(self):
        client = self.daemon.tcp(self.daemon.issue(tenant="other", scopes=["run", "approve"])["token"])
        session = client.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        self.addCleanup(self.remove, session)
        return client, session, self.KNOWN

    def test_without_the_scope_nobody_decides_and_nobody_else_hears(self):
        session = self.prepared()
        reader = self.daemon.tcp(self.daemon.issue(tenant="local", scopes=["read", "run"])["token"])
        stranger = self.daemon.tcp(self.daemon.issue(tenant="elsewhere", scopes=["approve"])["token"])
        with Desk(self.api) as desk, Desk(reader) as reading, Desk(stranger) as elsewhere:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            self.assertEqual(reading.decide(question)["status"], 403)
            self.assertEqual(elsewhere.decide(question)["status"], 404)
            self.assertEqual([each["type"] for each in elsewhere.seen], ["refused"])
            self.assert_untouched(session)
            desk.decide(question, "reject")
            asking.answer()

    def test_what_is_no_decision_is_refused_and_the_stream_goes_on(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            for text in (b"", b"null", b"[]", b'{"type":"decide"}', b'{"type":"approve"}', b"\xff", b"{" * 5000,
                         json.dumps({"type": "decide", "approval_id": question["approval_id"], "decision": "approve",
                                     "digest": question["digest"], "extra": 1}).encode(),
                         json.dumps({"type": "decide", "approval_id": question["approval_id"], "decision": "approve",
                                     "digest": question["digest"].upper()}).encode()):
                desk.socket.send(2, text)
                self.assertEqual(desk.until("refused")["status"], 400, text)
            self.assert_untouched(session)
            self.assertEqual(desk.decide(question, "reject")["type"], "decision")
            asking.answer()

    def test_a_token_that_was_revoked_decides_nothing_more(self):
        session = self.prepared()
        token = self.daemon.issue(tenant="local", scopes=["approve"])
        with Desk(self.daemon.tcp(token["token"])) as desk, Desk(self.api) as own:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            self.api.delete(f"/v1/tokens/{token['id']}")
            with contextlib.suppress(StreamOver, EOFError, OSError):  # it may end first
                self.assertEqual(desk.decide(question)["status"], 401)
            self.assert_untouched(session)
            self.assertEqual(own.decide(question, "reject")["type"], "decision")
            asking.answer()

    def test_the_decision_is_there_before_the_run(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            desk.decide(question)
            asking.answer()
        records = self.audit()
        mine = [each["event"] for each in records if each.get("execution_id") == question["execution_id"]]
        self.assertLess(mine.index("approval.decided"), mine.index("run.ended"))

    def audit(self):
        directory = os.path.join(self.home, ".skerry", "daemon", "audit")
        lines = []
        for name in sorted(os.listdir(directory)):
            if name.endswith(".jsonl"):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    lines += [json.loads(line) for line in file]
        return lines


class ReplayTest(ApprovalTest):
    """J17."""

    def test_an_answer_counts_once(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            self.assertEqual(desk.decide(question)["type"], "decision")
            self.assertEqual(desk.decide(question)["type"], "refused")
            asking.answer()
            self.put_file(session, "tree/f", b"1")
            second = self.ask(session)
            again = desk.until("approval.requested", session_id=session)
            refused = desk.decide(question)
            self.assertEqual(refused["type"], "refused")
            self.assertIn(refused["status"], (404, 409, 410))
            self.assert_untouched(session)
            desk.decide(again, "reject")
            second.answer()
        self.assert_untouched(session)

    def test_a_yes_for_one_session_is_none_for_another(self):
        first, second = self.prepared(), self.prepared()
        with Desk(self.api) as desk:
            asking, waits = self.ask(first), self.ask(second)
            questions = {}
            while len(questions) < 2:
                question = desk.until("approval.requested")
                questions[question["session_id"]] = question
            mine, theirs = questions[first], questions[second]
            self.assertNotEqual(mine["digest"], theirs["digest"])
            crossed = desk.decide(mine | {"digest": theirs["digest"]})
            self.assertEqual((crossed["type"], crossed["status"]), ("refused", 409))
            desk.decide(mine, scope="session")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            self.assert_untouched(second)
            desk.decide(theirs, "reject")
            waits.answer()
            # What the first session was given is nothing for a new one.
            third = self.prepared()
            asked = self.ask(third)
            desk.decide(desk.until("approval.requested", session_id=third), "reject")
            asked.answer()
            self.assert_untouched(third)

    def test_the_sandbox_cannot_approve(self):
        session = self.prepared()
        port = self.daemon.port
        spy = ("import os, socket\n"
               "def tried(act):\n"
               "    try: act(); return 'reached'\n"
               "    except OSError as error: return type(error).__name__\n"
               f"print(tried(lambda: socket.create_connection(('127.0.0.1', {port}), 2)))\n"
               f"print(tried(lambda: socket.socket(socket.AF_UNIX).connect({self.daemon.socket_path!r})))\n"
               f"print(os.path.exists({os.path.dirname(self.daemon.socket_path)!r}))\n"
               "print([name for name in os.environ if 'TOKEN' in name or 'SKERRY_URL' in name])\n")
        seen = self.execute(spy, session, language="python")["stdout"].splitlines()
        self.assertNotIn("reached", seen)
        self.assertEqual(seen[2:], ["False", "[]"])


class ExpiryTest(ApprovalTest):
    settings = {"SKERRY_SANDBOX__CONFIRM_TIMEOUT": "2"}

    def test_after_its_time_a_yes_is_refused(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            decided = desk.until("approval.decided", approval_id=question["approval_id"])
            self.assertEqual(decided["decision"], "expired")
            late = desk.decide(question)
            self.assertEqual((late["type"], late["status"]), ("refused", 410))
            asking.answer()
        self.assert_untouched(session)
        self.assertEqual(self.ended(question["execution_id"])["result"]["outcome"], "rejected")
        kept = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
        self.assertEqual(kept["state"], "expired")

    def test_with_nobody_there_it_waits_and_is_rejected(self):
        session = self.prepared()
        began = time.monotonic()
        answer = self.ask(session).answer()
        self.assertGreater(time.monotonic() - began, 1.9)
        self.assertNotIn("ran", answer.json.get("stdout", ""))
        self.assert_untouched(session)


class ChangedTest(ApprovalTest):
    """J15: a yes never reaches what differs from what was shown."""

    def asked(self, desk, session, make):
        asking = make()
        return asking, desk.until("approval.requested", session_id=session)

    def assert_refused(self, asking):
        answer = asking.answer()
        self.assertIn(answer.status, (200, 409), answer.body)
        self.assertNotIn("ran", answer.json.get("stdout", ""))
        self.assertIn("changed", answer.body.decode())

    def test_a_script_that_was_rewritten(self):
        session = self.prepared()
        self.put_file(session, "x.sh", SCRIPT)
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.command(session, "bash x.sh && rm -rf nothing"))
            self.put_file(session, "x.sh", b"rm -rf /workspace/tree /workspace/more\necho ran\n")
            desk.decide(question)
            self.assert_refused(asking)
        self.assert_untouched(session)

    def test_a_script_that_something_in_the_sandbox_rewrote(self):
        session = self.prepared()
        self.put_file(session, "x.sh", SCRIPT)
        with Desk(self.api) as desk:
            # Beside what waits something runs, and writes.
            self.start_command(session, "while [ ! -e go ]; do sleep 0.05; done; echo 'echo ran; rm -r tree' > x.sh; touch did")
            asking, question = self.asked(desk, session, lambda: self.command(session, "bash x.sh && rm -rf nothing"))
            self.put_file(session, "go", b"")
            self.eventually(lambda: self.api.get(f"/v1/sessions/{session}/files/content",
                                                 query={"path": "did"}).status == 200)
            desk.decide(question)
            self.assert_refused(asking)
        self.assert_untouched(session)

    def test_a_script_that_became_a_link_to_another(self):
        session = self.prepared()
        self.put_file(session, "x.sh", SCRIPT)
        self.put_file(session, "other.sh", SCRIPT + b"# another\n")
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.command(session, "bash x.sh && rm -rf nothing"))
            self.execute("ln -sf other.sh x.sh", session)
            desk.decide(question)
            self.assert_refused(asking)
        self.assert_untouched(session)

    def test_a_file_that_code_names(self):
        session = self.prepared()
        self.put_file(session, "job.py", b"print('fine')\n")
        code = "import shutil, runpy\nshutil.rmtree('/workspace/tree')\nrunpy.run_path('job.py')\nprint('ran')"
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.ask(session, code))
            self.put_file(session, "job.py", b"print('evil')\n")
            desk.decide(question)
            self.assert_refused(asking)
        self.assert_untouched(session)

    def test_a_script_in_the_directory_where_it_begins(self):
        session = self.prepared()
        for path in ("x.sh", "sub/x.sh"):
            self.put_file(session, path, SCRIPT)
        with Desk(self.api) as desk:
            for fields in ({"command": "sh x.sh; rm -rf nothing", "directory": "sub"},
                           {"command": "cd sub; sh x.sh; rm -rf nothing"},
                           {"command": "cd $PLACE; sh x.sh; rm -rf nothing", "environment": {"PLACE": "/workspace/sub"}}):
                asking = Asking(self.api, f"/v1/sessions/{session}/commands", **fields)
                question = desk.until("approval.requested", session_id=session)
                self.put_file(session, "sub/x.sh", b"echo ran " + json.dumps(fields).encode() + b"\n")
                desk.decide(question)
                self.assert_refused(asking)
        self.assert_untouched(session)

    def test_a_script_behind_a_link_with_a_whole_path(self):
        session = self.prepared()
        self.put_file(session, "real.sh", SCRIPT)
        self.execute("ln -s /workspace/real.sh link.sh", session)
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.command(session, "sh link.sh; rm -rf nothing"))
            self.put_file(session, "real.sh", b"echo ran\n")
            desk.decide(question)
            self.assert_refused(asking)
        self.assert_untouched(session)

    def test_what_names_too_much_is_said_and_is_no_content(self):
        session = self.prepared()
        words = " ".join(f"w{number}" for number in range(30000))
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.ask(session, f"# {words}\n{RISKY}"))
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertIn("beware", dict(shown["conditions"]))
            self.assertNotIn("content", shown["scopes"])
            self.assertEqual(desk.decide(question, scope="content")["status"], 400)
            desk.decide(question, "reject")
            asking.answer()

    def test_other_input_is_another_question(self):
        code = "import shutil, sys\nshutil.rmtree('/workspace/tree')\nexec(sys.stdin.read())"
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session, code, stdin="print('nice')")
            question = desk.until("approval.requested", session_id=session)
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertIn(hashlib.sha256(b"print('nice')").hexdigest(), dict(shown["conditions"])["input"])
            desk.decide(question, scope="content")
            self.assertEqual(asking.answer().json["stdout"], "nice\n")
            self.put_file(session, "tree/f", b"1")
            waits = self.ask(session, code, stdin="print('evil')")
            desk.decide(desk.until("approval.requested", session_id=session), "reject")
            waits.answer()
        self.assert_untouched(session)

    def test_a_dry_run_is_not_the_real_one(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session, dry_run=True)
            desk.decide(desk.until("approval.requested", session_id=session), scope="session")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            waits = self.ask(session)
            desk.decide(desk.until("approval.requested", session_id=session), "reject")
            waits.answer()
        self.assert_untouched(session)

    def test_a_cell_whose_names_got_another_meaning(self):
        session = self.prepared()
        base = f"/v1/sessions/{session}/contexts"
        self.api.expect(201, "POST", base, name="c")
        cell = f"{base}/c/execute"
        self.api.expect(200, "POST", cell, code="import os; cmd = 'echo fine'", approve=True)
        risky = "import shutil; shutil.rmtree('/workspace/none', True); print(os.popen(cmd).read())"
        with Desk(self.api) as desk:
            asking = Asking(self.api, cell, code=risky)
            question = desk.until("approval.requested", session_id=session)
            self.api.expect(200, "POST", cell, code="cmd = 'echo ran'", approve=True)
            desk.decide(question)
            self.assertNotIn("ran\\n", json.dumps(asking.answer().json))

    def test_what_did_not_change_runs(self):
        session = self.prepared()
        self.put_file(session, "x.sh", SCRIPT)
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, lambda: self.command(session, "bash x.sh && rm -rf nothing"))
            desk.decide(question)
            self.assertEqual(asking.answer().json["stdout"], "ran\n")

    def test_another_environment_is_another_question(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session, environment={"MODE": "a"})
            first = desk.until("approval.requested", session_id=session)
            desk.decide(first, scope="session")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            for changed in ({"environment": {"MODE": "b"}}, {"environment": {}}, {"timeout": 7}, {"directory": "tree"},
                            {"max_memory_mb": 100}, {"stdin": "x"}):
                self.put_file(session, "tree/f", b"1")
                waits = self.ask(session, **changed)
                question = desk.until("approval.requested", session_id=session)
                self.assertNotEqual(question["digest"], first["digest"], changed)
                desk.decide(question, "reject")
                waits.answer()
                self.assert_untouched(session)


LEASED = """import fcntl, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
leased = os.open("good.sh", os.O_RDWR)
fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_WRLCK)
open("holds", "w").close()
time.sleep(600)
"""
MAPPED = """import mmap, os, time
file = os.open("good.sh", os.O_RDWR)
view = mmap.mmap(file, 0)
view[5:9] = view[5:9]  # dirty: what is stored from now on changes no time stamp
open("holds", "w").close()
while not os.path.exists("go"): time.sleep(0.05)
view[5:9] = b"EVIL"
open("did", "w").close()
time.sleep(600)
"""
GOOD = b"echo GOOD\n"


class WhatRunsTest(ApprovalTest):
    """What was shown is what runs, whoever else has the session."""

    settings = {"SKERRY_SANDBOX__CONFIRM_TIMEOUT": "60"}
    RUN = "bash good.sh && rm -rf nothing"

    def is_there(self, session, path):
        return self.api.get(f"/v1/sessions/{session}/files/content", query={"path": path}).status == 200

    def beside(self, session, program):
        """Something that goes on in the session."""
        self.put_file(session, "beside.py", program.encode())
        execution = self.start_command(session, "python3 beside.py")
        self.eventually(lambda: self.is_there(session, "holds"), 30)
        return execution

    def assert_not_run(self, asking, reason):
        answer = asking.answer()
        self.assertEqual(answer.json["outcome"], "rejected", answer.body)
        self.assertEqual(answer.json["stdout"], "")
        self.assertIn(reason, answer.body.decode())

    def test_a_file_that_cannot_be_read_cannot_be_approved(self):
        session = self.prepared()
        self.put_file(session, "good.sh", GOOD)
        self.beside(session, LEASED)
        asking = self.command(session, self.RUN)
        self.assert_not_run(asking, "good.sh")
        self.assertIn("lease", asking.answer().body.decode())

    def test_a_store_that_changes_no_time_stamp_is_seen(self):
        session = self.prepared()
        self.put_file(session, "good.sh", GOOD + b"# " + b"x" * (65 << 20))
        mapper = self.beside(session, MAPPED)
        with Desk(self.api) as desk:
            asking = self.command(session, self.RUN)
            question = desk.until("approval.requested", session_id=session)
            self.put_file(session, "go", b"")
            self.eventually(lambda: self.is_there(session, "did"), 30)
            self.api.post(f"/v1/executions/{mapper}/cancel")
            self.ended(mapper)
            desk.decide(question)
            self.assert_not_run(asking, "changed")

    def test_what_is_larger_than_can_be_looked_at_cannot_be_approved(self):
        session = self.prepared()
        self.execute("truncate -s 600M good.sh", session)
        self.assert_not_run(self.command(session, self.RUN), "good.sh")

    def test_nothing_starts_beside_programs_that_could_exchange_its_files(self):
        session = self.prepared()
        self.put_file(session, "good.sh", GOOD)
        self.execute("(while :; do sleep 0.1; done) > /dev/null 2>&1 &", session)
        with Desk(self.api) as desk:
            asking = self.command(session, self.RUN)
            question = desk.until("approval.requested", session_id=session)
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertIn("alone", dict(shown["conditions"]))
            desk.decide(question)
            self.assert_not_run(asking, "other programs")

    def init_of(self, session):
        """The host's number of the first process of the session's sandbox."""
        self.start_command(session, "sleep 7654321")

        def sleeping():
            return [pid for pid in os.listdir("/proc") if pid.isdigit() and self.words_of(pid) == [b"sleep", b"7654321"]]

        space = os.readlink(f"/proc/{self.eventually(sleeping)[0]}/ns/pid")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                    numbers = next(line for line in status if line.startswith("NSpid:")).split()
                if numbers[-1] == "1" and os.readlink(f"/proc/{pid}/ns/pid") == space:
                    return int(pid)
        return self.fail("the sandbox has no init")

    @staticmethod
    def words_of(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[:-1]
        return []

    def test_another_sandbox_in_the_place_of_a_lost_one_is_looked_at(self):
        session = self.prepared()
        self.put_file(session, "good.sh", GOOD)
        with Desk(self.api) as desk:
            asking = self.command(session, self.RUN)
            question = desk.until("approval.requested", session_id=session)
            os.kill(self.init_of(session), signal.SIGKILL)
            # The first may find out that the sandbox is lost.
            self.eventually(lambda: self.execute("echo echo EVIL > good.sh", session)["success"])
            desk.decide(question)
            self.assert_not_run(asking, "changed")

    SLOW = b"touch up\nsleep 2\nrm -f up\n. ./late.sh\n"

    def approved_slow_run(self, session, meanwhile):
        """What it wrote, with something done to the session while it runs."""
        self.put_file(session, "good.sh", self.SLOW)
        self.put_file(session, "late.sh", GOOD)
        with Desk(self.api) as desk:
            asking = self.command(session, self.RUN)
            desk.decide(desk.until("approval.requested", session_id=session))
            self.eventually(lambda: self.is_there(session, "up") or asking.answers, 30)
            meanwhile()
            return asking.answer().json["stdout"]

    def test_the_file_api_waits_for_what_was_approved(self):
        session = self.prepared()

        def write():
            answer = self.api.request("PUT", f"/v1/sessions/{session}/files/content", body=b"echo EVIL\n",
                                      query={"path": "late.sh"})
            self.assertIn(answer.status, (200, 409), answer.body)

        self.assertEqual(self.approved_slow_run(session, write), "GOOD\n")

    def test_other_commands_wait_for_what_was_approved(self):
        session = self.prepared()

        def write():
            self.execute("echo echo EVIL > late.sh", session)

        self.assertEqual(self.approved_slow_run(session, write), "GOOD\n")
        self.assertEqual(self.get_file(session, "late.sh"), b"echo EVIL\n")

    def test_a_name_that_nobody_had_is_taken_by_nobody_meanwhile(self):
        session = self.prepared()
        code = ("import shutil, time\nshutil.rmtree('/workspace/tree')\nopen('up', 'w').close()\ntime.sleep(2)\n"
                "try:\n    import colorsys; print(colorsys.__file__[:5])\nexcept Exception: print('EVIL')")
        with Desk(self.api) as desk:
            asking = self.ask(session, code)
            desk.decide(desk.until("approval.requested", session_id=session))
            self.eventually(lambda: self.is_there(session, "up") or asking.answers, 30)
            self.api.request("PUT", f"/v1/sessions/{session}/files/content", body=b"raise Exception()\n",
                             query={"path": "colorsys.py"})
            self.assertEqual(asking.answer().json["stdout"], "/usr/\n")

    def test_compiled_files_count_as_what_they_are_of(self):
        session = self.prepared()
        self.put_file(session, "job.py", b"pass\n")
        self.put_file(session, "__pycache__/job.cpython-311.pyc", b"one")
        with Desk(self.api) as desk:
            asking = self.ask(session, "import shutil, job\nshutil.rmtree('/workspace/tree')\nprint('ran')")
            question = desk.until("approval.requested", session_id=session)
            self.put_file(session, "__pycache__/job.cpython-311.pyc", b"two")
            desk.decide(question)
            self.assert_not_run(asking, "changed")

    def test_what_a_tool_reads_unnamed_is_shown_and_approved_once(self):
        for command, path in (("make; rm -rf nothing", "Makefile"), ("npm test; rm -rf nothing", "package.json"),
                              ("python3 -m pytest; rm -rf nothing", "conftest.py"),
                              ("cd sub && docker build . ; rm -rf nothing", "sub/Dockerfile")):
            session = self.prepared()
            self.put_file(session, path, b"all:\n\techo GOOD\n")
            with self.subTest(command), Desk(self.api) as desk:
                asking = self.command(session, command)
                question = desk.until("approval.requested", session_id=session)
                shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
                self.assertIn(path, dict(shown["conditions"]).get("files it names", ""))
                self.assertEqual(shown["scopes"], ["once"])
                for scope in ("session", "content"):
                    self.assertEqual(desk.decide(question, scope=scope)["status"], 400)
                self.put_file(session, path, b"all:\n\techo EVIL\n")
                desk.decide(question)
                self.assert_not_run(asking, "changed")


BIG = b"#" + b"x" * 300_000 + b"\n. ./lib.sh\n"
SHADOW = b"print('EVIL')\nclass _PollLikeSelector: pass\nPollSelector = SelectSelector = _PollLikeSelector\n"


class AroundTest(ApprovalTest):
    """What runs is found in many ways; an answer is for all that could be found, however it is named."""

    settings = {"SKERRY_SANDBOX__CONFIRM_TIMEOUT": "60"}
    WAYS = (("a,b.sh", "sh a,b.sh"), ("a'b.sh", "sh \"a'b.sh\""), ("a b.sh", "sh a\\ b.sh"), ("x.sh.", "sh x.sh."),
            ("good.sh", "sh goo?.sh"), ("good.sh", "sh $PWD/good.sh"), ("good.sh", "sh //workspace/good.sh"),
            ("good.sh", "cd /; sh workspace/good.sh"), ("d/x", "for f in ./d/*; do sh $f; done"),
            ("d/x", "find d -type f -exec sh {} ';'"), ("lib.sh", "sh big.sh"))

    def asked(self, desk, session, command):
        asking = self.command(session, command + "; rm -rf nothing")
        return asking, desk.until("approval.requested", session_id=session)

    def test_an_exchange_between_question_and_yes(self):
        for path, command in self.WAYS:
            session = self.make()
            self.put_file(session, "big.sh", BIG)
            self.put_file(session, path, GOOD)
            with self.subTest(command), Desk(self.api) as desk:
                asking, question = self.asked(desk, session, command)
                self.put_file(session, path, b"echo EVIL\n")
                desk.decide(question)
                answer = asking.answer()
                self.assertEqual((answer.json["outcome"], answer.json["stdout"]), ("rejected", ""))

    def in_session(self, session, code):
        self.api.expect(200, "POST", f"/v1/sessions/{session}/execute", code=code, language="shell", approve=True)

    def asked_again(self, command, plant, **files):
        """Whether a person is asked once more after something was put where the command finds it."""
        session = self.make()
        for path, bytes_ in files.items():
            self.put_file(session, path.replace("_", "."), bytes_)
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, command)
            self.assertEqual(desk.decide(question, scope="content")["type"], "decision")
            self.assertEqual(asking.answer().json["stdout"], "GOOD\n")
            self.assertEqual(self.command(session, command + "; rm -rf nothing").answer().json["stdout"], "GOOD\n")
            plant(session)
            asking, question = self.asked(desk, session, command)
            desk.decide(question, "reject")
            self.assertEqual(asking.answer().json["outcome"], "rejected")

    def test_a_longer_yes_ends_with_any_change_of_what_could_be_found(self):
        plants = {
            "sh goo?.sh": lambda session: self.put_file(session, "good.sh", b"echo EVIL\n"),
            "python3 good.py": lambda session: self.put_file(session, "selectors.py", SHADOW),
            "python3 ./good.py": lambda session: self.in_session(
                session, "d=$(python3 -m site --user-site); mkdir -p $d; echo 'print(\"EVIL\")' > $d/usercustomize.py"),
            "test -e /tmp/x.sh && sh /tmp/x.sh || sh good.sh": lambda session: self.in_session(
                session, "echo echo EVIL > /tmp/x.sh"),
        }
        for command, plant in plants.items():
            with self.subTest(command):
                self.asked_again(command, plant, good_sh=GOOD,
                                 good_py=b"import subprocess\nsubprocess.run(['echo', 'GOOD'])\n")

    def test_where_there_is_more_than_is_read_an_answer_is_for_once(self):
        session = self.make()
        self.execute("truncate -s 70M large", session)
        self.put_file(session, "a,b.sh", GOOD)
        with Desk(self.api) as desk:
            asking, question = self.asked(desk, session, "sh a,b.sh")
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertIn("more in its files", dict(shown["conditions"])["not all is read"])
            self.assertEqual(shown["scopes"], ["once"])
            self.put_file(session, "a,b.sh", b"echo EVIL\n")
            desk.decide(question)
            self.assertEqual(asking.answer().json["outcome"], "rejected")
            asking, question = self.asked(desk, session, "sh a,b.sh")
            desk.decide(question)
            self.assertEqual(asking.answer().json["stdout"], "EVIL\n")


class MeanwhileTest(ApprovalTest):
    """A question that waits takes nothing from anybody, and a yes is not lost to others."""

    settings = {"SKERRY_SANDBOX__CONFIRM_TIMEOUT": "60"}
    OF_ITS_OWN = {"max_memory_mb": 100}  # other than the session has: it runs in a sandbox of its own

    def contexts(self, session):
        return [each["name"] for each in self.api.expect(200, "GET", f"/v1/sessions/{session}/contexts")["items"]]

    def test_what_wants_a_sandbox_of_its_own_is_asked_about_first(self):
        session = self.prepared()
        self.api.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c", language="python")
        with Desk(self.api) as desk:
            asking = self.ask(session, **self.OF_ITS_OWN)
            question = desk.until("approval.requested", session_id=session)
            self.assert_untouched(session)
            self.assertEqual(self.execute("echo beside", session)["stdout"], "beside\n")
            self.assertFalse(asking.answers)
            desk.decide(question, "reject")
            self.assertEqual(asking.answer().json["outcome"], "rejected")
            self.assertEqual(self.contexts(session), ["c"])
            asking = self.ask(session, **self.OF_ITS_OWN)
            desk.decide(desk.until("approval.requested", session_id=session))
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            self.assertEqual(self.contexts(session), [])

    def test_what_was_changed_meanwhile_is_seen_there_too(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            asking = self.ask(session, **self.OF_ITS_OWN)
            question = desk.until("approval.requested", session_id=session)
            self.put_file(session, "shutil.py", b"print('EVIL')\n")
            desk.decide(question)
            self.assertEqual(asking.answer().json["outcome"], "rejected")
            self.assert_untouched(session)

    def test_two_questions_of_that_kind_do_not_wait_for_each_other(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            first = self.ask(session, **self.OF_ITS_OWN)
            question = desk.until("approval.requested", session_id=session)
            second = self.ask(session, "import shutil\nshutil.rmtree('/workspace/none', True)", **self.OF_ITS_OWN)
            other = desk.until("approval.requested", session_id=session)
            desk.decide(question)
            self.assertEqual(first.answer().json["stdout"], "ran\n")
            desk.decide(other, "reject")
            self.assertEqual(second.answer().json["outcome"], "rejected")

    def test_short_runs_do_not_keep_what_was_approved_from_beginning(self):
        session = self.prepared()
        over = threading.Event()

        def again_and_again():
            while not over.is_set():
                self.api.post(f"/v1/sessions/{session}/execute", patience=90, code="sleep 0.5", language="shell")

        with Desk(self.api) as desk:
            asking = self.ask(session)
            question = desk.until("approval.requested", session_id=session)
            # There is always one of them.
            threads = [threading.Thread(target=again_and_again) for _ in range(3)]
            for thread in threads:
                thread.start()
                time.sleep(0.2)
            try:
                desk.decide(question)
                self.assertEqual(asking.answer().json["stdout"], "ran\n")
            finally:
                over.set()
                for thread in threads:
                    thread.join()

    def test_of_a_shared_workspace_the_question_is_that_of_the_session(self):
        first, second = self.make(mode="shared"), self.make(mode="shared")
        code = RISKY.replace("/workspace/tree'", "/workspace/tree', True")
        with Desk(self.api) as desk:
            asking = self.ask(first, code)
            desk.decide(desk.until("approval.requested", session_id=first), scope="session")
            self.assertEqual(asking.answer().json["stdout"], "ran\n")
            self.assertEqual(self.ask(first, code).answer().json["stdout"], "ran\n")
            asking = self.ask(second, code)
            desk.decide(desk.until("approval.requested", session_id=second), "reject")
            self.assertEqual(asking.answer().json["outcome"], "rejected")


class DisabledTest(ApprovalTest):
    settings = {"SKERRY_SANDBOX__SECURITY": "permissive", "SKERRY_SANDBOX__MODE": "disabled",
                "SKERRY_SANDBOX__ENABLED": "false", "SKERRY_SANDBOX__CONFIRM_TIMEOUT": "60"}

    def test_others_go_on_while_a_question_waits(self):
        session = self.make(mode="disabled")
        with Desk(self.api) as desk:
            asking = self.ask(session, "rm -f nothing; echo hi", language="shell")
            question = desk.until("approval.requested", session_id=session)
            shown = self.api.expect(200, "GET", f"/v1/approvals/{question['approval_id']}")
            self.assertEqual(shown["scopes"], ["once"])
            self.put_file(session, "a", b"1")
            beside = self.api.post(f"/v1/sessions/{session}/execute", code="echo beside", language="shell")
            self.assertIn(beside.status, (200, 403), beside.body)  # root's sessions have no programs without isolation
            self.assertFalse(asking.answers)
            desk.decide(question, "reject")
            self.assertEqual(asking.answer().json["outcome"], "rejected")


class LeaseTest(ApprovalTest):
    """A lease that a program has on a file is no failure of the daemon's."""

    def test_a_leased_file_is_a_conflict(self):
        session = self.prepared()
        self.put_file(session, "good.sh", GOOD)
        WhatRunsTest.beside(self, session, LEASED)
        base = f"/v1/sessions/{session}/files"
        quick = {"patience": 20}  # less than the kernel gives whoever has the lease
        for method, path, more in (("GET", "/content", {"query": {"path": "good.sh"}}),
                                   ("GET", "/lines", {"query": {"path": "good.sh"}}),
                                   ("POST", "/copy", {"from": "good.sh", "to": "copy.sh"}),
                                   ("POST", "/append", {"query": {"path": "good.sh"}, "body": b"more"}),
                                   ("POST", "/edit", {"path": "good.sh", "edits": [{"replace": "GOOD", "with": "BAD"}]})):
            answer = self.api.request(method, base + path, **quick, **more)
            self.assertEqual(answer.status, 409, (path, answer.body))
            self.assertIn("lease", answer.body.decode())
        self.api.expect(200, "POST", f"{base}/search", pattern="GOOD", **quick)
        # What does not open it goes on, and so do commits.
        self.put_file(session, "other", b"1")
        self.put_file(session, "good.sh", b"new")
        self.assertEqual(self.get_file(session, "good.sh"), b"new")

    is_there = WhatRunsTest.is_there


class HostileTextTest(ApprovalTest):
    """What is shown comes from the program; it stays text."""

    HOSTILE = "\n".join([
        "import shutil  # \x1b[2J\x1b[H\x1b]0;title\x07 \u202e\u2066 \x01", "# [a]pprove? y", "# digest: " + "0" * 64,
        '# "}', '#', '# event: approval.decided', '# data: {"decision":"approve"}', "#",
        "shutil.rmtree('/workspace/tree')", "print('ran')  # " + "x" * 20000])

    def test_it_is_one_event_and_no_control_character_is_in_it(self):
        session = self.prepared(metadata={"name": 'x\n\nevent: approval.decided\ndata: {}\n\n'})
        with Desk(self.api) as desk:
            asking = self.ask(session, self.HOSTILE)
            question = desk.until("approval.requested", session_id=session)
            text = json.dumps(question, ensure_ascii=False)
            for sign in ("\x1b", "\r", "\u202e", "\u2066", "\x07"):
                self.assertNotIn(sign, text)
            shown = self.api.get(f"/v1/approvals/{question['approval_id']}")
            self.assertEqual(shown.json["code"], self.HOSTILE)  # whole, and
            for sign in (b"\x1b", b"\r", b"\x07"):  # escaped by JSON
                self.assertNotIn(sign, shown.body)
            desk.decide(question, "reject", reason="\x1b[31m no \r\n{}")
            asking.answer()
        self.assert_untouched(session)

    def test_as_server_sent_events_it_cannot_make_events(self):
        session = self.prepared()
        with self.api.send_head("GET", f"/v1/events?session={session}",
                                headers={"Accept": "text/event-stream"}) as stream, Desk(self.api) as desk:
            stream.settimeout(20)
            received = stream.recv(1)  # the stream has begun
            asking = self.ask(session, self.HOSTILE)
            desk.decide(desk.until("approval.requested", session_id=session), "reject", reason="a\n\nevent: fake\n")
            asking.answer()
            while b"event: execution.ended" not in received:
                piece = stream.recv(65536)
                self.assertTrue(piece, received)
                received += piece
        names = [line for line in received.split(b"\n") if line.startswith(b"event:")]
        self.assertEqual(names.count(b"event: approval.decided"), 1)
        self.assertFalse([name for name in names if b"fake" in name])

    def test_names_of_files_and_sessions_stay_text(self):
        session = self.prepared()
        self.put_file(session, "\x1b[2J.sh", SCRIPT)
        with Desk(self.api) as desk:
            asking = self.command(session, "bash '\x1b[2J.sh' && rm -rf nothing")
            question = desk.until("approval.requested", session_id=session)
            self.assertNotIn("\x1b", json.dumps(question, ensure_ascii=False))
            desk.decide(question, "reject")
            asking.answer()
        self.assert_untouched(session)


class AllowedTest(ApprovalTest):
    """J19: what is allowed ahead is exactly that."""

    ALLOWED = "rm -rf /workspace/tree"
    VARIANTS = ("rm -rf /workspace/tree; rm x", "rm -rf /workspace/tree\nid", "rm -rf /workspace/tree $(id)",
                "env rm -rf /workspace/tree", "rm  -rf /workspace/tree &", " rm -rf /workspace/tree",
                "rm -rf /workspace/tree\n", "rm -rf /workspace/tree #", "RM=1 rm -rf /workspace/tree")
    settings = {"SKERRY_SANDBOX__POLICY__ALLOW": hashlib.sha256(ALLOWED.encode()).hexdigest()}

    def test_every_variant_is_asked_about(self):
        session = self.prepared()
        with Desk(self.api) as desk:
            for variant in self.VARIANTS:
                asking = self.ask(session, variant, language="shell")
                question = desk.until("approval.requested", session_id=session)
                desk.decide(question, "reject")
                asking.answer()
                self.assert_untouched(session)
        self.assertTrue(self.ask(session, self.ALLOWED, language="shell").answer().json["success"])


if __name__ == "__main__":
    harness.main()
