"""Assessing code that is written to be costly: work and memory of the daemon are bounded, others are served meanwhile,
and neither a client that left nor a shutdown waits for it."""
import json
import os
import time

import daemon
import harness

MEGABYTE = 1 << 20
LONGEST = 4 * MEGABYTE
ASSESSMENTS = 512 * MEGABYTE  # a quarter of sandbox.daemon.memoryMb
BODIES = 300 * MEGABYTE  # requests of 4 MB, as text and as JSON, those that wait included
PATIENCE = 120
QUIET = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}


def nested(size):
    return "$(" * (size // 3) + ")" * (size // 3)


def summed(size):
    return "x=" + '"a"+' * ((size - 5) // 4) + '"b"'


HARD = {"shell": nested(LONGEST), "python": summed(LONGEST), "javascript": summed(LONGEST)}


class AssessTest(daemon.DaemonTest):
    settings = QUIET

    def client(self, tenant="t", scopes=("read",)):
        token = self.daemon.issue(name=tenant, tenant=tenant, scopes=list(scopes))["token"]
        return self.daemon.tcp(token)

    def risk(self, client, language, code):
        return client.post("/v1/risk", language=language, code=code, patience=PATIENCE)

    def processor_seconds(self):
        with open(f"/proc/{self.daemon.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_idle(self):
        before = self.processor_seconds()
        time.sleep(1)
        return self.processor_seconds() - before < 0.2

    def start_asking(self, client, count, language="shell"):
        """Sockets on which so many requests were sent, and nothing was read."""
        body = json.dumps({"code": HARD[language], "language": language}).encode()
        sockets = [client.send_head("POST", "/v1/risk", body, timeout=PATIENCE) for _ in range(count)]
        for sock in sockets:
            self.addCleanup(sock.close)
        return sockets


class BoundsTest(AssessTest):
    def test_hard_code_is_given_up_and_answered(self):
        client = self.client()
        for language, code in [("shell", nested(90_000)), *HARD.items()]:
            with self.subTest(language=language, size=len(code)):
                answer = self.risk(client, language, code)
                self.assertEqual(answer.status, 200, answer.body[:300])
                self.assertIn("code.not-analysed", {finding["rule"] for finding in answer.json["findings"]})

    def test_the_same_before_a_run(self):
        answer = self.api.post("/v1/execute", language="shell", code="exit 0\n" + nested(LONGEST - 100), approve=True,
                               patience=PATIENCE)
        self.assertEqual(answer.status, 200, answer.body[:300])
        self.assertEqual(answer.json["risk"]["level"], "high")

    def test_memory_of_many_at_once(self):
        self.daemon.reset_peak()
        before = self.daemon.memory()
        clients = [self.client(tenant) for tenant in ("ann", "bob", "cid")]
        statuses = []
        self.in_threads([lambda client=client, language=language: statuses.append(
            self.risk(client, language, HARD[language]).status)
            for client in clients for language in ("python", "javascript") for _ in range(2)])
        self.assertEqual(set(statuses) - {200, 429}, set())
        self.assertIn(200, statuses)
        self.assertLess(self.daemon.memory("VmHWM") - before, ASSESSMENTS + BODIES)
        self.eventually(lambda: self.daemon.memory() - before < ASSESSMENTS / 2, 30)


class ShareTest(AssessTest):
    def test_one_token_that_asks_for_too_much_is_told_when_to_come_back(self):
        client, refused = self.client(), []

        def ask():
            answer = self.risk(client, "shell", HARD["shell"])
            if answer.status == 429:
                refused.append(answer)
        self.in_threads([ask] * 16)
        self.assertTrue(refused)
        for answer in refused:
            self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
        # Nobody else is.
        self.assertEqual(self.risk(self.client("other"), "shell", "ls").status, 200)
        self.assertEqual(self.execute("echo fine")["stdout"], "fine\n")


class EndTest(AssessTest):
    def test_a_client_that_left_is_not_waited_for(self):
        for sock in self.start_asking(self.client(), 6):
            sock.close()
        self.eventually(self.is_idle, 60, "somebody still assesses")

    def test_a_shutdown_waits_for_no_assessment(self):
        self.with_settings(SKERRY_SANDBOX__DAEMON__DRAIN_TIMEOUT="600")
        for tenant in ("ann", "bob"):
            self.start_asking(self.client(tenant), 6)
        body = json.dumps({"code": HARD["shell"], "language": "shell"}).encode()
        self.addCleanup(self.client("cid", ("run",)).send_head("POST", "/v1/execute", body).close)
        before = self.processor_seconds()
        self.eventually(lambda: self.processor_seconds() > before + 0.2, PATIENCE)
        self.assertEqual(self.daemon.stop(PATIENCE), 0)
        self.renew()


if __name__ == "__main__":
    harness.main()
