#!/usr/bin/env python3
"""A store that an older daemon wrote, opened by this one: tokens, sessions, history, approvals and results are there."""
import contextlib
import pathlib
import sqlite3
import time

import daemon
import harness

OLD = pathlib.Path(daemon.HERE).parent / "data" / "record-v6.sql"
# Of the old daemon. It exists nowhere else.
TOKEN = "sk" + "_mh3bghibxgisga8k5e546av5yolkyqv8br4ws66dt1xfx6lv"
SESSION = "work~xmuvj544o6uf2at4"


class UpgradeTest(daemon.DaemonTest):
    autostart = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        state = pathlib.Path(cls.home) / ".skerry"
        state.mkdir(mode=0o700)
        with contextlib.closing(sqlite3.connect(state / "record.db")) as database:
            database.executescript(OLD.read_text(encoding="utf-8"))
            # Results without a session are kept for an hour, and the dump is older.
            database.execute("UPDATE runs SET ended_at = ? WHERE ended_at IS NOT NULL", [time.time_ns() // 1000])
            database.commit()
        sessions = pathlib.Path(cls.home) / "sessions"
        (sessions / ".skerry" / SESSION / "stage").mkdir(parents=True)
        workspace = sessions / SESSION
        workspace.mkdir()
        for path in (sessions, *sessions.rglob("*")):
            path.chmod(0o700)
        (sessions / ".skerry" / SESSION / "lock").touch(mode=0o600)
        (workspace / "a.txt").write_text("x")
        (workspace / "b.txt").write_text("hello")
        cls.start()
        cls.caller = cls.daemon.tcp(TOKEN)

    def test_everything_of_the_old_daemon_is_there(self):
        runs = self.caller.expect(200, "GET", "/v1/executions")["items"]
        self.assertEqual([(run["kind"], run["state"], run["result"]["outcome"]) for run in runs],
                         [("execute", "lost", "lost"), ("execute", "done", "exited"), ("execute", "done", "timed_out"),
                          ("cell", "done", "exited"), ("cell", "done", "exited"), ("command", "done", "exited"),
                          ("execute", "done", "rejected"), ("execute", "done", "exited"), ("execute", "done", "exited")])
        self.assertEqual(runs[0]["result"]["error"], "the daemon was ended while this ran")
        self.assertEqual(runs[2]["result"]["error"], "Execution timeout (1s)")
        self.assertEqual(runs[3]["result"]["error"], "ValueError: no")
        self.assertIn('raise ValueError("no")', runs[3]["result"]["traceback"])
        rejected = runs[6]["result"]
        self.assertTrue(rejected["error"].startswith("Rejected: because; "), rejected["error"])
        approved = runs[7]["result"]
        self.assertEqual((approved["files_created"], approved["approved_by"]), (["a.txt"], "tokfx62y72mmzmhl1gr"))
        self.assertEqual(approved["risk"]["level"], "critical")

    def test_a_result_by_its_id_is_whole(self):
        cell = self.caller.expect(200, "GET", "/v1/executions/x635km67bfi1w2dij")["result"]
        self.assertEqual(cell["outputs"], [{"kind": "result", "data": {"text/plain": "10"}}])
        self.assertEqual((cell["context"], cell["cell"], cell["alive"], cell["start"]), ("c", 1, True, "fork"))

    def test_sessions_work_on_and_their_history_stays(self):
        session = self.caller.expect(200, "GET", "/v1/sessions/work")
        self.assertEqual((session["metadata"], session["state"]), ({"k": "v"}, "crashed"))
        history = self.caller.expect(200, "GET", "/v1/sessions/work/history")["items"]
        self.assertEqual([entry["kind"] for entry in history],
                         ["bootstrap", "run", "run", "run", "cell", "cell", "write", "run"])
        result = self.caller.expect(200, "POST", "/v1/sessions/work/execute", code="cat b.txt", language="shell")
        self.assertEqual(result["stdout"], "hello")

    def test_approvals_and_tokens_stay(self):
        approvals = self.api.expect(200, "GET", "/v1/approvals", query={"state": "decided"})["items"]
        self.assertEqual([(approval["state"], approval["reason"]) for approval in approvals],
                         [("rejected", "because"), ("approved", "because")])
        tokens = self.api.expect(200, "GET", "/v1/tokens")["items"]
        self.assertEqual({token["name"]: token["revoked_at"] is None for token in tokens},
                         {"ci": True, "person": True, "old": False})


if __name__ == "__main__":
    harness.main()
