"""kill -9 of a busy daemon, again and again: what was acknowledged is there, nothing ran twice, nothing lives on.

10 kills, 100 with SKERRY_SOAK=1. SKERRY_SEED repeats the moments; the seed is printed.
"""
import collections
import contextlib
import http.client
import os
import random
import threading
import time

import daemon
import harness
import observe

KILLS = 100 if daemon.SOAK else 10
SEED = int(os.environ.get("SKERRY_SEED") or random.SystemRandom().randrange(10**6))
GONE = (OSError, http.client.HTTPException, ValueError)


class Ledger:
    """What the daemon has said yes to."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions, self.deleted = set(), set()
        self.files = {}  # (session, path) → content
        self.runs = {}   # key → (session, answer or None)
        self.final = {}  # execution → (state, outcome)
        self.numbers = iter(range(10**9))

    def number(self):
        with self.lock:
            return next(self.numbers)


class Caller(threading.Thread):
    """Works with sessions of its own until it is told to stop. A daemon that is gone is waited for."""

    def __init__(self, ledger, path):
        super().__init__()
        self.ledger, self.stopped = ledger, threading.Event()
        self.client = daemon.Client(path, check=False)
        self.session, self.errors = None, []

    def run(self):
        while not self.stopped.is_set():
            try:
                self.step()
            except GONE:
                self.stopped.wait(0.02)
            except AssertionError as error:
                self.errors.append(error)
                return

    def step(self):
        ledger = self.ledger
        if self.session is None or random.random() < 0.15:
            answer = self.client.post("/v1/sessions", metadata={}, patience=30)
            self.judge(answer, 201)
            with ledger.lock:
                ledger.sessions.add(answer.json["id"])
            self.session = answer.json["id"]
            return
        number = ledger.number()
        if random.random() < 0.5:
            content = os.urandom(random.choice((1, 100, 5000, 300_000)))
            answer = self.client.put(f"/v1/sessions/{self.session}/files/content", body=content,
                                     query={"path": f"d/{number}"}, patience=30)
            self.judge(answer, 200)
            with ledger.lock:
                ledger.files[self.session, f"d/{number}"] = content
            return
        key = f"key-{number}"
        with ledger.lock:
            ledger.runs[key] = (self.session, None)
        path, fields = request_of(self.session, key)
        answer = self.client.post(path, patience=60, **fields)
        self.judge(answer, 200)
        with ledger.lock:
            ledger.runs[key] = (self.session, answer.json)

    @staticmethod
    def judge(answer, status):
        # Whoever is told that the daemon ends asks the next one.
        if answer.status == 503:
            raise OSError("unavailable")
        if answer.status != status:
            raise AssertionError(f"{answer.status} {answer.body[:300]!r}")


def request_of(session, key):
    return (f"/v1/sessions/{session}/execute",
            {"code": f"echo {key} >> runs; echo {key}", "language": "shell", "approve": True,
             "headers": {"Idempotency-Key": key}})


class CrashTest(daemon.DaemonTest):
    arguments = ()
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}

    def test_kill_after_kill(self):
        print(f"SKERRY_SEED={SEED}", flush=True)
        random.seed(SEED)
        ledger, slowest, lost = Ledger(), (0, []), 0
        for number in range(KILLS):
            witness = self.make_witness(ledger)
            callers = [Caller(ledger, self.daemon.socket_path) for _ in range(4)]
            for caller in callers:
                caller.start()
            time.sleep(random.uniform(0.05, 1.2))
            seen = self.logs(*witness)
            type(self).note_pids(self.daemon)
            family = observe.descendants()
            self.daemon.process.kill()
            killed = time.monotonic()
            for caller in callers:
                caller.stopped.set()
            slowest = max(slowest, self.wait_until_alone(family, killed, number))
            for caller in callers:
                caller.join()
                self.assertEqual(caller.errors, [])
            type(self).start()
            self.api = self.daemon.api
            self.check_sessions(ledger, witness)
            self.check_witness(witness, seen)
            lost += self.check_executions(ledger)
            self.check_files(ledger)
            self.check_keys(ledger)
            self.check_traces(number)
            self.forget_some(ledger)
        print(f"{KILLS} kills: {len(ledger.final)} runs, {lost} of them lost; the last process was gone "
              f"{slowest[0] * 1000:.0f} ms after the kill at the latest: {slowest[1]}", flush=True)

    def make_witness(self, ledger):
        """A session with something that writes all the time."""
        session = self.api.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        ledger.sessions.add(session)
        command = self.start_command(session, "i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done")
        self.eventually(lambda: self.logs(session, command)["next_offset"] > 0)
        return session, command

    def wait_until_alone(self, family, killed, number):
        """J25: with the daemon its sandboxes die, within a second, and so does the daemon. Gives back how long that took,
        and what was left of the sandboxes each time that this changed: a failure tells whose death was slow."""
        limit = 1 if not harness.AS_USER else 2
        story = []
        while (left := self.left_of(family)) and time.monotonic() < killed + 5:
            names = dict(collections.Counter(left.values()))
            if not story or story[-1][1] != names:
                story.append((round(time.monotonic() - killed, 3), names))
            time.sleep(0.01)
        took = time.monotonic() - killed
        self.assertEqual(left, {}, f"5 seconds after kill {number}: {story}")
        self.assertLess(took, limit, f"kill {number}: {story}")
        self.daemon.process.wait(timeout=30)
        observe.reap_orphans()
        while (left := observe.descendants()) and time.monotonic() < killed + 5:
            observe.reap_orphans()
            time.sleep(0.01)
        took = time.monotonic() - killed
        self.assertEqual(left, {}, f"5 seconds after kill {number}: {story}")
        self.assertLess(took, limit, f"kill {number}, the daemon itself: {story}")
        return took, story

    def left_of(self, family):
        """Of those that the daemon has started, which may be children of nobody that we know by now; and all others that
        we started, by whatever way."""
        left = {pid: name for pid, name in family.items() if harness.parent_and_name(pid)[1] == name}
        return {pid: name for pid, name in (left | observe.descendants()).items() if pid != self.daemon.process.pid}

    def check_sessions(self, ledger, witness):
        items, query = {}, {"limit": 1000}
        page = self.api.expect(200, "GET", "/v1/sessions", query=query)
        items = {item["id"]: item for item in page["items"]}
        self.assertIsNone(page["next_cursor"])
        self.assertEqual(ledger.sessions - set(items), set(), "sessions are missing")
        self.assertEqual(ledger.deleted & set(items), set(), "sessions are back")
        self.assertEqual(items[witness[0]]["state"], "crashed")
        self.assertLessEqual({item["state"] for item in items.values()}, {"crashed", "idle"})
        ledger.sessions |= set(items)  # those that nobody was told of

    def check_witness(self, witness, seen):
        execution = self.api.expect(200, "GET", f"/v1/executions/{witness[1]}")
        self.assertEqual(execution["state"], "lost")
        output = self.logs(*witness)
        self.assertGreaterEqual(output["next_offset"], seen["next_offset"])
        text = daemon.text_of(output["pieces"])
        self.assertTrue(text.startswith(daemon.text_of(seen["pieces"])))
        lines = text.split(b"\n")[:-1]
        self.assertEqual(lines, [b"%d" % (index + 1) for index in range(len(lines))])

    def check_executions(self, ledger):
        """Each one has ended, and how it ended never changes. Gives back how many are lost now that were not known."""
        query, lost = {"limit": 1000}, 0
        while True:
            page = self.api.expect(200, "GET", "/v1/executions", query=query)
            for item in page["items"]:
                self.assertIn(item["state"], ("done", "lost"), item)
                self.assertIsNotNone(item["ended_at"])
                end = (item["state"], item["result"] and item["result"]["outcome"])
                lost += item["id"] not in ledger.final and item["state"] == "lost"
                self.assertEqual(ledger.final.setdefault(item["id"], end), end)
            if page["next_cursor"] is None:
                return lost
            query["cursor"] = page["next_cursor"]

    def check_files(self, ledger):
        for (session, path), content in ledger.files.items():
            self.assertEqual(self.get_file(session, path), content, (session, path))
        for session in ledger.sessions:
            check = self.api.expect(200, "GET", f"/v1/sessions/{session}/check")
            self.assertTrue(check["matches"], (session, check["files"]))

    def check_keys(self, ledger):
        """Asked again, a key gives what there is, and its program ran once at most."""
        lines = {}
        for key, (session, known) in ledger.runs.items():
            path, fields = request_of(session, key)
            answer = self.api.post(path, **fields)
            self.assertEqual(answer.status, 200, answer.body[:300])
            if known is not None:
                self.assertEqual(answer.json, known)
            ledger.runs[key] = (session, answer.json)
        for key, (session, answer) in ledger.runs.items():
            if session not in lines:
                found = self.api.get(f"/v1/sessions/{session}/files/content", query={"path": "runs"})
                lines[session] = found.body.decode().split() if found.status == 200 else []
            count = lines[session].count(key)
            if answer["outcome"] == "exited":
                self.assertEqual((count, answer["stdout"]), (1, key + "\n"), key)
            else:
                self.assertEqual(answer["outcome"], "lost")
                self.assertLessEqual(count, 1, key)

    def check_traces(self, number):
        dead = {pid for pid in self.pids if not os.path.exists(f"/proc/{pid}")}
        deadline = time.monotonic() + 5
        while (left := observe.traces_of(dead, self.traces) - self.alive()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(left, set(), f"after kill {number} and the next start")

    @staticmethod
    def alive():
        """What belongs to the daemon that runs now."""
        return {f"process {pid} {name}" for pid, name in observe.descendants().items()}

    def forget_some(self, ledger):
        """Keeps what has to be looked at from growing; and what was deleted stays so."""
        for session in sorted(ledger.sessions)[:max(0, len(ledger.sessions) - 6)]:
            self.api.expect(204, "DELETE", f"/v1/sessions/{session}")
            ledger.sessions.discard(session)
            ledger.deleted.add(session)
        ledger.files = {place: content for place, content in ledger.files.items() if place[0] in ledger.sessions}
        ledger.runs = {key: run for key, run in ledger.runs.items() if run[0] in ledger.sessions}


class SingleTest(daemon.DaemonTest):
    """One kill at a chosen moment."""

    def crash(self):
        type(self).note_pids(self.daemon)
        self.daemon.kill()
        self.eventually(lambda: (observe.reap_orphans(), not observe.descendants())[1], 2)
        type(self).start()
        self.api = self.daemon.api

    def test_j25_a_session_that_crashed_goes_on(self):
        session = self.make()
        self.put_file(session, "f", b"kept")
        token = self.daemon.issue()
        running = self.start_command(session, "echo before; sleep 1000")
        self.eventually(lambda: self.logs(session, running)["next_offset"])
        self.crash()
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{session}")["state"], "crashed")
        lost = self.api.expect(200, "GET", f"/v1/executions/{running}")
        self.assertEqual((lost["state"], lost["result"]["outcome"], lost["result"]["stdout"]),
                         ("lost", "lost", "before\n"))
        with self.api.events("GET", f"/v1/executions/{running}/events") as events:
            events = list(events)
        self.assertEqual((events[-1].name, events[-1].data["state"]), ("exit", "lost"))
        self.assertEqual(self.execute("cat f; pgrep -c sleep || true", session)["stdout"], "kept0\n")
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{session}")["state"], "active")
        self.assertEqual(self.daemon.tcp(token["token"]).get("/v1/health").status, 200)

    def test_j25_also_while_a_thread_of_the_daemon_cannot_end(self):
        """As one that waits for a disk. Here it is frozen: until the thaw nothing ends it."""
        group, main = f"/sys/fs/cgroup/freezer/test-{os.getpid()}", self.daemon.process.pid
        self.start_command(self.make(), "sleep 1000")
        self.eventually(lambda: "sleep" in observe.descendants().values())
        family = {pid for pid in observe.descendants() if pid != main}
        try:
            os.mkdir(group)
        except (FileNotFoundError, PermissionError) as error:
            self.skipTest(f"nothing to freeze a thread with: {error}")
        try:
            for name, word in (("tasks", main), ("freezer.state", "FROZEN")):
                with open(f"{group}/{name}", "w", encoding="utf-8") as file:
                    file.write(str(word))
            self.daemon.process.kill()
            self.eventually(lambda: not any(harness.parent_and_name(pid)[1] for pid in family), 1)
            self.assertIsNone(self.daemon.process.poll(), "the daemon could end")
        finally:
            with open(f"{group}/freezer.state", "w", encoding="utf-8") as file:
                file.write("THAWED")
            self.daemon.process.kill()
            self.daemon.process.wait(timeout=10)
            os.rmdir(group)
        self.crash()

    def test_who_listens_is_told_by_the_end_of_the_stream(self):
        session = self.make()
        with self.api.events("POST", f"/v1/sessions/{session}/execute", code="echo up; sleep 1000", language="shell",
                             approve=True) as events:
            execution = next(events).data["execution_id"]
            self.assertEqual(next(events).name, "stdout")
            self.daemon.process.kill()
            with contextlib.suppress(*GONE):
                self.assertNotIn("exit", [event.name for event in events])
        self.daemon.process.wait()
        self.crash()
        self.assertEqual(self.api.expect(200, "GET", f"/v1/executions/{execution}")["state"], "lost")

    def test_a_question_that_was_open_is_none_any_more(self):
        session = self.make()
        sock = self.api.send_head("POST", f"/v1/sessions/{session}/execute",
                                  b'{"code": "import shutil\\nshutil.rmtree(\'/workspace/x\')"}')
        question = self.eventually(lambda: self.api.get("/v1/approvals").json["items"])[0]
        self.crash()
        sock.close()
        self.assertEqual(self.api.expect(200, "GET", "/v1/approvals")["items"], [])
        self.assertEqual(self.api.post(f"/v1/approvals/{question['id']}", decision="approve",
                                       digest=question["digest"]).status in (404, 410), True)
        self.assertEqual(self.api.expect(200, "GET", f"/v1/executions/{question['execution_id']}")["state"], "lost")

    def test_a_paused_session_too(self):
        session = self.make()
        self.start_command(session, "sleep 1000")
        if self.api.post(f"/v1/sessions/{session}/pause").status == 503:
            self.skipTest("nothing to freeze a sandbox with")
        self.crash()
        self.assertEqual(self.execute("echo fine", session)["stdout"], "fine\n")


if __name__ == "__main__":
    harness.main()
