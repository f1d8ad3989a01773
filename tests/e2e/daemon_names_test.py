"""Names of sessions belong to a tenant: two tenants may use the same one, and neither learns of the other."""

import daemon
import harness


class NamesTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}

    def setUp(self):
        super().setUp()
        self.a, self.b = (self.caller(tenant) for tenant in ("tenant-a", "tenant-b"))

    def caller(self, tenant, scopes=("run", "approve")):
        return self.daemon.tcp(self.daemon.issue(name=tenant, tenant=tenant, scopes=list(scopes))["token"])

    def make_as(self, client, name, **fields):
        made = client.expect(201, "POST", "/v1/sessions", id=name, **fields)
        self.addCleanup(client.delete, f"/v1/sessions/{name}")
        return made

    def kinds(self, client, session):
        history = client.expect(200, "GET", f"/v1/sessions/{session}/history")["items"]
        return [entry["what"] for entry in history if entry["kind"] == "run"]

    def test_a_name_is_the_tenants_own(self):
        made = [self.make_as(client, "same") for client in (self.a, self.b)]
        self.assertEqual([each["id"] for each in made], ["same", "same"])
        self.put_file("same", "f", b"of a", client=self.a)
        self.put_file("same", "f", b"of b", client=self.b)
        self.assertEqual(self.get_file("same", "f", client=self.a), b"of a")
        self.assertEqual(self.get_file("same", "f", client=self.b), b"of b")
        self.assertEqual([each["id"] for each in self.a.expect(200, "GET", "/v1/sessions")["items"]], ["same"])
        # One's own name is taken; what is said of it is the same whether or not others have it too.
        self.assertEqual(self.a.post("/v1/sessions", id="same").status, 409)
        self.make_as(self.a, "mine")
        alone = self.a.post("/v1/sessions", id="mine").json["message"]
        self.assertEqual(self.a.post("/v1/sessions", id="same").json["message"].replace("same", "mine"), alone)

    def test_runs_of_one_are_not_those_of_the_other(self):
        for client in (self.a, self.b):
            self.make_as(client, "runs")
        of_a = self.execute("echo a", "runs", client=self.a)["execution_id"]
        of_b = self.execute("echo b", "runs", client=self.b)["execution_id"]
        for client, own in ((self.a, of_a), (self.b, of_b)):
            items = client.expect(200, "GET", "/v1/executions", query={"session_id": "runs"})["items"]
            self.assertEqual([(each["id"], each["session_id"]) for each in items], [(own, "runs")])
        self.assertEqual(self.b.delete("/v1/sessions/runs").status, 204)
        self.assertEqual(self.a.expect(200, "GET", f"/v1/executions/{of_a}")["result"]["stdout"], "a\n")
        self.assertEqual(self.a.expect(200, "GET", "/v1/sessions/runs")["id"], "runs")
        self.assertEqual(self.b.get(f"/v1/executions/{of_b}").status, 404)

    def test_the_history_of_a_tenant_outlives_the_name_in_other_hands(self):
        self.make_as(self.a, "hist1")
        self.execute("echo precious", "hist1", client=self.a)
        self.assertEqual(self.a.delete("/v1/sessions/hist1").status, 204)
        self.make_as(self.b, "hist1")
        self.execute("echo other", "hist1", client=self.b)
        self.assertEqual(self.kinds(self.a, "hist1"), ["echo precious"])
        self.assertEqual(self.kinds(self.b, "hist1"), ["echo other"])
        # Also when both are gone, and after a restart.
        self.assertEqual(self.b.delete("/v1/sessions/hist1").status, 204)
        self.renew()
        for client, said in ((self.a, "echo precious"), (self.b, "echo other")):
            client.port = self.daemon.port
            self.assertEqual(self.kinds(client, "hist1"), [said])

    def test_the_history_outlives_the_name_in_the_same_hands(self):
        first = self.make()
        self.api.expect(204, "DELETE", f"/v1/sessions/{first}")
        for text in ("echo one", "echo two"):
            made = self.api.expect(201, "POST", "/v1/sessions", id="again")
            self.execute(text, "again")
            self.api.expect(204, "DELETE", f"/v1/sessions/{made['id']}")
        # The last who had the name has it; those before are found by the id that is theirs for ever.
        self.assertEqual(self.kinds(self.api, "again"), ["echo two"])
        records = self.api.expect(200, "GET", "/v1/sessions/again/history/records")["items"]
        self.assertEqual([row["name"] for row in records], ["again", "again"])
        self.assertEqual(len({row["id"] for row in records}), 2)
        self.assertEqual(sorted(sum((self.kinds(self.api, row["id"]) for row in records), [])), ["echo one", "echo two"])

    def test_a_conflict_and_a_404_tell_nothing_of_others(self):
        self.make_as(self.a, "secret")
        self.assertEqual(self.b.get("/v1/sessions/secret").status, 404)
        self.assertEqual(self.b.delete("/v1/sessions/secret").status, 404)
        self.assertEqual(self.b.get("/v1/sessions/secret/history").status, 404)
        self.assertEqual(self.b.get("/v1/sessions/secret/history/records").status, 404)
        self.make_as(self.b, "secret")

    def test_the_owner_says_which_one_is_meant(self):
        rows = [self.make_as(client, "twice") for client in (self.a, self.b)]
        both = [each for each in self.api.expect(200, "GET", "/v1/sessions")["items"] if each["id"] == "twice"]
        self.assertEqual(sorted(each["tenant"] for each in both), ["tenant-a", "tenant-b"])
        self.assertEqual({each["unique_id"] for each in both}, {each["unique_id"] for each in rows})
        answer = self.api.get("/v1/sessions/twice")
        self.assertEqual(answer.status, 409)
        for each in both:
            self.assertIn(each["unique_id"], answer.json["message"])
            self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{each['unique_id']}")["tenant"], each["tenant"])
        # For others that is no name at all.
        self.assertEqual(self.b.get(f"/v1/sessions/{rows[0]['unique_id']}").status, 404)
        self.assertEqual(self.b.post("/v1/sessions", id=rows[0]["unique_id"]).status, 400)

    def test_a_yes_for_a_session_is_not_one_for_its_namesake(self):
        risky = "import shutil\nshutil.rmtree('/workspace/none', ignore_errors=True)"
        for client in (self.a, self.b):
            self.make_as(client, "risky")
        self.in_threads([lambda: self.a.post("/v1/sessions/risky/execute", code=risky), self.say_yes])
        self.assertEqual(self.a.expect(200, "POST", "/v1/sessions/risky/execute", code=risky)["outcome"], "exited")
        asked = self.b.send_head("POST", "/v1/sessions/risky/execute", b'{"code": "%s"}' % risky.replace("\n", "\\n").encode())
        try:
            found = self.eventually(lambda: self.b.expect(200, "GET", "/v1/approvals")["items"])
            self.assertEqual(found[0]["session_id"], "risky")
        finally:
            asked.close()
            self.b.post(f"/v1/approvals/{found[0]['id']}", decision="reject", digest=found[0]["digest"])

    def say_yes(self):
        found = self.eventually(lambda: self.a.expect(200, "GET", "/v1/approvals")["items"])[0]
        self.a.expect(200, "POST", f"/v1/approvals/{found['id']}", decision="approve", digest=found["digest"],
                      scope="session")


if __name__ == "__main__":
    harness.main()
