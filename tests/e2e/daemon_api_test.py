"""The daemon as programs use it: what api/openapi.yaml promises. The client holds every answer against its schema."""
import hashlib
import io
import json
import os
import tarfile
import threading
import time

import daemon
import harness

MEGABYTE = 1 << 20
COUNTER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"


class SessionsTest(daemon.DaemonTest):
    def show(self, session):
        return self.api.expect(200, "GET", f"/v1/sessions/{session}")

    def test_one_is_made_as_it_is_wanted(self):
        made = self.api.expect(201, "POST", "/v1/sessions", id="wanted",
                               limits={"memory_mb": 200, "pids": 40, "disk_mb": 50, "timeout_seconds": 7},
                               metadata={"who": "me"}, ttl_seconds=3600, idle_seconds=60,
                               environment={"GREETING": "hi"})
        self.addCleanup(self.remove, "wanted")
        self.assertEqual((made["id"], made["mode"], made["tenant"]), ("wanted", "per-session", "local"))
        self.assertEqual({name: made["limits"][name] for name in ("memory_mb", "pids", "disk_mb", "timeout_seconds")},
                         {"memory_mb": 200, "pids": 40, "disk_mb": 50, "timeout_seconds": 7})
        self.assertEqual((made["metadata"], made["environment"]), ({"who": "me"}, {"GREETING": "hi"}))
        self.assertEqual((made["idle_seconds"], made["running"]), (60, 0))
        self.assertIsNotNone(made["expires_at"])
        self.assertEqual(self.execute("echo $GREETING", "wanted")["stdout"], "hi\n")
        shown = self.show("wanted")
        self.assertEqual(shown["state"], "active")
        self.assertEqual(shown["limits"], made["limits"])
        self.assertGreater(shown["usage"]["max_bytes"], shown["usage"]["bytes"])
        again = self.api.post("/v1/sessions", id="wanted")
        self.assertEqual((again.status, again.json["code"]), (409, "conflict"))

    def test_one_without_wishes_has_a_name_of_its_own(self):
        names = {self.make(), self.make()}
        self.assertEqual(len(names), 2)
        bare = self.api.post("/v1/sessions")  # without any body
        self.assertEqual(bare.status, 201)
        self.remove(bare.json["id"])

    def test_pages(self):
        names = [self.make(id=f"page-{number}") for number in range(5)]
        seen, query = [], {"limit": 2}
        for _ in range(10):
            page = self.api.expect(200, "GET", "/v1/sessions", query=query)
            self.assertLessEqual(len(page["items"]), 2)
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            query = {"limit": 2, "cursor": page["next_cursor"]}
        self.assertEqual([name for name in seen if name.startswith("page-")], names)
        self.assertEqual(len(seen), len(set(seen)))

    def test_extending(self):
        session = self.make(ttl_seconds=60)
        before = self.show(session)["expires_at"]
        self.assertGreater(self.api.expect(200, "POST", f"/v1/sessions/{session}/extend",
                                           ttl_seconds=7200)["expires_at"], before)

    def test_it_expires_with_its_files(self):
        session = self.make(ttl_seconds=1)
        self.put_file(session, "f", b"x")
        self.eventually(lambda: self.api.get(f"/v1/sessions/{session}").status == 404)
        self.eventually(lambda: not os.path.exists(os.path.join(self.home, "sessions", session)))
        self.assertNotIn(session, [item["id"] for item in self.api.get("/v1/sessions").json["items"]])

    def test_idle_it_gives_its_sandbox_back_and_keeps_its_files(self):
        session = self.make(idle_seconds=1)
        self.execute("echo kept > f; (setsid sleep 1000 >/dev/null 2>&1 &)", session)
        self.assertEqual(self.show(session)["state"], "active")
        self.eventually(lambda: self.show(session)["state"] == "idle")
        self.assertEqual(self.execute("cat f; ps ax | grep -c '[s]leep 1000'", session)["stdout"], "kept\n0\n")

    def test_a_background_command_is_not_idle(self):
        session = self.make(idle_seconds=1)
        command = self.start_command(session, "sleep 3; echo end")
        time.sleep(2.5)
        self.assertEqual(self.show(session)["state"], "active")
        self.assertEqual(self.ended(command)["result"]["stdout"], "end\n")

    def test_paused_its_processes_stand_still(self):
        session = self.make()
        command = self.start_command(session, COUNTER)
        self.eventually(lambda: self.logs(session, command)["next_offset"] > 0)
        paused = self.api.post(f"/v1/sessions/{session}/pause")
        if paused.status == 503 and harness.AS_USER:
            self.skipTest(paused.json["message"])
        self.assertEqual((paused.status, paused.json["state"]), (200, "paused"))
        time.sleep(0.3)
        there = self.logs(session, command)["next_offset"]
        time.sleep(0.6)
        self.assertEqual(self.logs(session, command)["next_offset"], there)
        self.assertNotEqual(self.api.expect(200, "POST", f"/v1/sessions/{session}/resume")["state"], "paused")
        self.eventually(lambda: self.logs(session, command)["next_offset"] > there)

    def test_stopped_its_processes_end_and_its_files_stay(self):
        session = self.make()
        self.put_file(session, "f", b"kept")
        command = self.start_command(session, "sleep 1000")
        self.assertEqual(self.api.expect(200, "POST", f"/v1/sessions/{session}/stop")["state"], "idle")
        self.assertEqual(self.ended(command)["state"], "done")
        self.assertEqual(self.execute("cat f", session)["stdout"], "kept")

    def test_deleting_ends_what_runs(self):
        session = self.make()
        command = self.start_command(session, "sleep 1000")
        self.api.expect(204, "DELETE", f"/v1/sessions/{session}")
        self.api.expect(404, "DELETE", f"/v1/sessions/{session}")
        self.api.expect(404, "GET", f"/v1/sessions/{session}")
        self.assertFalse(os.path.exists(os.path.join(self.home, "sessions", session)))
        self.assertIn(self.api.get(f"/v1/executions/{command}").status, (200, 404))

    def test_shared_ones_have_the_same_files(self):
        first, second = self.make(mode="shared"), self.make(mode="shared")
        self.execute("echo ours > shared-file", first)
        self.assertEqual(self.execute("cat shared-file", second)["stdout"], "ours\n")
        self.remove(first)
        self.assertEqual(self.execute("cat shared-file", second)["stdout"], "ours\n")

    def test_diff_check_and_undo(self):
        session = self.make()
        self.put_file(session, "f", b"old\n")
        self.execute("echo new > f; echo more > g", session)
        diff = self.api.get(f"/v1/sessions/{session}/diff")
        self.assertIn(b"-old\n+new\n", diff.body)
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{session}/check"),
                         {"matches": True, "files": [], "total": 0, "left_out": 0})
        taken = self.api.expect(200, "POST", f"/v1/sessions/{session}/undo")
        self.assertEqual({row["path"]: row["action"] for row in taken["files"]}, {"f": "changed", "g": "removed"})
        self.assertEqual(self.get_file(session, "f"), b"old\n")
        self.assertIn(self.api.post(f"/v1/sessions/{session}/undo", force=False).status, (404, 409))
        with open(os.path.join(self.home, "sessions", session, "f"), "ab") as file:
            file.write(b"behind its back")
        check = self.api.expect(200, "GET", f"/v1/sessions/{session}/check")
        self.assertEqual((check["matches"], [row["path"] for row in check["files"]]), (False, ["f"]))


class ContractLimitsTest(daemon.DaemonTest):
    """What the contract says is taken, and one more is not."""

    def limits(self, schema):
        return daemon.CONTRACT.resolve(daemon.CONTRACT.named(schema))

    def expect_edges(self, status, path, name, most, over, **fields):
        taken = self.api.post(path, **fields, **{name: most})
        self.assertEqual(taken.status, status, (name, taken.body[:300]))
        refused = self.api.post(path, **fields, **{name: over})
        self.assertEqual(refused.status, 400, (name, refused.body[:300]))
        self.assertIn(name, refused.json["message"])
        if path == "/v1/sessions":
            self.remove(taken.json["id"])

    def test_variables_and_metadata(self):
        session = self.make(environment={f"S{n}": "x" * 1000 for n in range(97)})
        places = (("/v1/sessions", 201, {}), (f"/v1/sessions/{session}/execute", 200, {"code": "true", "language": "shell"}),
                  (f"/v1/sessions/{session}/commands", 200, {"command": "true"}))
        schema = self.limits("Environment")
        most, longest = schema["maxProperties"], schema["additionalProperties"]["maxLength"]
        name = schema["propertyNames"]["maxLength"]
        for path, status, fields in places:
            for at, over in (({f"V{n}": "x" for n in range(most)}, {f"V{n}": "x" for n in range(most + 1)}),
                             ({"V": "x" * longest}, {"V": "x" * (longest + 1)}),
                             ({"N" * name: "x"}, {"N" * (name + 1): "x"}),
                             ({f"V{n}": "x" * 1000 for n in range(97)}, {f"V{n}": "x" * 1000 for n in range(99)})):
                self.expect_edges(status, path, "environment", at, over, **fields)
        schema = self.limits("Metadata")
        most, longest = schema["maxProperties"], schema["additionalProperties"]["maxLength"]
        name = schema["propertyNames"]["maxLength"]
        for at, over in (({f"k{n}": "x" for n in range(most)}, {f"k{n}": "x" for n in range(most + 1)}),
                         ({"k": "x" * longest}, {"k": "x" * (longest + 1)}),
                         ({"n" * name: "x"}, {"n" * (name + 1): "x"})):
            self.expect_edges(201, "/v1/sessions", "metadata", at, over)

    def test_input_and_domains(self):
        session, longest = self.make(), self.limits("ExecuteRequest")["properties"]["stdin"]["maxLength"]
        self.expect_edges(200, f"/v1/sessions/{session}/execute", "stdin", "x" * longest, "x" * (longest + 1),
                          code="true", language="shell")
        most = self.limits("NetworkRules")["properties"]["denied_domains"]["maxItems"]
        self.expect_edges(201, "/v1/sessions", "network", {"denied_domains": ["x.example"] * most},
                          {"denied_domains": ["x.example"] * (most + 1)})

    def test_values_of_variables_are_for_those_who_may_run(self):
        tokens = {scope: self.daemon.tcp(self.daemon.issue(tenant="t", scopes=[scope])["token"]) for scope in ("run", "read")}
        session = tokens["run"].expect(201, "POST", "/v1/sessions", environment={"KEY": "s3cret"})
        self.addCleanup(self.remove, session["id"])
        self.assertEqual(session["environment"], {"KEY": "s3cret"})
        path = f"/v1/sessions/{session['id']}"
        self.assertEqual(tokens["run"].expect(200, "GET", path)["environment"], {"KEY": "s3cret"})
        self.assertEqual(tokens["read"].expect(200, "GET", path)["environment"], {"KEY": None})
        for place in (path, "/v1/sessions", f"{path}/history", "/v1/executions", "/v1/sandboxes"):
            self.assertNotIn(b"s3cret", tokens["read"].get(place).body, place)


class ExecuteTest(daemon.DaemonTest):
    def test_of_every_language(self):
        for language, code in (("python", "print(6*7)"), ("javascript", "console.log(6*7)"), ("shell", "echo 42")):
            result = self.execute(code, language=language)
            self.assertEqual((result["stdout"], result["success"], result["exit_code"]), ("42\n", True, 0), result)

    def test_python_is_the_language_when_none_is_said(self):
        self.assertEqual(self.api.expect(200, "POST", "/v1/execute", code="print(1)")["stdout"], "1\n")

    def test_how_it_ended_is_no_error(self):
        rows = [("exit 3", {}, "exited", 3), ("kill -9 $$", {}, "signalled", 137),
                ("echo early; sleep 60", {"timeout": 1}, "timed_out", 124)]
        for code, fields, outcome, exit_code in rows:
            result = self.execute(code, **fields)
            self.assertEqual((result["outcome"], result["exit_code"], result["success"]), (outcome, exit_code, False))
        self.assertEqual(result["stdout"], "early\n")
        eater = self.execute("x = []\nwhile True: x.append(bytearray(10**6))", language="python", max_memory_mb=64)
        self.assertEqual(eater["outcome"], "out_of_memory", eater)

    def test_input_environment_and_directory(self):
        session = self.make()
        self.put_file(session, "d/x", b"1")
        result = self.execute("cat; echo $A; pwd; ls", session, stdin="in\n", environment={"A": "a b\"c"},
                              directory="d")
        self.assertEqual(result["stdout"], "in\na b\"c\n/workspace/d\nx\n")
        self.assertEqual(self.execute("cat")["stdout"], "")

    def test_bytes_that_are_no_text(self):
        result = self.execute("printf '\\377\\000a'; printf '\\376' >&2")
        self.assertEqual(daemon.bytes_of(result, "stdout"), b"\xff\0a")
        self.assertEqual(daemon.bytes_of(result, "stderr"), b"\xfe")
        self.assertIn("\ufffd", result["stdout"])

    def test_output_beyond_its_limit(self):
        result = self.execute("head -c 3000000 /dev/zero | tr '\\0' x", max_output_mb=1)
        self.assertTrue(result["output_truncated"])
        self.assertLessEqual(len(result["stdout"]), 1 << 20)

    def test_in_a_session_by_either_path(self):
        session = self.make()
        self.assertEqual(self.execute("echo 1 > f", session)["files_created"], ["f"])
        result = self.execute("cat f; rm f", session_id=session)
        self.assertEqual((result["stdout"], result["files_deleted"]), ("1\n", ["f"]))
        self.assertEqual(self.api.post("/v1/execute", code="1", session_id="nobody").status, 404)

    def test_a_dry_run_changes_nothing(self):
        session = self.make()
        result = self.execute("echo 1 > f", session, dry_run=True)
        self.assertIn("+1\n", result["diff"])
        self.assertEqual(self.api.get(f"/v1/sessions/{session}/files/stat", query={"path": "f"}).status, 404)

    def test_processes_of_a_session_live_on(self):
        session = self.make()
        self.execute("(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.1; done' >/dev/null 2>&1 &)", session)
        time.sleep(0.5)
        first = self.execute("cat beat", session)["stdout"]
        time.sleep(0.5)
        self.assertNotEqual(self.execute("cat beat", session)["stdout"], first)

    def test_other_limits_than_the_session_has(self):
        session = self.make()
        self.put_file(session, "f", b"1")
        self.assertEqual(self.execute("cat f; echo 2 > g", session, max_memory_mb=99)["stdout"], "1")
        self.assertEqual(self.get_file(session, "g"), b"2\n")

    def test_it_is_listed_and_found(self):
        session = self.make()
        result = self.execute("echo out; echo err >&2; exit 5", session)
        found = self.api.expect(200, "GET", f"/v1/executions/{result['execution_id']}")
        self.assertEqual((found["state"], found["kind"], found["session_id"], found["language"]),
                         ("done", "execute", session, "shell"))
        self.assertEqual(found["result"], result)
        page = self.api.expect(200, "GET", "/v1/executions", query={"session_id": session, "state": "done"})
        self.assertEqual([item["id"] for item in page["items"]], [result["execution_id"]])
        for query in ({"session_id": session, "state": "running"}, {"session_id": session, "kind": "cell"}):
            self.assertEqual(self.api.expect(200, "GET", "/v1/executions", query=query)["items"], [])
        output = self.api.expect(200, "GET", f"/v1/executions/{found['id']}/output")
        self.assertEqual((output["next_offset"], output["state"]), (8, "done"))
        self.assertEqual(daemon.text_of(output["pieces"], "stdout"), b"out\n")
        self.assertEqual(daemon.text_of(output["pieces"], "stderr"), b"err\n")
        exact = self.api.get(f"/v1/executions/{found['id']}/output", query={"stream": "stdout", "offset": 0},
                             headers={"Accept": "application/octet-stream"})
        self.assertEqual(exact.body, b"out\n")

    def test_pages_of_executions(self):
        session = self.make()
        ids = [self.execute(f"echo {number}", session)["execution_id"] for number in range(5)]
        seen, query = [], {"session_id": session, "limit": 2}
        while True:
            page = self.api.expect(200, "GET", "/v1/executions", query=query)
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        self.assertEqual(sorted(seen), sorted(ids))


@harness.once
class StreamTest(daemon.DaemonTest):
    def test_output_comes_as_it_is_written(self):
        code = "echo one; sleep 1; echo two >&2; sleep 1; echo three"
        with self.api.events("POST", "/v1/execute", code=code, language="shell", approve=True) as events:
            events = list(events)
        self.assertEqual([event.name for event in events],
                         ["started", "stdout", "stderr", "stdout", "result", "exit"])
        self.assertEqual([event.data["text"] for event in events[1:4]], ["one\n", "two\n", "three\n"])
        self.assertEqual([event.id for event in events[1:4]], [4, 8, 14])
        self.assertGreater(events[2].at - events[1].at, 0.5)
        self.assertGreater(events[-1].at - events[1].at, 1.5)
        self.assertEqual(events[-1].data, {"exit_code": 0, "outcome": "exited", "state": "done"})
        self.assertEqual(events[-2].data["execution_id"], events[0].data["execution_id"])

    def test_who_comes_back_gets_the_rest(self):
        with self.api.events("POST", "/v1/execute", code="for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done",
                             language="shell", approve=True) as events:
            execution = next(events).data["execution_id"]
            seen = next(events)
        path = f"/v1/executions/{execution}/events"
        with self.api.events("GET", path, headers={"Last-Event-ID": str(seen.id)}) as events:
            rest = list(events)
        text = seen.data["text"] + "".join(event.data["text"] for event in rest if event.name == "stdout")
        self.assertEqual(text, "1\n2\n3\n4\n5\n6\n")
        self.assertEqual(rest[-1].name, "exit")
        with self.api.events("GET", path + "?offset=10") as events:
            self.assertEqual([event.data["text"] for event in events if event.name == "stdout"], ["6\n"])
        self.assertEqual(self.ended(execution)["result"]["stdout"], text)

    def test_who_leaves_a_blocking_call_loses_nothing(self):
        session = self.make()
        body = json.dumps({"code": "sleep 1; echo done > f; echo said", "language": "shell", "approve": True}).encode()
        sock = self.api.send_head("POST", f"/v1/sessions/{session}/execute", body)
        execution = self.eventually(lambda: self.api.get("/v1/executions", query={"session_id": session}).json["items"])
        sock.close()
        self.assertEqual(self.ended(execution[0]["id"])["result"]["stdout"], "said\n")
        self.assertEqual(self.get_file(session, "f"), b"done\n")

    def test_unless_they_said_so(self):
        session = self.make()
        fields = {"code": "sleep 100", "language": "shell", "approve": True, "on_disconnect": "cancel"}
        sock = self.api.send_head("POST", f"/v1/sessions/{session}/execute", json.dumps(fields).encode())
        blocking = self.eventually(lambda: self.api.get("/v1/executions", query={"session_id": session}).json["items"])
        sock.close()
        self.assertEqual(self.ended(blocking[0]["id"], 15)["result"]["outcome"], "cancelled")
        with self.api.events("POST", f"/v1/sessions/{session}/execute", **fields) as events:
            execution = next(events).data["execution_id"]
        self.assertEqual(self.ended(execution, 15)["result"]["outcome"], "cancelled")

    def test_cancelling(self):
        session = self.make()
        command = self.start_command(session, "echo up; sleep 100")
        self.eventually(lambda: self.logs(session, command)["next_offset"])
        self.api.expect(200, "POST", f"/v1/executions/{command}/cancel")
        ended = self.ended(command, 10)
        self.assertEqual((ended["result"]["outcome"], ended["result"]["stdout"]), ("cancelled", "up\n"))
        self.assertIn(self.api.post(f"/v1/executions/{command}/cancel").status, (200, 409))

    def test_a_page_of_output_by_offset(self):
        result = self.execute("printf 0123456789")
        path = f"/v1/executions/{result['execution_id']}/output"
        page = self.api.expect(200, "GET", path, query={"offset": 3, "limit": 4})
        self.assertEqual((page["offset"], page["next_offset"], daemon.text_of(page["pieces"])), (3, 7, b"3456"))
        page = self.api.expect(200, "GET", path, query={"offset": 10})
        self.assertEqual((page["next_offset"], page["pieces"]), (10, []))


@harness.once
class IdempotencyTest(daemon.DaemonTest):
    def test_the_same_request_runs_once(self):
        session = self.make()
        key = {"Idempotency-Key": "once and for all"}
        first = self.execute("echo x >> f; echo $RANDOM$RANDOM", session, headers=key)
        again = self.execute("echo x >> f; echo $RANDOM$RANDOM", session, headers=key)
        self.assertEqual(first, again)
        self.assertEqual(self.get_file(session, "f"), b"x\n")
        other = self.api.post(f"/v1/sessions/{session}/execute", code="echo y >> f", language="shell", headers=key)
        self.assertEqual((other.status, other.json["code"]), (409, "conflict"))
        self.assertEqual(self.get_file(session, "f"), b"x\n")

    def test_also_in_parallel(self):
        session = self.make()
        key = {"Idempotency-Key": "parallel"}
        results = self.in_threads([lambda: self.execute("echo x >> f; sleep 0.5; echo $$", session, headers=key)] * 10)
        self.assertEqual(len({result["execution_id"] for result in results}), 1)
        self.assertEqual({result["stdout"] for result in results}, {results[0]["stdout"]})
        self.assertEqual(self.get_file(session, "f"), b"x\n")

    def test_commands_and_sessions_too(self):
        session = self.make()
        for fields in ({"background": True}, {}):
            key = {"Idempotency-Key": f"command {fields}"}
            answers = [self.api.post(f"/v1/sessions/{session}/commands", command="echo x >> g", approve=True,
                                     headers=key, **fields) for _ in range(2)]
            self.assertIn([answer.status for answer in answers], ([201, 200], [201, 201], [200, 200]))
            ids = {answer.json.get("id") or answer.json["execution_id"] for answer in answers}
            self.assertEqual(len(ids), 1)
            self.ended(ids.pop())
        self.assertEqual(self.get_file(session, "g"), b"x\nx\n")
        made = [self.api.post("/v1/sessions", metadata={"a": "b"}, headers={"Idempotency-Key": "made"})
                for _ in range(2)]
        self.addCleanup(self.remove, made[0].json["id"])
        self.assertEqual([answer.status for answer in made], [201, 200])
        self.assertEqual(made[0].json["id"], made[1].json["id"])
        self.assertEqual(self.api.post("/v1/sessions", metadata={}, headers={"Idempotency-Key": "made"}).status, 409)

    def test_sessions_in_parallel(self):
        answers = self.in_threads([lambda: self.api.post("/v1/sessions", metadata={},
                                                         headers={"Idempotency-Key": "ten"})] * 10)
        self.assertEqual(sorted({answer.status for answer in answers}), [200, 201])
        ids = {answer.json["id"] for answer in answers}
        for each in ids:
            self.addCleanup(self.remove, each)
        self.assertEqual(len(ids), 1)

    def test_keys_that_are_none(self):
        for key in ("", "x" * 256, "\u00e9"):
            answer = self.api.post("/v1/execute", code="print(1)", headers={"Idempotency-Key": key.encode("latin-1")})
            self.assertEqual(answer.status, 400, key)


class CommandsTest(daemon.DaemonTest):
    def setUp(self):
        super().setUp()
        self.session = self.make()
        self.base = f"/v1/sessions/{self.session}/commands"

    def test_arguments_are_passed_exactly(self):
        argv = ["a b", "'", '"', "$(id)", "new\nline", "", "\\", "*", "-e", "\u00e9\u202e", ";id", "tab\t"]
        code = "import sys, json; print(json.dumps(sys.argv[1:]))"
        result = self.run_command(self.session, "python3", "-c", code, *argv)
        self.assertEqual(json.loads(result["stdout"]), argv)

    def test_environment_and_directory(self):
        self.put_file(self.session, "d/x", b"1")
        result = self.run_command(self.session, command="echo $A; pwd", environment={"A": "x y"},
                                  directory="/workspace/d")
        self.assertEqual(result["stdout"], "x y\n/workspace/d\n")

    def test_how_they_end(self):
        for text, code, outcome in (("exit 7", 7, "exited"), ("kill -TERM $$", 143, "signalled"),
                                    ("true", 0, "exited")):
            result = self.run_command(self.session, command=text)
            self.assertEqual((result["exit_code"], result["outcome"]), (code, outcome))
        missing = self.api.post(self.base, argv=["/no/such/program"], approve=True)
        self.assertTrue(missing.status == 404 or missing.json["exit_code"] == 127, missing.body)

    def test_in_the_background_with_logs_from_an_offset(self):
        command = self.start_command(self.session, "for i in 1 2 3 4 5; do echo $i; sleep 0.2; done; exit 4")
        self.assertEqual(self.api.expect(200, "GET", f"{self.base}/{command}")["state"] in ("waiting", "running"), True)
        text, offset, state = b"", 0, "running"
        while state not in ("done", "lost"):
            page = self.logs(self.session, command, offset=offset)
            text, offset, state = text + daemon.text_of(page["pieces"]), page["next_offset"], page["state"]
            time.sleep(0.05)
        text += daemon.text_of(self.logs(self.session, command, offset=offset)["pieces"])
        self.assertEqual(text, b"1\n2\n3\n4\n5\n")
        self.assertEqual(self.ended(command)["result"]["exit_code"], 4)
        self.assertEqual([item["id"] for item in self.api.expect(200, "GET", self.base)["items"]], [command])

    def test_stdin(self):
        command = self.start_command(self.session, "cat; echo end", stdin=True)
        self.api.expect(204, "POST", f"{self.base}/{command}/stdin", body=b"one\n")
        self.eventually(lambda: daemon.text_of(self.logs(self.session, command)["pieces"]) == b"one\n")
        self.api.expect(204, "POST", f"{self.base}/{command}/stdin", body=b"\xff\0", query={"end": "true"})
        self.assertEqual(daemon.bytes_of(self.ended(command)["result"], "stdout"), b"one\n\xff\0end\n")
        self.assertEqual(self.api.post(f"{self.base}/{command}/stdin", body=b"x").status, 409)
        closed = self.start_command(self.session, "sleep 100")
        self.assertEqual(self.api.post(f"{self.base}/{closed}/stdin", body=b"x").status, 409)

    def test_a_lot_of_stdin(self):
        command = self.start_command(self.session, "sha256sum", stdin=True)
        block = os.urandom(3 * MEGABYTE)
        self.api.expect(204, "POST", f"{self.base}/{command}/stdin", body=block, query={"end": "true"})
        self.assertEqual(self.ended(command)["result"]["stdout"][:64], hashlib.sha256(block).hexdigest())

    def test_signals(self):
        for name, code in (("TERM", 143), ("INT", 130), ("KILL", 137)):
            command = self.start_command(self.session, "echo up; exec sleep 100")
            self.eventually(lambda: self.logs(self.session, command)["next_offset"])
            self.api.expect(204, "POST", f"{self.base}/{command}/signal", signal=name)
            self.assertEqual(self.ended(command)["result"]["exit_code"], code)
        self.assertEqual(self.api.post(f"{self.base}/{command}/signal", signal="TERM").status, 409)
        caught = self.start_command(self.session,
                                    "trap 'echo caught; exit 9' USR1; echo up; while :; do sleep 0.1; done")
        self.eventually(lambda: self.logs(self.session, caught)["next_offset"])
        self.api.expect(204, "POST", f"{self.base}/{caught}/signal", signal="USR1")
        self.assertEqual(self.ended(caught)["result"]["exit_code"], 9)

    def test_a_timeout_ends_its_own_processes_and_no_others(self):
        other = self.start_command(self.session, COUNTER)
        result = self.run_command(self.session, command="sleep 100 & (setsid sleep 101 &) ; sleep 102", timeout=1)
        self.assertEqual((result["outcome"], result["exit_code"]), ("timed_out", 124))
        there = self.logs(self.session, other)["next_offset"]
        self.eventually(lambda: self.logs(self.session, other)["next_offset"] > there)
        left = self.run_command(self.session, command="ps ax -o args | grep -E '^sleep 10[02]' || true")
        self.assertEqual(left["stdout"], "")

    def test_they_run_beside_each_other(self):
        started = time.monotonic()
        self.in_threads([lambda: self.run_command(self.session, "sleep", "2")] * 4)
        self.assertLess(time.monotonic() - started, 6)

    def test_streaming(self):
        with self.api.events("POST", self.base, command="echo a; sleep 0.7; echo b", approve=True) as events:
            events = list(events)
        self.assertEqual([event.name for event in events], ["started", "stdout", "stdout", "result", "exit"])
        self.assertGreater(events[2].at - events[1].at, 0.3)

    def test_of_another_session_they_do_not_exist(self):
        other = self.make()
        command = self.start_command(self.session, "sleep 100", stdin=True)
        for method, what, fields in (("GET", "", {}), ("GET", "/logs", {}), ("POST", "/signal", {"signal": "TERM"}),
                                     ("POST", "/resize", {"rows": 1, "columns": 1})):
            answer = self.api.request(method, f"/v1/sessions/{other}/commands/{command}{what}", **fields)
            self.assertEqual(answer.status, 404, what)
        with self.api.websocket(f"/v1/sessions/{other}/commands/{command}/attach") as attached:
            self.assertEqual(attached.status, 404)
        self.eventually(lambda: self.api.expect(200, "GET", f"{self.base}/{command}")["state"] == "running")


class TerminalTest(daemon.DaemonTest):
    def setUp(self):
        super().setUp()
        self.session = self.make()

    def attach(self, command):
        attached = self.api.websocket(f"/v1/sessions/{self.session}/commands/{command}/attach")
        self.addCleanup(attached.close)
        self.assertEqual(attached.status, 101, attached.head)
        return attached

    def test_a_shell_in_a_terminal(self):
        command = self.start_command(self.session, "exec bash --norc -i", terminal={"rows": 33, "columns": 101})
        terminal = self.attach(command)
        terminal.type(b"stty size\n")
        terminal.until(b"33 101")
        terminal.say(type="resize", rows=44, columns=55)
        terminal.type(b"stty size\n")
        terminal.until(b"44 55")
        self.api.expect(204, "POST", f"/v1/sessions/{self.session}/commands/{command}/resize", rows=20, columns=30)
        terminal.type(b"stty size\n")
        terminal.until(b"20 30")
        terminal.type(b"sleep 100\n")
        time.sleep(0.5)
        terminal.type(b"\x03")
        terminal.type(b"echo inter''rupted $?\n")
        terminal.until(b"interrupted 130")
        terminal.type(b"exit 5\n")
        _, notice, code = terminal.rest()
        self.assertEqual((notice["type"], notice["exit_code"], notice["state"], code), ("exit", 5, "done", 1000))

    def test_who_attaches_later_sees_all_of_it_and_may_signal(self):
        command = self.start_command(self.session, "echo before; echo wrong >&2; exec cat", stdin=True)
        first = self.attach(command)
        first.until(b"wrong\n")
        second = self.attach(command)
        self.assertEqual(sorted(second.until(b"wrong\n").split()), [b"before", b"wrong"])
        first.type(b"from one\n")
        second.until(b"from one\n")
        second.type(b"from two\n")
        first.until(b"from two\n")
        second.close()
        first.say(type="signal", signal="TERM")
        self.assertEqual(first.rest()[1]["exit_code"], 143)

    def test_the_end_of_the_input(self):
        command = self.start_command(self.session, "wc -c", stdin=True)
        attached = self.attach(command)
        attached.type(b"x" * 200_000)
        attached.say(type="end")
        self.assertEqual(attached.rest()[0].strip(), b"200000")

    def test_nonsense_harms_nobody(self):
        command = self.start_command(self.session, "exec cat", stdin=True)
        attached = self.attach(command)
        for text in (b"", b"{", b"[]", b'{"type":"resize","rows":-1,"columns":1e9}', b'{"type":1}', b"\xc3\xa9",
                     b'{"type":"signal","signal":"SEGV"}', b'{"type":"resize","rows":5,"columns":5}'):
            attached.send(1, text)
        attached.type(b"still there\n")
        attached.until(b"still there\n")
        self.api.expect(200, "POST", f"/v1/executions/{command}/cancel")
        attached.rest()


class ContextsTest(daemon.DaemonTest):
    def setUp(self):
        super().setUp()
        self.session = self.make()
        self.base = f"/v1/sessions/{self.session}/contexts"

    def open_context(self, name, **fields):
        return self.api.expect(201, "POST", self.base, name=name, **fields)

    def cell(self, context, code, **fields):
        return self.api.expect(200, "POST", f"{self.base}/{context}/execute", code=code, **({"approve": True} | fields))

    def test_state_is_kept_by_each(self):
        self.open_context("one")
        self.open_context("two", language="shell")
        self.cell("one", "x = 41")
        self.cell("two", "y=5")
        result = self.cell("one", "x += 1\nprint(x)\nx")
        self.assertEqual((result["stdout"], result["cell"], result["alive"]), ("42\n", 2, True))
        self.assertIn("42", json.dumps(result["outputs"]))
        self.assertEqual(self.cell("two", "echo $y")["stdout"], "5\n")
        listed = self.api.expect(200, "GET", self.base)["items"]
        self.assertEqual(sorted((item["name"], item["language"], item["cells"]) for item in listed),
                         [("one", "python", 2), ("two", "shell", 2)])
        self.assertEqual(self.api.post(self.base, name="one").status, 409)

    def test_errors_restart_and_deletion(self):
        self.open_context("c")
        failed = self.cell("c", "x = 1\nraise ValueError('bad')")
        self.assertEqual((failed["success"], failed["error_name"], failed["error"]),
                         (False, "ValueError", "ValueError: bad"))
        self.assertIn("line 2", failed["traceback"])
        self.assertEqual(self.cell("c", "print(x)")["stdout"], "1\n")
        self.api.expect(200, "POST", f"{self.base}/c/restart")
        self.assertEqual(self.cell("c", "print(x)")["error_name"], "NameError")
        self.api.expect(204, "DELETE", f"{self.base}/c")
        self.api.expect(404, "GET", f"{self.base}/c")
        self.assertEqual(self.api.post(f"{self.base}/c/execute", code="1").status, 404)

    def test_a_cell_makes_its_context_when_it_says_so(self):
        self.assertEqual(self.api.post(f"{self.base}/c/execute", code="1").status, 404)
        made = self.cell("c", "x=5; echo $x", create=True, language="shell")
        self.assertEqual((made["stdout"], made["language"], made["cell"]), ("5\n", "shell", 1))
        self.assertEqual(self.cell("c", "echo $x", create=True)["stdout"], "5\n")
        self.assertEqual(self.api.post(f"{self.base}/c/execute", code="1", language="python").status, 409)
        self.assertEqual(self.cell("d", "print(1)", create=True)["language"], "python")
        for fields in ({"language": "cobol"}, {"create": 1}, {"on_disconnect": "maybe"}, {"max_output_mb": 0}):
            self.assertEqual(self.api.post(f"{self.base}/c/execute", code="1", **fields).status, 400, fields)
        self.assertEqual(self.api.post(f"{self.base}/no%20name/execute", code="1", create=True).status, 400)

    def test_a_cell_ends_with_its_client_when_it_says_so(self):
        self.open_context("c")
        with self.api.events("POST", f"{self.base}/c/execute", code="print('go', flush=True)\nwhile True: pass",
                             on_disconnect="cancel") as events:
            next(event for event in events if event.name == "stdout")
        self.eventually(lambda: self.api.get(f"{self.base}/c").json["state"] == "idle")
        self.assertEqual(self.cell("c", "print(1)")["stdout"], "1\n")

    def test_output_beyond_the_limit_is_counted(self):
        self.open_context("c")
        result = self.cell("c", "print('y' * (3 << 20))", max_output_mb=1)
        self.assertEqual((len(result["stdout"]), result["output_truncated"]), (1 << 20, True))
        self.assertGreater(result["output_bytes"], 3 << 20)

    def test_a_fork_has_the_variables_and_the_files_of_the_session(self):
        self.open_context("c")
        self.cell("c", "x = [1]; import threading; lock = threading.Lock(); open('f', 'w').write('one')")
        fork = self.api.expect(201, "POST", f"{self.base}/c/fork", name="d")
        self.assertEqual((fork["context"]["name"], fork["context"]["language"]), ("d", "python"))
        self.assertEqual((fork["variables_left_out"], fork["files_left_out"]), (["lock"], []))
        self.assertEqual(self.cell("d", "x.append(2); print(x, open('f').read())")["stdout"], "[1, 2] one\n")
        self.assertEqual(self.cell("c", "print(x)")["stdout"], "[1]\n")
        self.assertEqual(self.api.post(f"{self.base}/c/fork", name="d").status, 409)
        self.assertEqual(self.api.post(f"{self.base}/c/fork", name="no/name").status, 400)
        self.assertEqual(self.api.post(f"{self.base}/c/fork").status, 400)
        self.assertEqual(self.api.post(f"{self.base}/none/fork", name="e").status, 404)
        self.open_context("s", language="shell")
        self.assertEqual(self.api.post(f"{self.base}/s/fork", name="e").status, 503)
        self.assertEqual(sorted(item["name"] for item in self.api.expect(200, "GET", self.base)["items"]),
                         ["c", "d", "s"])

    def test_interrupting(self):
        self.open_context("c")
        self.assertEqual(self.api.expect(200, "POST", f"{self.base}/c/interrupt")["state"], "idle")
        self.cell("c", "x = 7")

        def stop():
            self.eventually(lambda: self.api.get(f"{self.base}/c").json["state"] == "busy")
            time.sleep(0.5)
            return self.api.expect(200, "POST", f"{self.base}/c/interrupt")

        started = time.monotonic()
        result, interrupted = self.in_threads([lambda: self.cell("c", "import time\ntime.sleep(60)"), stop])
        self.assertEqual(interrupted["state"], "busy")
        self.assertLess(time.monotonic() - started, 30)
        self.assertFalse(result["success"])
        self.assertEqual(self.cell("c", "print(x)")["stdout"], "7\n")

    def test_rich_output_and_streaming(self):
        self.open_context("c")
        code = ("class Rich:\n    def _repr_html_(self): return '<b>bold</b>'\n    def __repr__(self): return 'plain'\n"
                "import time\nprint('before', flush=True)\ntime.sleep(0.7)\nprint('behind')\nRich()")
        whole = self.cell("c", code)
        self.assertEqual(whole["outputs"], [{"kind": "result",
                                             "data": {"text/plain": "plain", "text/html": "<b>bold</b>"}}])
        with self.api.events("POST", f"{self.base}/c/execute", code=code, approve=True) as events:
            events = list(events)
        names = [event.name for event in events]
        self.assertEqual((names[0], names[-2], names[-1]), ("started", "result", "exit"))
        said = [event for event in events if event.name == "stdout"]
        self.assertGreater(said[-1].at - said[0].at, 0.3)
        shown = json.dumps([event.data for event in events if event.name == "result"])
        self.assertIn("text/html", shown)
        self.assertIn("<b>bold</b>", shown)

    def test_files_of_the_session(self):
        self.put_file(self.session, "in", b"5")
        self.open_context("c")
        self.cell("c", "open('out', 'w').write(open('in').read() * 2)")
        self.assertEqual(self.get_file(self.session, "out"), b"55")


class FilesTest(daemon.DaemonTest):
    def setUp(self):
        super().setUp()
        self.session = self.make()
        self.base = f"/v1/sessions/{self.session}/files"

    def stat(self, path):
        return self.api.get(f"{self.base}/stat", query={"path": path})

    def test_content_and_ranges(self):
        content = bytes(range(256)) * 40
        change = self.put_file(self.session, "d/any.bin", content, mode="640")
        self.assertEqual((change["action"], change["size"], change["mode"], change["sha256"]),
                         ("created", 10240, "0640", hashlib.sha256(content).hexdigest()))
        self.assertEqual(self.get_file(self.session, "/workspace/d/any.bin"), content)
        for header, expected in (("bytes=0-9", content[:10]), ("bytes=10000-", content[10000:]),
                                 ("bytes=-7", content[-7:]), ("bytes=5-5", content[5:6]),
                                 ("bytes=10000-99999", content[10000:])):
            answer = self.api.get(f"{self.base}/content", query={"path": "d/any.bin"}, headers={"Range": header})
            self.assertEqual((answer.status, answer.body), (206, expected), header)
            self.assertTrue(answer.headers["Content-Range"].endswith("/10240"))
        for header in ("bytes=99999-", "bytes=10240-10241"):
            answer = self.api.get(f"{self.base}/content", query={"path": "d/any.bin"}, headers={"Range": header})
            self.assertEqual(answer.status, 416)
        self.assertEqual(self.api.request("HEAD", f"{self.base}/content?path=d/any.bin").status in (200, 405), True)

    def test_nothing_is_replaced_against_the_will_of_the_caller(self):
        self.put_file(self.session, "f", b"old")
        digest = hashlib.sha256(b"old").hexdigest()
        for query, headers, status in (({"existing": "keep"}, {}, 409), ({}, {"If-Match": f'"{"0" * 64}"'}, 412)):
            answer = self.api.put(f"{self.base}/content", body=b"new", query={"path": "f"} | query, headers=headers)
            self.assertEqual(answer.status, status)
            self.assertEqual(self.get_file(self.session, "f"), b"old")
        answer = self.api.put(f"{self.base}/content", body=b"new", query={"path": "f"},
                              headers={"If-Match": f'"{digest}"'})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(self.get_file(self.session, "f"), b"new")
        self.assertEqual(self.api.put(f"{self.base}/content", body=b"x",
                                      query={"path": "no/f", "parents": "need"}).status,
                         404)

    def test_twenty_megabytes_both_ways(self):
        block = os.urandom(20 * MEGABYTE)
        pieces = [block[at:at + 100_000] for at in range(0, len(block), 100_000)]
        self.put_file(self.session, "whole", block)
        self.put_file(self.session, "chunked", iter(pieces))
        for name in ("whole", "chunked"):
            self.assertEqual(hashlib.sha256(self.get_file(self.session, name)).digest(), hashlib.sha256(block).digest())

    def test_directories(self):
        made = self.api.expect(201, "POST", f"{self.base}/directory", path="a/b", parents="make")
        self.assertEqual((made["kind"], made["path"]), ("directory", "a/b"))
        self.assertEqual(self.api.post(f"{self.base}/directory", path="no/b").status, 404)
        for number in range(5):
            self.put_file(self.session, f"a/b/{number}", b"x" * number)
        os.symlink("1", os.path.join(self.home, "sessions", self.session, "a", "b", "link"))
        seen, query = [], {"path": "a/b", "limit": 2}
        while True:
            page = self.api.expect(200, "GET", self.base, query=query)
            seen += [(item["path"], item["kind"], item["size"], item["target"]) for item in page["items"]]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        self.assertEqual(seen, [*((f"a/b/{n}", "file", n, None) for n in range(5)), ("a/b/link", "link", None, "1")])
        top = {item["path"]: item["kind"] for item in self.api.expect(200, "GET", self.base)["items"]}
        self.assertEqual(top["a"], "directory")
        self.assertGreater(self.api.expect(200, "GET", f"{self.base}/usage")["entries"], 5)

    def test_lines_append_edit_and_stat(self):
        self.put_file(self.session, "f", b"one\ntwo\nthree\n")
        lines = self.api.expect(200, "GET", f"{self.base}/lines", query={"path": "f", "first": 2, "count": 1})
        self.assertEqual((lines["text"], lines["first"], lines["count"], lines["more"]), ("two\n", 2, 1, True))
        self.assertEqual(self.api.expect(200, "POST", f"{self.base}/append", body=b"four\n",
                                         query={"path": "f"})["action"], "changed")
        result = self.api.expect(200, "POST", f"{self.base}/edit", path="f",
                                 edits=[{"replace": "two", "with": "2"}, {"insert": 1, "text": "zero"}])
        self.assertEqual((result["replacements"], result["insertions"]), (1, 1))
        self.assertEqual(self.get_file(self.session, "f"), b"zero\none\n2\nthree\nfour\n")
        self.assertIn(self.api.post(f"{self.base}/edit", path="f", edits=[{"replace": "none", "with": ""}]).status,
                      (400, 404, 409))
        stale = self.api.post(f"{self.base}/edit", path="f", edits=[{"replace": "one", "with": "1"}],
                              expected_sha256="0" * 64)
        self.assertIn(stale.status, (409, 412))
        self.assertEqual(self.stat("f").json["size"], 22)
        self.assertEqual(self.stat("none").status, 404)

    def test_moving_copying_deleting(self):
        self.put_file(self.session, "a/x", b"1")
        copied = self.api.expect(200, "POST", f"{self.base}/copy", **{"from": "a", "to": "b"})
        self.assertEqual([(row["action"], row["path"]) for row in copied["files"]], [("created", "b/x")])
        moved = self.api.expect(200, "POST", f"{self.base}/move", **{"from": "b/x", "to": "c"})
        self.assertEqual({(row["action"], row["path"]) for row in moved["files"]},
                         {("removed", "b/x"), ("created", "c")})
        self.assertEqual(self.api.post(f"{self.base}/move", **{"from": "a/x", "to": "c", "existing": "keep"}).status,
                         409)
        self.assertEqual(self.api.delete(self.base, query={"path": "a"}).status, 409)
        removed = self.api.expect(200, "DELETE", self.base, query={"path": "a", "recursive": "true"})
        self.assertEqual([(row["action"], row["path"]) for row in removed["files"]], [("removed", "a/x")])
        self.assertEqual(self.stat("a").status, 404)

    def test_searching(self):
        self.put_file(self.session, "src/a.py", b"import os\n# TODO: x\n")
        self.put_file(self.session, "src/b.txt", b"todo\nTODO\n")
        found = self.api.expect(200, "POST", f"{self.base}/search", pattern="TODO")
        self.assertEqual([(row["path"], row["line"]) for row in found["matches"]], [("src/a.py", 2), ("src/b.txt", 2)])
        found = self.api.expect(200, "POST", f"{self.base}/search", pattern="todo", ignore_case=True, glob="*.txt",
                                limit=1, context=1)
        self.assertEqual((len(found["matches"]), found["complete"]), (1, False))
        more = self.api.expect(200, "POST", f"{self.base}/search", pattern="todo", ignore_case=True, glob="*.txt",
                               cursor=found["next_cursor"])
        self.assertEqual([row["line"] for row in more["matches"]], [2])
        files = self.api.expect(200, "POST", f"{self.base}/search", glob="src/*")
        self.assertEqual([row["path"] for row in files["matches"]], ["src/a.py", "src/b.txt"])

    def test_archives_there_and_back(self):
        self.put_file(self.session, "tree/a", b"1")
        self.put_file(self.session, "tree/deep/b", bytes(range(256)))
        for form in ("tar", "tar.gz", "zip"):
            packed = self.api.get(f"{self.base}/export", query={"path": "tree", "format": form})
            self.assertEqual(packed.status, 200)
            report = self.api.expect(200, "POST", f"{self.base}/import", body=packed.body,
                                     query={"directory": f"back-{form}"})
            self.assertEqual(len(report["changes"]), 2)
            self.assertEqual(self.get_file(self.session, f"back-{form}/deep/b"), bytes(range(256)))
        bad = io.BytesIO()
        with tarfile.open(fileobj=bad, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("good"))
            archive.addfile(tarfile.TarInfo("../evil"))
        answer = self.api.post(f"{self.base}/import", body=bad.getvalue())
        self.assertEqual((answer.status, answer.json["code"]), (400, "path_escapes_workspace"))
        self.assertEqual(self.stat("good").status, 404)

    def test_no_path_leads_out(self):
        self.put_file(self.session, "f", b"1")
        os.symlink("/etc", os.path.join(self.home, "sessions", self.session, "out"))
        for path in ("../x", "/../../etc/passwd", "a/../../x", "out/passwd", "/workspace/../etc/passwd"):
            for method, what, more in (("GET", "/content", {"query": {"path": path}}),
                                       ("PUT", "/content", {"query": {"path": path}, "body": b"owned"}),
                                       ("GET", "/stat", {"query": {"path": path}}),
                                       ("GET", "/lines", {"query": {"path": path}}),
                                       ("POST", "/append", {"query": {"path": path}, "body": b"owned"}),
                                       ("POST", "/move", {"from": "f", "to": path}),
                                       ("POST", "/copy", {"from": path, "to": "g"}),
                                       ("DELETE", "", {"query": {"path": path}}),
                                       ("GET", "/export", {"query": {"path": path}})):
                answer = self.api.request(method, self.base + what, **more)
                self.assertIn(answer.status, (400, 403), (method, what, path))
                self.assertNotIn(b"root:", answer.body)
        self.assertEqual(self.get_file(self.session, "f"), b"1")

    def test_paths_are_decoded_exactly_once(self):
        for text in ("%2e%2e%2fetc%2fpasswd", "..%2f..%2fetc%2fpasswd"):
            self.assertEqual(self.api.get(f"{self.base}/content?path={text}").status, 400)
        self.assertEqual(self.api.get(f"{self.base}/content?path=%252e%252e%252fetc").status, 404)
        self.put_file(self.session, "%2e%2e", b"a name")
        self.assertEqual(self.api.get(f"{self.base}/content?path=%252e%252e").body, b"a name")
        for text in ("a%00b", "%zz", "%"):
            self.assertEqual(self.api.get(f"{self.base}/content?path={text}").status, 400, text)

    def test_names_that_are_no_text(self):
        self.assertEqual(self.api.put(f"{self.base}/content?path=%ff%fe", body=b"1").status, 200)
        names = [item for item in self.api.expect(200, "GET", self.base)["items"] if "path_base64" in item]
        self.assertEqual([item["path_base64"] for item in names], ["//4="])
        answer = self.api.put(f"{self.base}/content?path=a%0d%0aX-Evil:%201", body=b"1")
        self.assertIsNone(answer.headers["X-Evil"])
        self.assertIsNone(self.api.get(f"{self.base}/content?path=a%0d%0aX-Evil:%201").headers["X-Evil"])


class SystemTest(daemon.DaemonTest):
    def test_health_ready_pool_and_the_contract(self):
        self.assertEqual(self.api.expect(200, "GET", "/v1/health")["status"], "ok")
        self.assertEqual(self.api.expect(200, "GET", "/v1/ready")["status"], "ready")
        self.execute("true")
        self.assertTrue(self.api.expect(200, "GET", "/v1/pool")["kinds"])
        with open(os.path.join(daemon.HERE, "..", "..", "api", "openapi.yaml"), "rb") as file:
            self.assertEqual(self.api.get("/v1/openapi.yaml").body, file.read())

    def test_risk(self):
        for code, levels in (("print(1)", ("safe", "low")),
                             ("import shutil; shutil.rmtree('/')", ("high", "critical"))):
            self.assertIn(self.api.expect(200, "POST", "/v1/risk", code=code)["level"], levels)
        self.assertEqual(self.api.post("/v1/risk", code="x", language="cobol").status, 400)

    def test_history(self):
        session = self.make()
        self.put_file(session, "in", b"1")
        self.execute("cat in > out", session)
        base = f"/v1/sessions/{session}/history"
        kinds = [item["kind"] for item in self.api.expect(200, "GET", base)["items"]]
        self.assertEqual(kinds, ["bootstrap", "write", "run"])
        page = self.api.expect(200, "GET", base, query={"limit": 2})
        rest = self.api.expect(200, "GET", base, query={"after": page["next_cursor"]})
        self.assertEqual([item["kind"] for item in page["items"] + rest["items"]], kinds)
        story = self.api.expect(200, "GET", base + "/file", query={"path": "out"})
        self.assertEqual([step["action"] for step in story["versions"]], ["created"])
        for form, start in (("mermaid", b"flowchart "), ("dot", b"digraph ")):
            self.assertTrue(self.api.get(base, query={"format": form}).body.startswith(start))

    def test_errors_have_one_shape(self):
        session = self.make()
        rows = [("GET", "/v1/none", {}, 404), ("PATCH", "/v1/sessions", {}, 405), ("GET", "/", {}, 404),
                ("POST", "/v1/execute", {"body": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
                ("POST", "/v1/execute", {"body": b"{", "headers": {"Content-Type": "application/json"}}, 400),
                ("POST", "/v1/execute", {"code": "1", "unknown": 1}, 400),
                ("POST", "/v1/execute", {"language": "shell"}, 400),
                ("GET", "/v1/health?what=1", {}, 400), ("GET", "/v1/sessions?limit=0", {}, 400),
                ("GET", "/v1/sessions?limit=1001", {}, 400), ("GET", "/v1/sessions?limit=2&limit=3", {}, 400),
                ("GET", f"/v1/sessions/{session}/files/content", {}, 400),
                ("GET", "/v1/executions/none", {}, 404), ("GET", "/v1/approvals/none", {}, 404),
                ("DELETE", "/v1/tokens/none", {}, 404)]
        for method, path, more, status in rows:
            with self.subTest(path=path, method=method, **more):
                self.assertEqual(self.api.request(method, path, **more).status, status)

    def test_bodies_in_chunks_everywhere(self):
        session = self.make()

        def post(path, /, method="POST", query=None, **fields):
            body = json.dumps(fields).encode()
            pieces = iter([body[:3], body[3:4], body[4:]])
            return self.api.request(method, path, body=pieces, query=query,
                                    headers={"Content-Type": "application/json"})

        self.assertEqual(post("/v1/execute", code="print(1)").json["stdout"], "1\n")
        self.assertEqual(post("/v1/risk", code="print(1)").status, 200)
        self.assertEqual(post(f"/v1/sessions/{session}/execute", code="print(2)").json["stdout"], "2\n")
        self.assertEqual(post(f"/v1/sessions/{session}/commands", argv=["echo", "3"]).json["stdout"], "3\n")
        self.assertEqual(post(f"/v1/sessions/{session}/files/directory", path="d").status, 201)
        self.assertEqual(post(f"/v1/sessions/{session}/extend", ttl_seconds=60).status, 200)
        made = post("/v1/sessions", metadata={"a": "b"})
        self.assertEqual(made.status, 201)
        self.remove(made.json["id"])

    def test_an_old_client(self):
        body = b'{"code": "print(1)"}'
        request = (b"POST /v1/execute HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                   % len(body)) + body
        answer = self.api.raw(request, timeout=30)
        head, _, content = answer.partition(b"\r\n\r\n")
        self.assertIn(b" 200 ", head.split(b"\r\n")[0])
        self.assertNotIn(b"chunked", head.lower())
        self.assertEqual(json.loads(content)["stdout"], "1\n")
        stream = self.api.raw(b"POST /v1/execute HTTP/1.0\r\nAccept: text/event-stream\r\n"
                              b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body, 30)
        self.assertNotIn(b"chunked", stream.lower())
        self.assertIn(b"event: exit\n", stream)

    def test_a_connection_serves_many_requests(self):
        connection = self.api.open()
        for _ in range(50):
            connection.request("GET", "/v1/health")
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()[:1]), (200, b"{"))
        connection.close()


@harness.once
class ApprovalsTest(daemon.DaemonTest):
    RISKY = "import shutil\nshutil.rmtree('/workspace/tree')\nprint('ran')"

    def ask(self, session, client=None, **fields):
        """A risky run on its way, and what a person is asked."""
        client = client or self.api
        before = {item["id"] for item in self.api.expect(200, "GET", "/v1/approvals")["items"]}
        results = []
        thread = threading.Thread(target=lambda: results.append(
            client.post(f"/v1/sessions/{session}/execute", code=self.RISKY, **fields)))
        thread.start()
        self.addCleanup(thread.join)
        question = self.eventually(lambda: [item for item in self.api.get("/v1/approvals").json["items"]
                                            if item["id"] not in before])[0]
        return question, lambda: (thread.join(), results[0])[1]

    def prepared(self):
        session = self.make()
        self.put_file(session, "tree/f", b"1")
        return session

    def decide(self, question, decision, **more):
        fields = {"decision": decision, "digest": question["digest"]} | more
        return self.api.post(f"/v1/approvals/{question['id']}", **fields)

    def test_it_runs_when_somebody_said_yes(self):
        session = self.prepared()
        question, result = self.ask(session)
        self.assertEqual((question["code"], question["session_id"]), (self.RISKY, session))
        again = self.api.expect(200, "GET", f"/v1/approvals/{question['id']}")
        self.assertLessEqual(again.pop("remaining_seconds"), question.pop("remaining_seconds"))
        self.assertEqual(again, question)
        waiting = self.api.expect(200, "GET", f"/v1/executions/{question['execution_id']}")
        self.assertEqual((waiting["state"], waiting["approval"]["approval_id"]), ("waiting", question["id"]))
        self.assertEqual(self.get_file(session, "tree/f"), b"1")
        wrong = self.decide(question, "approve", digest="0" * 64)
        self.assertEqual((wrong.status, wrong.json["code"]), (409, "conflict"))
        self.assertEqual(self.get_file(session, "tree/f"), b"1")
        self.assertEqual(self.decide(question, "approve").json, {"decision": "approve"})
        self.assertEqual(result().json["stdout"], "ran\n")
        self.assertIn(self.decide(question, "approve").status, (404, 409, 410))

    def test_and_not_when_they_said_no(self):
        session = self.prepared()
        question, result = self.ask(session)
        self.assertEqual(self.decide(question, "reject", reason="too risky").status, 200)
        answer = result()
        self.assertIn(answer.status, (200, 403))
        if answer.status == 200:
            self.assertEqual((answer.json["outcome"], answer.json["success"]), ("rejected", False))
        ended = self.ended(question["execution_id"])
        self.assertEqual(ended["result"]["outcome"], "rejected")
        self.assertEqual(self.get_file(session, "tree/f"), b"1")

    def test_a_stream_tells_that_somebody_is_asked(self):
        session = self.prepared()
        with self.api.events("POST", f"/v1/sessions/{session}/execute", code=self.RISKY) as events:
            self.assertEqual(next(events).name, "started")
            question = next(events)
            self.assertEqual(question.name, "approval")
            answer = self.api.post(f"/v1/approvals/{question.data['approval_id']}", decision="approve",
                                   digest=question.data["digest"])
            self.assertEqual(answer.status, 200)
            self.assertEqual([event.name for event in events], ["stdout", "result", "exit"])

    def test_for_the_session_it_is_asked_once(self):
        session = self.prepared()
        question, result = self.ask(session)
        self.assertEqual(self.decide(question, "approve", scope="session").status, 200)
        self.assertEqual(result().json["stdout"], "ran\n")
        self.put_file(session, "tree/f", b"1")
        self.assertEqual(self.api.post(f"/v1/sessions/{session}/execute", code=self.RISKY).json["stdout"], "ran\n")

    def test_only_who_may_approve_may_say_yes_for_the_person(self):
        token = self.daemon.issue(scopes=["run"])
        caller = self.daemon.tcp(token["token"])
        for path in ("/v1/execute",):
            answer = caller.post(path, code="print(1)", approve=True)
            self.assertEqual((answer.status, answer.json["code"]), (403, "permission_denied"))
        both = self.daemon.tcp(self.daemon.issue(scopes=["run", "approve"])["token"])
        self.assertEqual(both.post("/v1/execute", code="print(1)", approve=True).status, 200)

    def test_an_approval_belongs_to_its_tenant(self):
        session = self.prepared()
        question, result = self.ask(session)
        other = self.daemon.tcp(self.daemon.issue(scopes=["approve", "run"])["token"])
        self.assertEqual(other.expect(200, "GET", "/v1/approvals")["items"], [])
        self.assertEqual(other.get(f"/v1/approvals/{question['id']}").status, 404)
        self.assertEqual(other.post(f"/v1/approvals/{question['id']}", decision="approve",
                                    digest=question["digest"]).status, 404)
        self.decide(question, "reject")
        result()

    def test_what_was_deleted_or_cancelled_is_asked_no_more(self):
        session = self.prepared()
        question, result = self.ask(session)
        self.api.expect(200, "POST", f"/v1/executions/{question['execution_id']}/cancel")
        result()
        self.assertIn(self.decide(question, "approve").status, (404, 409, 410))
        self.assertEqual(self.get_file(session, "tree/f"), b"1")

    def test_after_its_time_it_is_gone(self):
        self.with_settings(SKERRY_SANDBOX__CONFIRM_TIMEOUT="4")
        session = self.prepared()
        question, result = self.ask(session)
        self.assertIn(result().status, (200, 403, 408, 504))
        self.assertIn(self.decide(question, "approve").status, (404, 410))
        self.assertEqual(self.get_file(session, "tree/f"), b"1")


if __name__ == "__main__":
    harness.main()
