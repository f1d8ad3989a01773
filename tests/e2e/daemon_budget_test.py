"""What tenants may fill of the disk: output, uploads, the audit; what is in reserve; and that errors name no place."""
import contextlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
import time
import unittest

import daemon
import harness

MEGABYTE = 1 << 20
AS_ROOT = os.geteuid() == 0


class BudgetTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}

    def tenant(self, name, scopes=("run", "approve")):
        return self.daemon.tcp(self.daemon.issue(name=name, tenant=name, scopes=list(scopes))["token"])

    def write(self, client, megabytes, **fields):
        return self.execute(f"head -c {megabytes * MEGABYTE} /dev/zero | tr '\\0' x", client=client, timeout=60,
                            patience=120, **fields)

    def outputs(self):
        place = os.path.join(self.home, ".skerry", "daemon", "outputs")
        return sum(os.path.getsize(os.path.join(place, name)) for name in os.listdir(place))


class OutputTest(BudgetTest):
    def test_a_token_gets_what_the_configuration_gives(self):
        self.with_settings(SKERRY_SANDBOX__LIMITS__MAX_OUTPUT_MB="1")
        client = self.tenant("modest")
        for fields in ({}, {"max_output_mb": 1024}):
            result = self.write(client, 5, **fields)
            self.assertTrue(result["output_truncated"])
            self.assertEqual(len(result["stdout"]), MEGABYTE)
            self.assertIn({"name": "output", "limit": 1, "unit": "MB"}, result["limits_reached"])
        # The owner may ask for more.
        self.assertEqual(len(self.write(self.api, 3, max_output_mb=4)["stdout"]), 3 * MEGABYTE)

    def test_old_output_of_the_tenant_goes_first(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB="10")
        other, filler = self.tenant("quiet"), self.tenant("loud")
        before = self.outputs()
        kept = self.write(other, 2)["execution_id"]
        runs = [self.write(filler, 4)["execution_id"] for _ in range(4)]
        self.assertLess(self.outputs() - before, 13 * MEGABYTE)
        gone = filler.get(f"/v1/executions/{runs[0]}/output")
        self.assertEqual(gone.status, 404, gone.body[:200])
        self.assertIn("sandbox.budgets", gone.json["message"])
        whole = filler.expect(200, "GET", f"/v1/executions/{runs[0]}")["result"]
        self.assertEqual((whole["stdout"], whole["output_removed"], whole["output_truncated"]), ("", True, True))
        for client, run, size in ((filler, runs[-1], 4), (other, kept, 2)):
            self.assertEqual(len(client.expect(200, "GET", f"/v1/executions/{run}")["result"]["stdout"]),
                             size * MEGABYTE)

    def test_a_slow_reader_keeps_nothing_on_the_disk(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB="30", SKERRY_SANDBOX__LIMITS__MAX_OUTPUT_MB="20")
        client = self.tenant("slow")
        place = os.path.join(self.home, ".skerry", "daemon", "outputs")
        readers = []
        try:
            for _ in range(4):
                run = self.write(client, 20)["execution_id"]
                readers.append(client.send_head("GET", f"/v1/executions/{run}/events"))
                readers[-1].recv(1)
            held = sum(size for path, size in self.open_files() if path.startswith(place))
            self.assertLess(held, 31 * MEGABYTE)
            # The first one's output is gone by now: who reads it is told.
            readers[0].settimeout(30)
            rest = b""
            while b"event: exit" not in rest[-10_000:]:
                rest += readers[0].recv(1 << 20)
            self.assertIn(b'"output_removed":true', rest[-10_000:])
        finally:
            for reader in readers:
                reader.close()

    def open_files(self):
        """Those of the daemon, with what they take: also when their names are gone."""
        place = f"/proc/{self.daemon.process.pid}/fd"
        for name in os.listdir(place):
            with contextlib.suppress(OSError):
                yield os.readlink(os.path.join(place, name)), os.stat(os.path.join(place, name)).st_size

    def test_what_is_being_written_is_held_to_the_budget(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB="2")
        result = self.write(self.tenant("flood"), 8)
        self.assertTrue(result["output_truncated"])
        self.assertIn("sandbox.budgets.outputMb", " ".join(result["degraded"]))
        self.assertLess(len(result["stdout"]), 2 * MEGABYTE + 1)
        self.assertGreater(len(result["stdout"]), MEGABYTE)

    def test_what_was_left_is_counted_after_a_restart(self):
        client = self.tenant("before")
        first = self.write(client, 4)["execution_id"]
        self.with_settings(SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB="5")
        client.port = self.daemon.port
        self.assertEqual(client.get(f"/v1/executions/{first}/output").status, 200)
        self.write(client, 3)
        self.assertEqual(client.get(f"/v1/executions/{first}/output").status, 404)


class SpoolTest(BudgetTest):
    def begin_upload(self, client, session, sent, length):
        """An upload that stops half-way."""
        sock = client.socket()
        head = (f"PUT /v1/sessions/{session}/files/content?path=f HTTP/1.1\r\nHost: localhost\r\n"
                f"Authorization: Bearer {client.token}\r\nContent-Length: {length}\r\n\r\n").encode()
        sock.sendall(head)
        with contextlib.suppress(OSError):
            sock.sendall(b"x" * sent)
        return sock

    def held(self):
        text = self.api.get("/metrics").body.decode()
        return int(float(next(line for line in text.splitlines() if line.startswith("skerry_spool_bytes ")).split()[1]))

    def test_unfinished_uploads_are_held_to_the_tenants_share(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__SPOOL_PER_TENANT_MB="8")
        client, other = self.tenant("up"), self.tenant("beside")
        session = client.expect(201, "POST", "/v1/sessions", id="up")["id"]
        self.addCleanup(self.api.delete, "/v1/sessions/up")
        open_ones = [self.begin_upload(client, session, 3 * MEGABYTE, 7 * MEGABYTE) for _ in range(2)]
        try:
            self.eventually(lambda: self.held() >= 6 * MEGABYTE)
            answer = client.request("PUT", f"/v1/sessions/{session}/files/content?path=g", body=b"x" * 4 * MEGABYTE)
            self.assertEqual(answer.status, 429, answer.body[:300])
            self.assertIn("wait for one", answer.json["message"])
            self.assertIsNotNone(answer.headers["Retry-After"])
            self.assertLessEqual(self.held(), 8 * MEGABYTE)
            # Others, and the owner, have their own room.
            theirs = other.expect(201, "POST", "/v1/sessions", id="up")["id"]
            self.put_file(theirs, "f", b"x" * 5 * MEGABYTE, client=other)
            other.delete(f"/v1/sessions/{theirs}")
            mine = self.make()
            self.put_file(mine, "f", b"x" * 12 * MEGABYTE)
        finally:
            for sock in open_ones:
                sock.close()
        self.eventually(lambda: self.held() == 0)
        self.put_file(session, "g", b"x" * 4 * MEGABYTE, client=client)

    def test_what_can_never_fit_is_not_read(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__SPOOL_PER_TENANT_MB="2")
        client = self.tenant("large")
        session = client.expect(201, "POST", "/v1/sessions", id="large")["id"]
        self.addCleanup(self.api.delete, "/v1/sessions/large")
        answer = client.request("PUT", f"/v1/sessions/{session}/files/content?path=g", body=b"x" * 3 * MEGABYTE)
        self.assertEqual(answer.status, 413, answer.body[:300])
        self.assertIn("sandbox.budgets.spoolPerTenantMb", answer.json["message"])

    def test_all_together_have_a_bound_too(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__SPOOL_MB="4")
        client = self.tenant("any")
        session = client.expect(201, "POST", "/v1/sessions", id="any")["id"]
        self.addCleanup(self.api.delete, "/v1/sessions/any")
        answer = client.request("PUT", f"/v1/sessions/{session}/files/content?path=g", body=b"x" * 5 * MEGABYTE)
        self.assertEqual(answer.status, 507, answer.body[:300])
        self.put_file(session, "g", b"x" * 3 * MEGABYTE, client=client)

    def test_an_export_is_on_its_way_too(self):
        client = self.tenant("out")
        session = client.expect(201, "POST", "/v1/sessions", id="out")["id"]
        self.addCleanup(self.api.delete, "/v1/sessions/out")
        self.put_file(session, "f", os.urandom(3 * MEGABYTE), client=client)
        self.with_settings(SKERRY_SANDBOX__BUDGETS__SPOOL_PER_TENANT_MB="2")
        client.port = self.daemon.port
        self.assertEqual(client.get(f"/v1/sessions/{session}/files/export").status, 429)
        self.assertEqual(self.api.get(f"/v1/sessions/{session}/files/export").status, 200)
        self.assertEqual(self.held(), 0)


class AuditTest(BudgetTest):
    def test_one_tenant_does_not_fill_the_audit(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__AUDIT_PER_TENANT_MB="1", SKERRY_SANDBOX__LOG__CODE="true")
        client, other = self.tenant("chatty"), self.tenant("calm")
        code = "# " + "x" * 700_000 + "\nprint(1)"
        self.assertEqual(client.post("/v1/execute", code=code).status, 200)
        self.assertEqual(client.post("/v1/execute", code=code).status, 200)
        answer = client.post("/v1/execute", code="print(1)")
        self.assertEqual(answer.status, 429, answer.body)
        self.assertIn("sandbox.budgets.auditPerTenantMb", answer.json["message"])
        self.assertEqual(other.post("/v1/execute", code="print(1)").status, 200)
        self.assertEqual(self.api.post("/v1/execute", code=code).status, 200)

    def test_a_full_audit_stops_tenants_and_not_the_owner(self):
        self.with_settings(SKERRY_SANDBOX__BUDGETS__AUDIT_MB="1", SKERRY_SANDBOX__LOG__CODE="true")
        client = self.tenant("late")
        self.api.expect(200, "POST", "/v1/execute", code="# " + "x" * 1_100_000 + "\nprint(1)")
        answer = client.post("/v1/execute", code="print(1)")
        self.assertEqual(answer.status, 507, answer.body)
        self.assertIn("move old files away", answer.json["message"])
        self.assertEqual(self.api.post("/v1/execute", code="print(1)").status, 200)


@unittest.skipIf(not AS_ROOT, "a small file system needs root")
class ReserveTest(BudgetTest):
    autostart = False

    @contextlib.contextmanager
    def on_small_disk(self, megabytes, files=100_000, **settings):
        place = tempfile.mkdtemp(dir=self.home)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,nr_inodes={files},mode=0700", "none", place],
                       check=True)
        try:
            small = self.spawn("--listen", "127.0.0.1:0",
                               environment={"HOME": place, "SKERRY_SANDBOX__WORKSPACE__BASE_DIR": place + "/sessions"}
                               | settings)
            try:
                yield small, place
            finally:
                small.stop()
        finally:
            subprocess.run(["umount", "-l", place], check=True)

    def test_one_token_does_not_fill_the_disk_of_all(self):
        with self.on_small_disk(60, SKERRY_SANDBOX__LIMITS__MAX_OUTPUT_MB="100",
                                SKERRY_SANDBOX__BUDGETS__OUTPUT_PER_TENANT_MB="20") as (small, _):
            hostile, other = (small.tcp(small.issue(name=name, tenant=name, scopes=["run", "approve"])["token"])
                              for name in ("hostile", "other"))
            for _ in range(3):
                self.write(hostile, 80)
            result = self.execute("echo fine", client=other)
            self.assertEqual((result["stdout"], result["degraded"]), ("fine\n", self.execute("true", client=small.api)["degraded"]))

    def test_half_of_a_disk_is_left_to_others_whatever_the_budgets_are(self):
        with self.on_small_disk(60, SKERRY_SANDBOX__LIMITS__MAX_OUTPUT_MB="100") as (small, place):
            hostile, other = (small.tcp(small.issue(name=name, tenant=name, scopes=["run", "approve"])["token"])
                              for name in ("hostile", "other"))
            for _ in range(2):
                # Its answer may find no room either; the run is over by then.
                answer = hostile.post("/v1/execute", code=f"head -c {80 * MEGABYTE} /dev/zero | tr '\\0' x",
                                      language="shell", timeout=60, patience=120)
                if answer.status == 507:
                    kept = answer.json["message"].partition("/v1/executions/")[2].partition(",")[0]
                    self.assertEqual(hostile.expect(200, "GET", f"/v1/executions/{kept}/output")["state"], "done")
                room = os.statvfs(place)
                self.assertGreater(room.f_bavail * room.f_frsize, 20 * MEGABYTE)
                self.assertEqual(self.execute("echo fine", client=other)["stdout"], "fine\n")
            # What was kept goes when somebody needs the room.
            room = os.statvfs(place)
            with open(os.path.join(place, "ballast"), "wb") as ballast:
                ballast.write(b"x" * (room.f_bavail * room.f_frsize - 2 * MEGABYTE))
            self.assertEqual(self.execute("echo fine", client=other)["stdout"], "fine\n")

    def test_empty_files_leave_room_too(self):
        with self.on_small_disk(200, files=2000) as (small, place):
            hostile, other = (small.tcp(small.issue(name=name, tenant=name, scopes=["run", "approve"])["token"])
                              for name in ("hostile", "other"))
            path = f"/v1/sessions/{hostile.expect(201, 'POST', '/v1/sessions', id='s')['id']}/files/content"
            statuses = {hostile.request("PUT", path + f"?path=f{at}", body=b"").status for at in range(2000)}
            self.assertIn(507, statuses)
            self.assertGreater(os.statvfs(place).f_favail, 100)
            other.expect(201, "POST", "/v1/sessions", id="t")
            self.assertEqual(self.execute("echo fine", client=other)["stdout"], "fine\n")

    def test_workspaces_may_have_a_disk_of_their_own(self):
        with self.on_small_disk(60) as (_, place):
            one = self.spawn("--listen", "127.0.0.1:0",
                             environment={"SKERRY_SANDBOX__WORKSPACE__BASE_DIR": place + "/elsewhere",
                                          "HOME": tempfile.mkdtemp(dir=self.home)})
            try:
                client = one.tcp(one.issue(name="t", tenant="t", scopes=["run"])["token"])
                path = f"/v1/sessions/{client.expect(201, 'POST', '/v1/sessions', id='s')['id']}/files/content"
                statuses = [client.request("PUT", path + f"?path=f{at}", body=b"x" * 10 * MEGABYTE).status
                            for at in range(6)]
                self.assertEqual((statuses[0], statuses[-1]), (200, 507))
                room = os.statvfs(place)
                self.assertGreater(room.f_bavail * room.f_frsize, 5 * MEGABYTE)
            finally:
                one.stop()

    def test_the_reserve_is_the_owners(self):
        with self.on_small_disk(60) as (small, place):
            client = small.tcp(small.issue(name="t", tenant="t", scopes=["run", "approve"])["token"])
            session = client.expect(201, "POST", "/v1/sessions", id="s")["id"]
            room = os.statvfs(place)
            with open(os.path.join(place, "ballast"), "wb") as ballast:
                ballast.write(b"x" * (room.f_bavail * room.f_frsize - 2 * MEGABYTE))
            for method, path, fields in (("POST", "/v1/execute", {"code": "print(1)"}),
                                         ("POST", "/v1/sessions", {"id": "t"}),
                                         ("POST", f"/v1/sessions/{session}/files/directory", {"path": "d"})):
                answer = client.request(method, path, **fields)
                self.assertEqual(answer.status, 507, answer.body)
                self.assertNotIn(place, answer.json["message"])
            answer = client.request("PUT", f"/v1/sessions/{session}/files/content?path=g", body=b"x" * MEGABYTE)
            self.assertEqual(answer.status, 507, answer.body)
            # Deleting goes on, and so does the owner.
            self.assertEqual(small.api.post("/v1/execute", code="print(1)").json["stdout"], "1\n")
            self.assertEqual(client.delete(f"/v1/sessions/{session}").status, 204)
            os.remove(os.path.join(place, "ballast"))
            self.assertEqual(client.post("/v1/execute", code="print(1)").status, 200)

    def test_files_leave_the_reserve_alone(self):
        with self.on_small_disk(100) as (small, place):
            client = small.tcp(small.issue(name="t", tenant="t", scopes=["run", "approve"])["token"])
            session = client.expect(201, "POST", "/v1/sessions", id="s")["id"]
            files = f"/v1/sessions/{session}/files"
            self.put_file(session, "f", b"x" * 30 * MEGABYTE, client=client)
            copies = [client.post(f"{files}/copy", **{"from": "f", "to": f"f{i}"}).status for i in range(4)]
            self.assertEqual((copies[0], copies[-1]), (200, 507), copies)
            # What replaces something lies beside it for a moment; what an archive holds is known when it is unpacked.
            self.assertEqual(client.request("PUT", f"{files}/content?path=f", body=b"y" * 20 * MEGABYTE).status, 507)
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w:gz") as tar:
                tar.addfile(self.member("random", 2 * MEGABYTE), io.BytesIO(os.urandom(2 * MEGABYTE)))
                tar.addfile(self.member("big", 60 * MEGABYTE), io.BytesIO(bytes(60 * MEGABYTE)))
            answer = client.request("POST", f"{files}/import?format=tar.gz", body=packed.getvalue())
            self.assertEqual(answer.status, 507, answer.body)
            self.assertEqual(self.get_file(session, "f", client=client), b"x" * 30 * MEGABYTE)
            room = os.statvfs(place)
            self.assertGreater(room.f_bavail * room.f_frsize, 5 * MEGABYTE)
            self.assertEqual(small.api.post("/v1/execute", code="print(1)").status, 200)
            self.assertEqual(client.delete(f"/v1/sessions/{session}").status, 204)

    @staticmethod
    def member(name, size):
        member = tarfile.TarInfo(name)
        member.size = size
        return member

    def test_a_directory_that_cannot_be_used_is_named_to_nobody(self):
        with self.on_small_disk(60) as (small, place):
            client = small.tcp(small.issue(name="t", tenant="t", scopes=["run", "approve"])["token"], check=False)
            small.api.check = False
            sessions = os.path.join(place, "sessions")
            with contextlib.suppress(OSError):
                os.rename(sessions, sessions + ".away")
            with open(sessions, "w", encoding="utf-8"):
                answer = client.post("/v1/sessions", id="s")
            self.assertGreaterEqual(answer.status, 400)
            self.assertNotIn(place, answer.json["message"])
            self.assertIn(sessions, small.api.post("/v1/sessions", id="s").json["message"])

    def test_an_error_names_no_place_of_the_host(self):
        with self.on_small_disk(24, SKERRY_SANDBOX__BUDGETS__RESERVE_MB="0") as (small, place):
            client = small.tcp(small.issue(name="t", tenant="t", scopes=["run", "approve"])["token"])
            session = client.expect(201, "POST", "/v1/sessions", id="s")["id"]
            with contextlib.suppress(OSError), open(os.path.join(place, "ballast"), "wb", buffering=0) as ballast:
                while ballast.write(b"x" * 4096):
                    pass
            texts = []
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and len(texts) < 30:
                for method, path, fields in (("POST", "/v1/execute", {"code": "print(1)"}),
                                             ("POST", f"/v1/sessions/{session}/execute", {"code": "print(1)"}),
                                             ("POST", "/v1/sessions", {"metadata": {"a": "b"}})):
                    answer = client.request(method, path, **fields)
                    if answer.status >= 500:
                        texts.append(json.dumps(answer.json))
            self.assertTrue(texts)
            self.assertEqual([text for text in texts if place in text or "record.db" in text or "/audit" in text], [])
            os.remove(os.path.join(place, "ballast"))
            client.delete(f"/v1/sessions/{session}")
            for each in small.api.get("/v1/sessions").json["items"]:
                small.api.delete(f"/v1/sessions/{each['id']}")


if __name__ == "__main__":
    harness.main()
