"""The audit of a running daemon: what leaves a record, that nobody writes into it from inside, and that it is whole after
`kill -9`."""
import contextlib
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
