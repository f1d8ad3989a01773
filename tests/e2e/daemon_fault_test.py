"""One who takes all there is, one who is sent away, a disk that is full: others and what was said stay whole."""
import os
import subprocess
import tempfile
import threading
import time
import unittest

import daemon
import harness


class ShareTest(daemon.DaemonTest):
    def test_nobody_takes_all_threads(self):
        token = self.daemon.issue("greedy", scopes=["run"], limits={"requests_per_second": 100000})["token"]
        session = self.make()
        command = self.start_command(session, "sleep 60")
        # Of the tenant's own, so that it may wait for it.
        mine = self.daemon.tcp(token).expect(201, "POST", "/v1/sessions", metadata={})["id"]
        self.addCleanup(self.remove, mine)
        waiting = self.run_command(mine, command="sleep 60", background=True, client=self.daemon.tcp(token),
                                   approve=False)["id"]
        sockets = []
        try:
            for _ in range(200):
                sockets.append(self.daemon.tcp(token).send_head("GET", f"/v1/executions/{waiting}?wait_seconds=60"))
            time.sleep(0.5)
            refused = self.daemon.tcp(token).get(f"/v1/executions/{waiting}", query={"wait_seconds": 1})
            self.assertEqual((refused.status, refused.json["code"]), (429, "rate_limited"))
            self.assertEqual(self.execute("echo fine", session)["stdout"], "fine\n")
        finally:
            for connection in sockets:
                connection.close()
        self.api.expect(200, "POST", f"/v1/executions/{command}/cancel")

    def test_a_shared_session_can_be_made_while_another_is_in_use(self):
        first = self.make(mode="shared")
        command = self.start_command(first, "echo here > file; sleep 60")
        self.eventually(lambda: self.daemon.api.get(f"/v1/executions/{command}").json["state"] == "running")
        second = self.make(mode="shared")
        self.eventually(lambda: self.execute("cat file", second)["stdout"] == "here\n")

    def test_a_token_that_is_revoked_ends_what_it_opened(self):
        issued = self.daemon.issue("short", scopes=["run"])
        client = self.daemon.tcp(issued["token"])
        session = client.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        self.addCleanup(self.remove, session)
        command = self.run_command(session, command="sleep 60", background=True, client=client, approve=False)["id"]
        ended = threading.Event()

        def listen():
            with client.events("GET", f"/v1/executions/{command}/events") as events:
                list(events)
            ended.set()

        thread = threading.Thread(target=listen)
        thread.start()
        time.sleep(0.3)
        self.assertFalse(ended.is_set())
        self.api.expect(204, "DELETE", f"/v1/tokens/{issued['id']}")
        self.assertTrue(ended.wait(15))
        thread.join()
        self.assertEqual(self.api.get(f"/v1/executions/{command}").json["state"], "running")

    def test_a_command_ends_with_its_last_reader_if_that_was_asked_for(self):
        session = self.make()
        for ends in (False, True):
            more = {"on_disconnect": "kill"} if ends else {}
            command = self.start_command(session, "sleep 60", **more)
            path = f"/v1/sessions/{session}/commands/{command}/attach"
            with self.api.websocket(path):
                with self.api.websocket(path):
                    pass
                time.sleep(0.3)
                self.assertIn(self.api.get(f"/v1/executions/{command}").json["state"], ("waiting", "running"))
            time.sleep(0.2)
            if ends:
                self.assertEqual(self.ended(command, 10)["result"]["outcome"], "cancelled")
            else:
                self.assertEqual(self.api.get(f"/v1/executions/{command}").json["state"], "running")

    def test_it_ends_soon_although_programs_run(self):
        self.with_settings(SKERRY_SANDBOX__DAEMON__DRAIN_TIMEOUT="1")
        api, answers = self.daemon.api, []
        thread = threading.Thread(target=lambda: answers.append(
            api.post("/v1/execute", code="echo begun; sleep 100", language="shell", timeout=200)))
        thread.start()
        time.sleep(0.5)
        started = time.monotonic()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertLess(time.monotonic() - started, 8)
        thread.join()
        # Whoever waited is told.
        self.assertEqual([(answer.status, answer.json["outcome"], answer.json["stdout"]) for answer in answers],
                         [(200, "cancelled", "begun\n")])
        type(self).start()


@unittest.skipIf(os.geteuid() != 0, "a small file system needs root")
class FullDiskTest(daemon.DaemonTest):
    autostart = False

    def test_what_could_not_be_kept_is_said_and_the_end_is_known(self):
        place = tempfile.mkdtemp(dir=self.home)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m,mode=0700", "none", place], check=True)
        try:
            small = self.spawn(environment={"HOME": place,
                                            "SKERRY_SANDBOX__WORKSPACE__BASE_DIR": os.path.join(place, "sessions")})
            try:
                result = small.api.expect(200, "POST", "/v1/execute", language="shell", max_output_mb=100,
                                          code="head -c 20000000 /dev/zero | tr '\\0' x", approve=True)
                self.assertTrue(result["output_truncated"])
                self.assertIn("the disk is full", " ".join(result["degraded"]))
                found = small.api.get(f"/v1/executions/{result['execution_id']}").json
                self.assertEqual(found["state"], "done")
            finally:
                small.stop()
        finally:
            subprocess.run(["umount", "-l", place], check=True)


if __name__ == "__main__":
    harness.main()
