"""The audit of a running daemon: what leaves a record, that nobody writes into it from inside, and that it is whole after
`kill -9`."""
import contextlib
import hashlib
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import threading

import daemon
import harness
import observe

FAKE = 'x\n{"number":1,"at":"2026-01-01T00:00:00.000000Z","event":"approved"}\r\n\x1b[2J\u202e\u0085'
KILLS = 20 if daemon.SOAK else 3
UNRECORDED = {"assessRisk": "it changes nothing", "resizeTerminal": "dragging a window does nothing that matters"}
# What takes away what others need, in an order that each can still be done.
LAST = ("decideApproval", "cancelExecution", "interruptContext", "restartContext", "deleteContext", "signalCommand",
        "pauseSession", "resumeSession", "stopSession", "undoSession", "deleteSession", "revokeToken")


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class AuditTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0", "SKERRY_SANDBOX__LOG__CODE": "true"}

    @property
    def directory(self):
        return os.path.join(self.home, ".skerry", "daemon", "audit")

    def audit(self, *arguments, code=0):
        """What `skerry audit` says on stdout and stderr."""
        ran = subprocess.run(self.program("audit", *arguments), env=self.own_environment(), cwd=self.home,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, code, ran.stdout[-2000:] + ran.stderr[-2000:])
        return ran.stdout.decode(), ran.stderr.decode()

    def records(self, *arguments):
        return [json.loads(line) for line in self.audit("export", *arguments)[0].splitlines()]

    def about(self, **fields):
        """The events that were recorded with these fields, in order."""
        return [record["event"] for record in self.records()
                if all(record.get(name) == value for name, value in fields.items())]

    def check_whole(self):
        report = json.loads(self.audit("verify", "--json")[0])
        self.assertEqual((report["whole"], report["faults"]), (True, []))
        return report


class RecordsTest(AuditTest):
    def test_a_run_leaves_its_beginning_and_its_end(self):
        session = self.make()
        execution = self.execute("echo hello", session)["execution_id"]
        began, ended = [record for record in self.records() if record.get("execution_id") == execution
                        and record["event"].startswith("run.")]
        self.assertEqual((began["event"], ended["event"]), ("run.began", "run.ended"))
        self.assertEqual((began["by"], began["session_id"], began["code"]), ("local", session, "echo hello"))
        self.assertEqual((ended["outcome"], ended["exit_code"]), ("exited", 0))

    def test_a_session_leaves_its_making_and_its_end(self):
        session = self.make()
        self.remove(session)
        self.assertEqual(self.about(session_id=session), ["session.created", "session.deleted"])

    def test_a_token_leaves_its_making_and_its_end_and_never_its_secret(self):
        token = self.daemon.issue(name="for the audit")
        self.assertEqual(self.api.delete(f"/v1/tokens/{token['id']}").status, 204)
        self.assertEqual(self.about(token_id=token["id"]), ["token.created", "token.revoked"])
        self.assertNotIn(token["token"], self.audit("export")[0])

    def test_what_is_taken_out_leaves_a_record(self):
        session = self.make()
        self.put_file(session, "f", b"precious")
        self.get_file(session, "f")
        self.assertEqual(self.api.get(f"/v1/sessions/{session}/files/export").status, 200)
        exported = [record["what"] for record in self.records("--session", session, "--event", "files.exported")]
        self.assertEqual(len(exported), 2, exported)

    def test_the_configuration_leaves_a_record_when_it_is_another(self):
        def count():
            return len(self.records("--event", "configuration.changed"))
        before = count()
        self.renew()
        self.assertEqual(count(), before, "the same")
        self.with_settings(SKERRY_SANDBOX__DAEMON__MAX_SESSIONS="77")
        self.assertEqual(count(), before + 1)

    def test_a_decision_leaves_who_made_it_and_about_what(self):
        for decision, expected in (("approve", "approved"), ("reject", "rejected")):
            session = self.make()
            self.put_file(session, "tree/f", b"1")
            question = self.ask_and_decide(session, decision)
            with self.subTest(decision=decision):
                asked, decided = self.records("--session", session, "--event", "approval.")
                self.assertEqual((asked["event"], decided["event"]), ("approval.requested", "approval.decided"))
                self.assertEqual(asked["approval_id"], decided["approval_id"])
                self.assertEqual((asked["digest"], decided["digest"]), (question["digest"],) * 2)
                self.assertEqual((decided["decision"], decided["by"]), (expected, "local"))
                events = self.about(execution_id=question["execution_id"])
                self.assertLess(events.index("approval.decided"), events.index("run.ended"))

    def ask_and_decide(self, session, decision):
        code = "import shutil\nshutil.rmtree('/workspace/tree')\nprint('ran')"
        thread = threading.Thread(target=lambda: self.api.post(f"/v1/sessions/{session}/execute", code=code))
        thread.start()
        try:
            question = self.eventually(lambda: self.api.get("/v1/approvals").json["items"])[0]
            answer = self.api.post(f"/v1/approvals/{question['id']}", decision=decision, digest=question["digest"])
            self.assertEqual(answer.status, 200, answer.body)
        finally:
            thread.join()
        return question


class InputTest(AuditTest):
    def ended(self, execution, seconds=30):
        super().ended(execution, seconds)
        return self.record("run.ended", execution)

    def record(self, event, execution):
        found, = [record for record in self.records("--event", event) if record["execution_id"] == execution]
        return found

    def attach(self, session, command):
        socket = self.api.websocket(f"/v1/sessions/{session}/commands/{command}/attach")
        self.assertEqual(socket.status, 101)
        return socket

    def feed(self, session, command, content, end="false"):
        answer = self.api.post(f"/v1/sessions/{session}/commands/{command}/stdin", body=content, query={"end": end})
        self.assertEqual(answer.status, 204, answer.body)

    def test_input_that_is_given_is_told_at_the_beginning(self):
        text = "hushed é\n" * 100
        for session in (None, self.make()):
            execution = self.execute("cat", session, stdin=text)["execution_id"]
            began = self.record("run.began", execution)
            self.assertEqual((began["input"], began["input_bytes"], began["input_sha256"]),
                             ("text", len(text.encode()), sha256(text.encode())))
        self.assertNotIn("hushed", self.audit("export")[0])

    def test_a_run_without_input_says_so(self):
        execution = self.execute("true")["execution_id"]
        began, ended = self.record("run.began", execution), self.record("run.ended", execution)
        self.assertEqual((began["input"], "input_sha256" in began, "input_sha256" in ended), ("none", False, False))

    def test_what_is_fed_is_told_at_the_end(self):
        session = self.make()
        command = self.start_command(session, "cat", stdin=True)
        pieces = [b"hushed\n", bytes(range(256)) * 2000, b"", b"the end"]
        for piece in pieces:
            self.feed(session, command, piece)
        self.feed(session, command, b"", end="true")
        whole = b"".join(pieces)
        ended = self.ended(command)
        self.assertEqual(self.record("run.began", command)["input"], "pipe")
        self.assertEqual((ended["input_bytes"], ended["input_sha256"]), (len(whole), sha256(whole)))
        fed = self.records("--session", session, "--event", "run.fed")
        self.assertEqual([record["bytes"] for record in fed], [len(piece) for piece in pieces] + [0])
        self.assertEqual({record["by"] for record in fed}, {"local"})
        self.assertNotIn("hushed", self.audit("export")[0])

    def test_what_nobody_took_is_not_told_as_fed(self):
        session = self.make()
        command = self.start_command(session, "read line; exit 3", stdin=True)
        self.feed(session, command, b"one\n")
        ended = self.ended(command)
        self.assertEqual(self.api.post(f"/v1/sessions/{session}/commands/{command}/stdin", body=b"two").status, 409)
        self.assertEqual((ended["input_bytes"], ended["input_sha256"]), (4, sha256(b"one\n")))
        failed, = self.records("--session", session, "--event", "request.failed")
        self.assertEqual((failed["what"], failed["status"]), ("run.fed", 409))

    def test_what_comes_over_sockets_is_told_at_the_end(self):
        session = self.make()
        for fields in ({"stdin": True}, {"terminal": {"rows": 10, "columns": 80}}):
            command = self.start_command(session, "stty -echo 2> /dev/null; head -n 2 > got; wc -c < got", **fields)
            with self.attach(session, command) as one, self.attach(session, command) as two:
                one.type(b"from one\n")
                two.type(b"from two\n")
                ended = self.ended(command)
            with self.subTest(fields):
                self.assertEqual(ended["input_bytes"], 18)
                self.assertIn(ended["input_sha256"],
                              (sha256(b"from one\nfrom two\n"), sha256(b"from two\nfrom one\n")))
                kind = "terminal" if "terminal" in fields else "pipe"
                self.assertEqual(self.record("run.began", command)["input"], kind)
                attached = [record["by"] for record in self.records("--event", "run.attached")
                            if record["execution_id"] == command]
                self.assertEqual(attached, ["local"] * 2)

    def test_a_signal_over_a_socket_is_told(self):
        session = self.make()
        command = self.start_command(session, "sleep 100", stdin=True)
        with self.attach(session, command) as socket:
            socket.say(type="signal", signal="KILL")
            self.ended(command)
        self.assertEqual(self.record("run.signalled", command)["signal"], "KILL")

    def test_what_was_fed_before_a_kill_is_told(self):
        session = self.make()
        command = self.start_command(session, "cat > /dev/null", stdin=True)
        content = b"x" * 200_000
        self.feed(session, command, content)

        def told():
            return [record for record in self.records("--session", session, "--event", "run.input")
                    if record["execution_id"] == command and record["input_bytes"] == len(content)]

        # Each second what has come by then is told, where it is much: the first time that may be a part.
        self.eventually(told, seconds=60)
        type(self).note_pids(self.daemon)
        self.daemon.kill()
        self.eventually(lambda: (observe.reap_orphans(), not observe.descendants())[1], what="the sandboxes are gone")
        type(self).start()
        self.api = self.daemon.api
        self.assertEqual([record["input_sha256"] for record in told()], [sha256(content)])
        self.assertEqual(self.record("run.ended", command)["state"], "lost")


class ReadingTest(AuditTest):
    def exports(self, session):
        return [(record["what"], record["bytes"])
                for record in self.records("--session", session, "--event", "files.exported")]

    def test_lines_leave_a_record(self):
        session = self.make()
        self.put_file(session, "f", b"one\ntwo\nthree\n")
        self.api.expect(200, "GET", f"/v1/sessions/{session}/files/lines", query={"path": "f", "first": 2, "count": 1})
        self.assertEqual(self.exports(session), [("lines 2 to 2 of f", 4)])

    def test_a_search_leaves_a_record(self):
        session = self.make()
        self.put_file(session, "d/f", b"one\ntwo\n")
        for pattern, told in (("t.o", "t.o"), ("x" * 1000, "x" * 256 + f"… (sha256 {sha256(b'x' * 1000)})")):
            answer = self.api.post(f"/v1/sessions/{session}/files/search", pattern=pattern, path="d", glob="*")
            count = len(answer.json["matches"])
            self.assertEqual(self.exports(session)[-1], (f"{count} matches of {told} in d by *", len(answer.body)))

    def test_a_diff_leaves_a_record(self):
        session = self.make()
        self.execute("echo precious > f", session)
        diff = self.api.get(f"/v1/sessions/{session}/diff").body
        self.assertIn(b"precious", diff)
        self.assertEqual(self.exports(session), [("diff of the last run", len(diff))])

    def test_a_part_of_a_file_is_told_as_such(self):
        session = self.make()
        self.put_file(session, "f", b"0123456789")
        self.api.get(f"/v1/sessions/{session}/files/content", query={"path": "f"}, headers={"Range": "bytes=2-4"})
        self.assertEqual(self.exports(session), [("file f", 3)])


class ChangesTest(AuditTest):
    def test_a_file_leaves_its_name_and_its_hash(self):
        session = self.make()
        path = f"/v1/sessions/{session}/files"
        large = os.urandom(1 << 20) * 12  # more than stays in memory
        self.put_file(session, "large", large)
        self.put_file(session, "f", b"hushed 1")
        self.api.expect(200, "POST", f"{path}/append", body=b"hushed 2", query={"path": "f"})
        self.api.expect(200, "POST", f"{path}/move", **{"from": "f", "to": "g"})
        self.api.expect(200, "DELETE", path, query={"path": "g"})
        written, small, appended, moved, deleted = self.records("--session", session, "--event", "files.")
        self.assertEqual((written["event"], written["path"], written["bytes"], written["sha256"]),
                         ("files.written", "large", len(large), sha256(large)))
        self.assertEqual((small["path"], small["sha256"]), ("f", sha256(b"hushed 1")))
        self.assertEqual((appended["event"], appended["sha256"]), ("files.appended", sha256(b"hushed 2")))
        self.assertEqual((moved["path"], moved["to"], moved["by"]), ("f", "g", "local"))
        self.assertEqual((deleted["event"], deleted["path"]), ("files.deleted", "g"))
        self.assertNotIn("hushed", self.audit("export")[0])

    def test_what_was_refused_is_told_as_that(self):
        session = self.make()
        answer = self.api.delete(f"/v1/sessions/{session}/files", query={"path": "none"})
        self.assertEqual(answer.status, 404)
        deleted, failed = self.records("--session", session)[1:]
        self.assertEqual((deleted["event"], failed["event"]), ("files.deleted", "request.failed"))
        self.assertEqual((deleted["request_id"], failed["request_id"]), (answer.headers["X-Request-Id"],) * 2)
        self.assertEqual((failed["what"], failed["status"]), ("files.deleted", 404))

    def test_what_is_not_there_for_the_caller_leaves_no_record(self):
        session = self.make()
        other = self.daemon.tcp(self.daemon.issue(tenant="other")["token"])
        before = len(self.records())
        self.assertEqual(other.post(f"/v1/sessions/{session}/stop").status, 404)
        self.assertEqual(other.put(f"/v1/sessions/{session}/files/content?path=f", body=b"1").status, 404)
        self.assertEqual(len(self.records()), before)

    def test_the_end_of_a_session_names_who_ended_it(self):
        token = self.daemon.issue(tenant="somebody")
        client = self.daemon.tcp(token["token"])
        session = client.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        self.assertEqual(client.delete(f"/v1/sessions/{session}").status, 204)
        ended, = self.records("--session", session, "--event", "session.deleted")
        self.assertEqual((ended["by"], ended["reason"]), (token["id"], "deleted"))

    def test_who_has_no_share_left_changes_nothing_and_can_still_stop_and_delete(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__AUDIT_PER_TENANT_MB="1", SKERRY_SANDBOX__LOG__CODE="true")
        client = self.daemon.tcp(self.daemon.issue(tenant="much", scopes=["run", "approve"])["token"])
        session = client.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        path = f"/v1/sessions/{session}"
        self.execute("echo 1 > f", session, client=client)
        self.execute("true #" + "x" * (1 << 20), client=client)
        for method, place, fields in (("PUT", "/files/content?path=g", {"body": b"1"}), ("POST", "/pause", {}),
                                      ("GET", "/files/lines?path=f", {}), ("GET", "/files/content?path=f", {}),
                                      ("POST", "/files/search", {"pattern": "1"}), ("GET", "/diff", {}),
                                      ("POST", "/contexts", {"name": "c"})):
            with self.subTest(method=method, place=place):
                self.assertEqual(client.request(method, path + place, **fields).status, 429)
        self.assertIn("f", [item["path"] for item in client.get(f"{path}/files").json["items"]])
        client.expect(200, "POST", f"{path}/stop")
        client.expect(200, "DELETE", f"{path}/files?path=f")
        self.assertEqual(client.delete(path).status, 204)
        self.assertEqual(self.about(session_id=session)[-3:], ["session.stopped", "files.deleted", "session.deleted"])


class EveryOperationTest(AuditTest):
    """Through all that the contract has: whatever changes something, or hands out what is in files, leaves a record."""

    def operations(self):
        wanted = [each for each in daemon.CONTRACT.operations if each[0] != "GET" or "x-skerry-audit" in each[2]]
        return sorted(wanted, key=lambda each: LAST.index(each[2]["operationId"])
                      if each[2]["operationId"] in LAST else -1)

    def test_what_changes_something_says_how_it_is_recorded(self):
        unrecorded = {operation["operationId"] for _, _, operation in self.operations()
                      if "x-skerry-audit" not in operation}
        self.assertEqual(unrecorded, set(UNRECORDED))

    def test_what_says_so_leaves_its_record(self):
        scene = daemon.Scene(self.daemon)
        self.addCleanup(scene.end)
        for method, path, operation in self.operations():
            name = operation["operationId"]
            if name in UNRECORDED:
                continue
            with self.subTest(name):
                admin = operation["x-skerry-scope"] == "admin"
                self.prepare(scene, operation)
                before = self.records()[-1]["number"]
                answer = scene.request(self.api if admin else scene.client, method, path, operation)
                self.assertLess(answer.status, 400, answer.body[:300])
                by = "local" if admin else scene.token["id"]
                new = []

                def is_recorded():
                    new[:] = [record for record in self.records() if record["number"] > before]
                    return operation["x-skerry-audit"] in [record["event"] for record in new if record.get("by") == by]

                if name == "decideApproval":  # recorded by the run that waited for it, before it goes on
                    self.eventually(is_recorded)
                self.assertTrue(is_recorded(), new)
                self.assertNotIn("request.failed", [record["event"] for record in new])

    def prepare(self, scene, operation):
        """What others of the operations may have taken away."""
        name = operation["operationId"]
        path = f"/v1/sessions/{scene.session}"
        if name == "interruptContext":
            cell = threading.Thread(target=lambda: self.api.post(
                f"{path}/contexts/{scene.context}/execute", code="import time\ntime.sleep(60)", approve=True))
            cell.start()
            self.addCleanup(cell.join)
            # The run that was approved before waits to be alone, in vain, and the cell waits for it.
            self.eventually(lambda: self.api.get(f"{path}/contexts/{scene.context}").json["state"] == "busy", seconds=60)
        if name == "undoSession":
            self.execute("echo again > h", scene.session)
            self.api.expect(200, "POST", f"{path}/stop")
        if operation["tags"] == ["files"]:
            self.put_file(scene.session, "f", b"precious\n")

    def test_the_documents_name_every_event(self):
        with open(os.path.join(daemon.HERE, "..", "..", "docs", "watching.md"), encoding="utf-8") as file:
            table = file.read().partition("## Audit")[2]
        events = {operation.get("x-skerry-audit") for _, _, operation in self.operations()} - {None}
        self.assertEqual({event for event in events if f"`{event}`" not in table}, set())


class CommandTest(AuditTest):
    def copy(self):
        """Of the audit, to do things to."""
        place = tempfile.mkdtemp(dir=self.home)
        self.addCleanup(shutil.rmtree, place)
        copied = shutil.copytree(self.directory, os.path.join(place, "audit"))
        if harness.AS_USER:
            subprocess.run(["chown", "-R", str(harness.PLAIN_ID), place], check=True)
        return copied

    def test_verify_names_the_record_that_was_changed(self):
        self.execute("echo one")
        place = self.copy()
        path = os.path.join(place, "00000001.jsonl")
        with open(path, encoding="ascii") as file:
            lines = file.readlines()
        lines[2] = lines[2].replace('"at":"2', '"at":"1')
        with open(path, "w", encoding="ascii") as file:
            file.writelines(lines)
        text, _ = self.audit("verify", "--path", place, code=1)
        self.assertIn("00000001.jsonl:3: record 3 was changed", text)
        self.assertIn(f"{len(lines)} records, 1 fault\n", text)
        report = json.loads(self.audit("verify", "--path", place, "--json", code=1)[0])
        self.assertEqual([fault["number"] for fault in report["faults"]], [3])
        self.assertIn("record 3 was changed", self.audit("export", "--path", place, code=1)[1])

    def test_verify_needs_no_daemon_and_finds_nothing_where_nothing_is(self):
        _, error = self.audit("verify", "--path", os.path.join(self.home, "none"), code=125)
        self.assertIn("there is no audit", error)

    def test_export_gives_the_lines_as_they_are(self):
        place = self.copy()
        with open(os.path.join(place, "00000001.jsonl"), encoding="ascii") as file:
            self.assertEqual(self.audit("export", "--path", place)[0], file.read())

    def test_export_gives_what_was_asked_for(self):
        session = self.make()
        self.execute("echo one", session)
        moment = self.records()[-1]["at"]
        self.execute("echo two", session)
        place = self.copy()
        every = self.records("--path", place)
        self.assertEqual(self.records("--path", place, "--since", moment),
                         [record for record in every if record["at"] >= moment])
        self.assertEqual(self.records("--path", place, "--until", moment),
                         [record for record in every if record["at"] < moment])
        self.assertEqual(self.records("--path", place, "--since", "2001-01-01", "--until", "2001-01-02T10:00Z"), [])
        self.assertEqual(self.records("--path", place, "--event", "run.began", "--session", session),
                         [record for record in every
                          if record["event"] == "run.began" and record["session_id"] == session])

    def test_a_time_that_is_none_is_told(self):
        for time in ("yesterday", "2026-13-01", "2026-11-16T25:00Z", "2026-11-16T11:37:52+01:00", "", "Z"):
            with self.subTest(time=time):
                self.assertIn("--since takes a day", self.audit("export", "--since", time, code=125)[1])


class HostileTest(AuditTest):
    def test_j21_nothing_that_is_recorded_becomes_a_record(self):
        before = len(self.records("--event", "approved"))
        session = self.make(metadata={"note": FAKE})
        self.execute("echo '" + FAKE + "'", session)
        self.api.post("/v1/tokens", name=FAKE)
        self.run_command(session, "echo", FAKE)
        self.put_file(session, "a\nb", b"1")
        self.api.get(f"/v1/sessions/{session}/files/content", query={"path": "a\nb"})
        self.check_whole()
        text = self.audit("export")[0]
        self.assertTrue(text.replace("\n", "").isascii() and text.replace("\n", "").isprintable())
        self.assertEqual(len(self.records("--event", "approved")), before)
        began = self.records("--session", session, "--event", "run.began")
        self.assertIn(FAKE, began[0]["code"], "and nothing of it is lost")

    def test_j21_it_cannot_be_seen_from_inside(self):
        session = self.make()
        code = (f"ls -d {self.directory} {os.path.join(self.home, '.skerry')} 2>&1; "
                "find / -xdev -name '*.jsonl' -path '*audit*' 2>/dev/null; "
                "ls -l /proc/*/fd 2>/dev/null | grep audit; true")
        output = self.execute(code, session)["stdout"]
        self.assertNotIn("00000001.jsonl", output)
        self.assertEqual(output.count("No such file"), 2, output)

    def test_the_audit_is_whole_for_whoever_looks_while_it_is_written(self):
        session = self.make()
        done = threading.Event()

        def work():
            while not done.is_set():
                self.execute("echo " + "x" * 20_000, session)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(10):
                self.check_whole()
        finally:
            done.set()
            thread.join()

    def test_what_was_acknowledged_is_there_after_kill_after_kill(self):
        acknowledged = []
        for _ in range(KILLS):
            self.kill_during_runs(acknowledged)
            self.check_whole()
        began = {record["execution_id"] for record in self.records("--event", "run.began")}
        ended = {record["execution_id"] for record in self.records("--event", "run.ended")}
        self.assertGreater(len(acknowledged), 0)
        self.assertLessEqual(set(acknowledged), began)
        self.assertLessEqual(began, ended, "those that were lost have ended too")

    def kill_during_runs(self, acknowledged):
        client, enough = daemon.Client(self.daemon.socket_path, check=False), threading.Event()

        def work():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                while True:
                    answer = client.post("/v1/execute", code="echo " + "x" * 20_000, language="shell", approve=True)
                    if answer.status == 200:
                        acknowledged.append(answer.json["execution_id"])
                    enough.set()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        enough.wait(60)
        type(self).note_pids(self.daemon)
        self.daemon.kill()
        for thread in threads:
            thread.join()
        self.eventually(lambda: (observe.reap_orphans(), not observe.descendants())[1], what="the sandboxes are gone")
        type(self).start()
        self.api = self.daemon.api


if __name__ == "__main__":
    harness.main()
