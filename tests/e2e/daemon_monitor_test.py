"""What sandboxes use, held against what the host sees; alerts; and the figures, read by Prometheus' own tools."""
import datetime
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

import daemon
import harness
import observe
from daemon_approval_test import Desk

FETCHED = os.path.join(daemon.HERE, "..", "..", "build", "prometheus")
TICKS = os.sysconf("SC_CLK_TCK")


def tool(name):
    """Its path, or none. Debian's package is unpacked rather than installed: it would start a server."""
    if not shutil.which(name) and not os.path.isdir(FETCHED):
        os.makedirs(os.path.dirname(FETCHED), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(FETCHED)) as scratch:
            quiet = {"cwd": scratch, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
            subprocess.run(["apt-get", "download", "prometheus"], timeout=120, **quiet)
            for package in os.listdir(scratch):
                subprocess.run(["dpkg", "-x", package, "unpacked"], timeout=60, **quiet)
                os.rename(os.path.join(scratch, "unpacked"), FETCHED)
    return shutil.which(name) or shutil.which(name, path=os.path.join(FETCHED, "usr", "bin"))


class MonitorTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__MONITOR__INTERVAL_MS": "500"}

    def metrics(self, session, samples=1000):
        return self.api.expect(200, "GET", f"/v1/sessions/{session}/metrics", query={"samples": samples})

    def newest(self, session, seconds=10):
        """A sample that was taken after now."""
        known = {each["at"] for each in self.metrics(session)["samples"]}
        return self.eventually(lambda: [each for each in self.metrics(session)["samples"] if each["at"] not in known],
                               seconds)[-1]

    def inside(self, name):
        """Processes of ours with this name."""
        return [pid for pid, each in observe.descendants().items() if each == name]

    def test_the_processor_time_of_a_busy_loop(self):
        session = self.make()
        self.start_command(session, "while :; do :; done")
        self.newest(session)

        def used():
            programs = [pid for pid, name in observe.descendants().items() if not name.startswith("skerry")]
            return sum(sum(map(int, stat[1][11:15])) for stat in map(harness.stat_of, programs) if stat) / TICKS

        began, before, first = time.monotonic(), used(), len(self.metrics(session)["samples"])
        samples = self.eventually(lambda: (found := self.metrics(session)["samples"]) and len(found) >= first + 20 and
                                  found, 30)
        truth = (used() - before) / (time.monotonic() - began)
        times = [datetime.datetime.fromisoformat(each["at"]).timestamp() for each in samples[first - 1:]]
        steps = [later - earlier for earlier, later in zip(times, times[1:])]
        told = sum(each["cpu_percent"] / 100 * step for each, step in zip(samples[first:], steps)) / sum(steps)
        # Both ends of the time that was looked at are off by a part of one step, of twenty.
        self.assertLess(abs(told - truth), 0.1 * truth, f"{told:.3f} of a core told, {truth:.3f} used")
        self.assertGreater(truth, 0.05)

    def test_the_share_of_a_busy_loop(self):
        session = self.make()
        self.start_command(session, "while :; do :; done")
        self.newest(session)
        listed = self.eventually(lambda: [each for each in self.api.get("/v1/sandboxes").json["items"]
                                          if each["session_id"] == session and each["usage"]["cpu_percent"] > 5])[0]
        self.assertLess(listed["usage"]["cpu_percent"], 115)
        self.assertEqual(listed["recent"]["cpu_percent"][-1], listed["usage"]["cpu_percent"])

    def test_an_allocation_of_200_megabytes(self):
        session = self.make(limits={"memory_mb": 1024})
        self.execute("true", session)
        before = self.newest(session)
        self.put_file(session, "hold.py", b"held = bytearray(b'x' * (200 << 20))\nopen('held', 'w').close()\n"
                                          b"import time; time.sleep(60)\n")
        self.start_command(session, "exec python3 hold.py")
        self.eventually(lambda: self.api.get(f"/v1/sessions/{session}/files/content", query={"path": "held"}).status
                        == 200, 20)
        after = self.newest(session)
        grown = after["memory_bytes"] - before["memory_bytes"]
        self.assertLess(abs(grown - (200 << 20)), 0.1 * (200 << 20), f"{grown / (1 << 20):.1f} MB")
        self.assertEqual(after["memory_limit_bytes"], 1 << 30)

    def test_twenty_sleeping_children(self):
        session = self.make()
        self.execute("true", session)
        before = self.newest(session)["pids"]
        self.start_command(session, "for i in $(seq 20); do sleep 61 & done; wait")
        sleeping = self.eventually(lambda: len(found := self.inside("sleep")) == 20 and found)
        pids = self.newest(session)["pids"]
        namespace = os.stat(f"/proc/{sleeping[0]}/ns/pid").st_ino
        truth = 0
        for path in glob.glob("/proc/[0-9]*"):
            try:
                words = observe.read_words(f"{path}/status")
                is_init = words[words.index("NSpid:") + 2] == "1" if "NSpid:" in words else False
                truth += os.stat(f"{path}/ns/pid").st_ino == namespace and not is_init
            except (OSError, TypeError, ValueError, IndexError):
                pass
        self.assertLessEqual(abs(pids - truth), max(2, 0.1 * truth), f"{pids} told, {truth} there, {before} before")
        self.assertGreaterEqual(pids - before, 20)

    def test_a_sandbox_that_is_gone_is_not_listed(self):
        session = self.make()
        self.execute("true", session)
        self.eventually(lambda: session in [each["session_id"] for each in self.api.get("/v1/sandboxes").json["items"]])
        self.remove(session)
        self.eventually(lambda: session not in [each["session_id"]
                                                for each in self.api.get("/v1/sandboxes").json["items"]])
        self.assertEqual(self.api.get(f"/v1/sessions/{session}/metrics").status, 404)

    def test_a_run_without_a_session_is_seen_too(self):
        with self.api.events("POST", "/v1/execute", code="sleep 30", language="shell", approve=True) as events:
            execution = next(events).data["execution_id"]
            seen = self.eventually(lambda: [each for each in self.api.get("/v1/sandboxes").json["items"]
                                            if each["execution_id"] == execution and each["usage"]])
            self.assertIsNone(seen[0]["session_id"])
            self.assertIn("sleep 30", seen[0]["what"])
            self.api.expect(200, "POST", f"/v1/executions/{execution}/cancel")

    def test_others_see_nothing_of_it(self):
        session = self.make()
        self.execute("true", session)
        other = self.daemon.tcp(self.daemon.issue(tenant="monitor-other", scopes=["read"])["token"])
        self.assertEqual(other.get(f"/v1/sessions/{session}/metrics").status, 404)
        self.assertEqual(other.expect(200, "GET", "/v1/sandboxes")["items"], [])


class AlertTest(daemon.DaemonTest):
    # A busy loop gets at least so much of a core on a busy machine.
    settings = {"SKERRY_SANDBOX__MONITOR__INTERVAL_MS": "250", "SKERRY_SANDBOX__MONITOR__ALERT_HOLD": "1",
                "SKERRY_SANDBOX__MONITOR__CPU_ALERT_PERCENT": "10"}

    def until_quiet(self, desk, session):
        """All alerts of the session up to the end of a run that is begun now."""
        desk.until("execution.ended", execution_id=self.execute("sleep 3", session)["execution_id"])
        return [(each["type"], each["kind"]) for each in desk.seen if each["type"].startswith("alert.")]

    def test_an_alert_comes_once_and_goes_once(self):
        session = self.make()
        with Desk(self.api, f"?session={session}") as desk:
            command = self.start_command(session, "while :; do :; done")
            raised = desk.until("alert.raised")
            self.assertEqual((raised["kind"], raised["threshold"]), ("cpu", 10))
            self.assertGreaterEqual(raised["percent"], 10)
            self.assertEqual(self.api.get(f"/v1/sessions/{session}/metrics").json["alerts"], ["cpu"])
            self.assertEqual(self.until_quiet(desk, session), [("alert.raised", "cpu")])
            self.api.expect(204, "POST", f"/v1/sessions/{session}/commands/{command}/signal", signal="KILL")
            desk.until("alert.cleared")
            self.assertEqual(self.until_quiet(desk, session), [("alert.raised", "cpu"), ("alert.cleared", "cpu")])
        self.assertEqual(self.api.get(f"/v1/sessions/{session}/metrics").json["alerts"], [])

    def test_memory_and_the_end_of_the_sandbox(self):
        session = self.make(limits={"memory_mb": 128})
        self.put_file(session, "hold.py", b"import mmap, time\nheld = mmap.mmap(-1, 114 << 20)\n"
                                          b"for at in range(0, len(held), 4096): held[at] = 1\ntime.sleep(60)\n")
        with Desk(self.api, f"?session={session}&types=alert.") as desk:
            self.start_command(session, "exec python3 hold.py")
            raised = desk.until("alert.raised", kind="memory")
            self.assertGreaterEqual(raised["percent"], 90)
            self.api.expect(200, "POST", f"/v1/sessions/{session}/stop")
            desk.until("alert.cleared", kind="memory")


class PrometheusTest(daemon.DaemonTest):
    def some_life(self):
        session = self.make()
        self.execute("echo 1", session)
        self.execute("print(1)", language="python")
        self.execute("exit 3", session)

    def test_promtool_has_nothing_to_say(self):
        if not tool("promtool"):
            self.skipTest("promtool is not there (Debian's package prometheus)")
        self.some_life()
        answer = self.api.get("/metrics")
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        checked = subprocess.run([tool("promtool"), "check", "metrics"], input=answer.body, capture_output=True,
                                 timeout=60, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""), answer.body.decode())

    def test_what_an_operator_wants_to_know_is_there(self):
        self.some_life()
        text = self.api.get("/metrics").body.decode()
        for family in ("skerry_run_seconds_bucket", "skerry_risk_total", "skerry_approvals_waiting", "skerry_pool_idle",
                       "skerry_egress_sent_bytes_total", "skerry_sandboxes", "skerry_sessions", "skerry_runs_total",
                       "skerry_http_request_seconds_count", "skerry_monitor_cpu_seconds_total"):
            self.assertRegex(text, rf"(?m)^{family}[ {{]")
        starts = set(re.findall(r'skerry_run_seconds_count\{start="([^"]+)"\}', text))
        self.assertTrue(starts, text)

    def test_only_with_the_scope(self):
        token = self.daemon.issue(scopes=["metrics"])
        self.assertEqual(self.daemon.tcp(token["token"]).get("/metrics").status, 200)
        self.assertEqual(self.daemon.tcp(token["token"]).get("/v1/sessions").status, 403)
        for scope in ("read", "run", "approve"):
            other = self.daemon.tcp(self.daemon.issue(scopes=[scope])["token"])
            self.assertEqual(other.get("/metrics").status, 403, scope)

    def test_prometheus_scrapes_it(self):
        if not tool("prometheus"):
            self.skipTest("prometheus is not there (Debian's package)")
        self.some_life()
        token = self.daemon.issue(scopes=["metrics"])["token"]
        directory = tempfile.mkdtemp(dir=self.base)
        with open(os.path.join(directory, "prometheus.yml"), "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "1s"},
                       "scrape_configs": [{"job_name": "skerry", "authorization": {"credentials": token},
                                           "static_configs": [{"targets": [f"127.0.0.1:{self.daemon.port}"]}]}]}, file)
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        with open(os.path.join(directory, "log"), "wb") as log:
            server = subprocess.Popen(
                [tool("prometheus"), f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/data",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        try:
            def ask(query):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=5) as got:
                        return json.load(got)["data"]["result"]
                except OSError:
                    return None

            self.eventually(lambda: (found := ask("up")) and found[0]["value"][1] == "1", 40, "up")
            runs = self.eventually(lambda: ask("sum(skerry_runs_total)"), 20)
            self.assertGreaterEqual(float(runs[0]["value"][1]), 3)
            quantile = ask("histogram_quantile(0.5,sum%20by(le)(skerry_run_seconds_bucket))")
            self.assertTrue(quantile)
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    harness.main()
