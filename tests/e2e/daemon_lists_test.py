"""Lists are short whatever ran: pages of summaries, pages of files, a record that is bounded and shrinks again."""
import contextlib
import os
import sqlite3
import threading

import daemon
import harness

MEGABYTE = 1 << 20
# Names of about 3.3 KB each.
MANY_FILES = """
import os
d = "/workspace"
for i in range(13):
    d += "/" + "d" * 250
os.makedirs(d, exist_ok=True)
for i in range(%d):
    open(d + "/%s%%05d" %% i, "w").close()
"""


class ManyFilesTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}
    COUNT = 2000

    def make_files(self, session, prefix, count=COUNT):
        return self.execute(MANY_FILES % (count, prefix), session, language="python", timeout=120, max_memory_mb=512,
                            patience=150)

    def record_size(self):
        place = os.path.join(self.home, ".skerry")
        return sum(os.path.getsize(os.path.join(place, name)) for name in os.listdir(place)
                   if name.startswith("record.db"))

    def file_size(self):
        """Without the log beside it."""
        path = os.path.join(self.home, ".skerry", "record.db")
        with contextlib.closing(sqlite3.connect(path)) as record:
            record.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return os.path.getsize(path)

    def pages(self, path, **query):
        items, cursor = [], None
        while True:
            page = self.api.expect(200, "GET", path, query=query | ({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["next_cursor"]
            if not cursor:
                return items

    def test_lists_stay_small_and_files_have_pages(self):
        session = self.make()
        results = [self.make_files(session, prefix) for prefix in "ab"]
        for result in results:
            # The result itself names the first and counts all.
            self.assertLessEqual(len(result["files_created"]), 1000)
            self.assertGreaterEqual(result["files_total"]["created"], self.COUNT)
        self.daemon.reset_peak()
        memory = self.daemon.memory()
        answers = self.in_threads([lambda: self.api.get("/v1/executions", query={"limit": 1000})] * 6)
        for answer in answers:
            self.assertLess(len(answer.body), 200_000)
        self.assertLess(self.daemon.memory("VmHWM") - memory, 64 * MEGABYTE)
        listed = {item["id"]: item for item in answers[0].json["items"]}
        for result in results:
            summary = listed[result["execution_id"]]["result"]
            self.assertEqual(summary["files_total"], result["files_total"])
            self.assertLessEqual(len(summary["files_created"]), 10)
            # All of them, page by page.
            files = self.pages(f"/v1/executions/{result['execution_id']}/files", limit=1000)
            self.assertEqual(len(files), self.COUNT)
            self.assertEqual({item["action"] for item in files}, {"created"})
        entries = self.pages_of_history(session)
        self.assertEqual([entry.get("files_total") for entry in entries if entry["kind"] == "run"],
                         [self.COUNT, self.COUNT])
        check = self.api.expect(200, "GET", f"/v1/sessions/{session}/check")
        self.assertEqual((check["matches"], check["total"], check["left_out"]), (True, 0, 0))

    def test_what_was_withheld_has_pages_too(self):
        session = self.make()
        # Links that lead out of the workspace are not carried over.
        code = """
import os
d = "/workspace"
for i in range(10):
    d += "/" + "d" * 200
os.makedirs(d, exist_ok=True)
for i in range(1500):
    os.symlink("/etc/passwd", d + "/link%05d" % i)
"""
        result = self.execute(code, session, language="python", timeout=120, patience=150)
        total = result["files_total"]["withheld"]
        self.assertGreaterEqual(total, 1500)
        self.assertLessEqual(len(result["files_withheld"]), 1000)
        path = f"/v1/executions/{result['execution_id']}/files"
        withheld = self.pages(path, kind="withheld", limit=1000)
        self.assertEqual(len(withheld), total)
        self.assertTrue(all(item["reason"] for item in withheld))
        self.assertEqual(self.pages(path, kind="to_review"), [])
        self.assertEqual(self.api.get(path, query={"kind": "others"}).status, 400)
        # Of a run without a session there is what its result has.
        alone = self.execute("touch a b", timeout=60)
        page = self.api.expect(200, "GET", f"/v1/executions/{alone['execution_id']}/files")
        self.assertEqual(([item["path"] for item in page["items"]], page["left_out"]), (["a", "b"], 0))

    def test_answers_name_the_first_files(self):
        session = self.make()
        self.execute("mkdir -p t; cd t; seq 1 1500 | xargs touch", session, timeout=60)
        copied = self.api.expect(200, "POST", f"/v1/sessions/{session}/files/copy", **{"from": "t", "to": "u"})
        self.assertEqual((len(copied["files"]), copied["files_total"]), (1000, 1500))
        gone = self.api.expect(200, "DELETE", f"/v1/sessions/{session}/files", query={"path": "u", "recursive": "true"})
        self.assertEqual((len(gone["files"]), gone["files_total"]), (1000, 1500))

    def pages_of_history(self, session):
        items, after = [], None
        while True:
            page = self.api.expect(200, "GET", f"/v1/sessions/{session}/history", query={"after": after} if after else {})
            items += page["items"]
            after = page["next_cursor"]
            if not after:
                return items

    def test_questions_in_a_list_have_the_beginning_of_their_code(self):
        asking = threading.Thread(target=self.api.post, args=("/v1/execute",),
                                  kwargs={"code": "sudo true #" + "x" * 100_000, "language": "shell"})
        asking.start()
        try:
            listed, = self.eventually(lambda: self.pages("/v1/approvals"))
            self.assertLess(len(listed["code"]), 20_000)
            self.assertGreater(listed["code_bytes"], 100_000)
            whole = self.api.expect(200, "GET", f"/v1/approvals/{listed['id']}")
            self.assertEqual((len(whole["code"]), whole["digest"]), (listed["code_bytes"], listed["digest"]))
            self.api.expect(200, "POST", f"/v1/approvals/{listed['id']}", decision="reject", digest=listed["digest"])
        finally:
            asking.join()

    def test_the_record_of_a_run_is_bounded(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__RECORD_PER_RUN_MB="1")
        session = self.make()
        before = self.record_size()
        result = self.make_files(session, "c", 1000)
        self.assertLess(self.record_size() - before, 5 * MEGABYTE)
        page = self.api.expect(200, "GET", f"/v1/executions/{result['execution_id']}/files", query={"limit": 1000})
        self.assertGreater(page["left_out"], 500)
        self.assertEqual(len(page["items"]) + page["left_out"], 1000)
        check = self.api.expect(200, "GET", f"/v1/sessions/{session}/check")
        self.assertEqual(check["left_out"], page["left_out"])

    def test_what_was_removed_gives_its_room_back(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__RECORD_PER_TENANT_MB="8")
        token = self.daemon.issue(name="t", tenant="t", scopes=["run", "approve"])
        client = self.daemon.tcp(token["token"])
        session = client.expect(201, "POST", "/v1/sessions", id="filled")["id"]
        before = self.file_size()
        for prefix in "ab":
            self.execute(MANY_FILES % (1000, prefix), session, client=client, language="python", timeout=120,
                         patience=150)
        full = self.file_size()
        self.assertGreater(full - before, 10 * MEGABYTE)
        # Beyond its share: nothing new begins, and what to do is said.
        answer = client.post(f"/v1/sessions/{session}/execute", code="print(1)")
        self.assertEqual(answer.status, 429, answer.body)
        self.assertIn("delete sessions", answer.json["message"])
        self.assertEqual(client.delete(f"/v1/sessions/{session}").status, 204)
        self.eventually(lambda: client.post("/v1/execute", code="print(1)").status == 200, 15)
        self.eventually(lambda: self.file_size() < full - 10 * MEGABYTE, 30)


if __name__ == "__main__":
    harness.main()
