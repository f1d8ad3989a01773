"""The daemon's beginning and end: sockets that systemd opened, what systemd is told, draining, TLS."""
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import daemon
import harness
import observe

# Takes the place of systemd: descriptors from 3 on, for the process that it becomes.
SHIM = """import os, sys
given = [os.dup(int(number)) for number in sys.argv[1].split(",")]
given = [os.dup2(each, 200 + index) for index, each in enumerate(given)]
for index, each in enumerate(given): os.dup2(each, 3 + index)
os.environ["LISTEN_PID"] = str(os.getpid()); os.environ["LISTEN_FDS"] = str(len(given))
os.execvp(sys.argv[2], sys.argv[2:])"""


class EndsTest(daemon.DaemonTest):
    autostart = False

    def setUp(self):
        super().setUp()
        self.fresh = self.directory("home")
        os.chmod(self.fresh, 0o755)

    def tearDown(self):
        self.assertEqual(type(self).left_behind(), set())
        super().tearDown()

    def started(self, *arguments, **options):
        environment = {"HOME": self.fresh} | options.pop("environment", {})
        one = self.spawn(*arguments, environment=environment, **options)
        self.addCleanup(one.kill)
        return one

    def activated(self, *sockets, environment=None, path=None):
        numbers = ",".join(str(each.fileno()) for each in sockets)
        command = [sys.executable, "-c", SHIM, numbers, *self.program("serve")]
        one = daemon.Daemon(command, self.own_environment({"HOME": self.fresh} | (environment or {})), self.home,
                            socket_path=path, pass_fds=[each.fileno() for each in sockets])
        self.note_pids(one)
        self.addCleanup(one.kill)
        return one

    def test_sockets_of_systemd(self):
        path = os.path.join(self.fresh, "given.sock")
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as local, \
                contextlib.closing(socket.create_server(("127.0.0.1", 0))) as tcp:
            local.bind(path)
            local.listen()
            one = self.activated(local, tcp, path=path)
            port = tcp.getsockname()[1]
        self.assertEqual(one.api.get("/v1/sessions").status, 200)
        token = one.issue()["token"]
        self.assertEqual(daemon.Client(port=port, token=token).get("/v1/sessions").status, 200)
        self.assertEqual(daemon.Client(port=port).get("/v1/sessions").status, 401)
        self.assertFalse(os.path.exists(os.path.join(self.fresh, ".skerry", "run", "skerry.sock")))
        # What runs in a sandbox has none of them.
        listed = one.api.expect(200, "POST", "/v1/execute", code="ls -l /proc/self/fd; env", language="shell",
                                approve=True)
        self.assertNotIn("socket:", listed["stdout"])
        self.assertNotIn("LISTEN_", listed["stdout"])
        self.assertEqual(one.stop(), 0)
        self.assertTrue(os.path.exists(path))  # it is systemd's

    def test_sockets_for_another_process_are_not_taken(self):
        one = self.started(environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"})
        self.assertEqual(one.stop(), 0)

    def test_nothing_is_announced_when_a_listener_cannot_be_had(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            one = self.started("--listen", f"127.0.0.1:{taken.getsockname()[1]}", ready=False)
            self.assertEqual(one.process.wait(60), 125)
        self.assertNotIn("listens on", one.stderr())
        self.assertIn("Address already in use", one.stderr())
        self.assertFalse(os.path.lexists(one.socket_path))

    def test_what_systemd_is_told(self):
        path = os.path.join(self.fresh, "notify")
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as listener:
            listener.bind(path)
            os.chmod(path, 0o777)
            listener.settimeout(10)
            one = self.started(environment={"NOTIFY_SOCKET": path})
            self.assertIn(b"READY=1", listener.recv(4096).split(b"\n"))
            # When it says so, it is.
            self.assertEqual(one.api.get("/v1/ready").json, {"status": "ready"})
            one.process.send_signal(signal.SIGTERM)
            self.assertIn(b"STOPPING=1", listener.recv(4096).split(b"\n"))
            self.assertEqual(one.process.wait(20), 0)

    def test_what_is_under_way_is_answered_and_nothing_new(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            one, answers = self.started(), []
            thread = threading.Thread(target=lambda: answers.append(one.api.post(
                "/v1/execute", code="sleep 2; echo done", language="shell", approve=True)))
            thread.start()
            self.eventually(lambda: [item for item in one.api.get("/v1/executions").json["items"]
                                     if item["state"] == "running"])
            idle = one.api.open()
            idle.request("GET", "/v1/health")
            idle.getresponse().read()
            one.process.send_signal(number)
            time.sleep(0.5)
            with self.assertRaises((OSError, http.client.HTTPException)):
                answer = one.api.post("/v1/execute", code="print('new')", patience=5)
                raise ConnectionRefusedError(answer.status) if answer.status == 503 else AssertionError(answer.body)
            thread.join()
            self.assertEqual((answers[0].status, answers[0].json["stdout"]), (200, "done\n"))
            idle.close()
            self.assertEqual(one.process.wait(20), 0)
            self.assertFalse(os.path.exists(one.socket_path))
            self.assertEqual(observe.descendants(), {})

    def test_what_takes_too_long_is_cut_off(self):
        one = self.started(environment={"SKERRY_SANDBOX__DAEMON__DRAIN_TIMEOUT": "1"})
        session = one.api.expect(201, "POST", "/v1/sessions", metadata={})["id"]
        background = one.api.expect(201, "POST", f"/v1/sessions/{session}/commands", argv=["sleep", "1000"],
                                    approve=True,
                                    background=True)["id"]
        body = json.dumps({"code": "import time; time.sleep(100)"}).encode()
        held = [one.api.send_head("POST", "/v1/execute", body),
                one.api.send_head("GET", f"/v1/executions/{background}/events"),
                one.api.websocket(f"/v1/sessions/{session}/commands/{background}/attach").sock]
        self.eventually(lambda: len([item for item in one.api.get("/v1/executions").json["items"]
                                     if item["state"] == "running"]) == 2)
        started = time.monotonic()
        self.assertEqual(one.stop(), 0)
        self.assertLess(time.monotonic() - started, 12)
        for sock in held:
            sock.close()
        again = self.started()
        states = {item["id"]: item["state"] for item in again.api.expect(200, "GET", "/v1/executions")["items"]}
        self.assertEqual(set(states.values()) - {"done", "lost"}, set())
        self.assertEqual(again.api.expect(200, "GET", f"/v1/sessions/{session}")["state"], "idle")
        again.stop()

    def test_a_daemon_that_is_told_twice_ends_at_once_and_leaves_nothing(self):
        one = self.started()
        one.api.expect(201, "POST", "/v1/sessions", id="twice")
        one.api.expect(201, "POST", "/v1/sessions/twice/commands", argv=["sleep", "1000"], approve=True,
                       background=True)
        for _ in range(5):
            one.process.send_signal(signal.SIGTERM)
        self.assertIn(one.stop(), (0, 128 + signal.SIGTERM, -signal.SIGTERM))

    def test_signals_that_mean_nothing(self):
        one = self.started()
        one.process.send_signal(signal.SIGPIPE)
        time.sleep(0.2)
        self.assertEqual(one.api.get("/v1/health").status, 200)
        self.assertEqual(one.stop(), 0)


@unittest.skipUnless(shutil.which("openssl") and shutil.which("curl"), "openssl and curl are not installed")
@harness.once
class TlsTest(daemon.DaemonTest):
    autostart = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate, cls.key = os.path.join(cls.home, "cert.pem"), os.path.join(cls.home, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", cls.key, "-out",
                        cls.certificate], check=True, capture_output=True)
        os.chmod(cls.key, 0o600)
        if harness.AS_USER:
            os.chown(cls.key, harness.PLAIN_ID, harness.PLAIN_ID)

    def files(self, certificate=None, key=None):
        return ("--listen", "127.0.0.1:0", "--tls-certificate", certificate or self.certificate, "--tls-key",
                key or self.key)

    def curl(self, *arguments):
        return subprocess.run(["curl", "-sS", "--max-time", "20", *arguments], capture_output=True, check=False)

    def test_tls(self):
        one = self.spawn(*self.files())
        self.addCleanup(one.stop)
        token = one.issue(scopes=["run", "approve"])["token"]
        trust = ("--cacert", self.certificate, "-H", f"Authorization: Bearer {token}")
        url = f"https://localhost:{one.port}/v1"
        self.assertIn(f"https://127.0.0.1:{one.port}", one.stderr())
        result = self.curl(*trust, f"{url}/sessions")
        self.assertEqual((result.returncode, json.loads(result.stdout)["items"]), (0, []), result.stderr)
        result = self.curl(*trust, "-H", "Content-Type: application/json", "-d", '{"code": "print(6*7)"}',
                           f"{url}/execute")
        self.assertEqual(json.loads(result.stdout)["stdout"], "42\n")
        result = self.curl(*trust, "-N", "-H", "Accept: text/event-stream", "-H", "Content-Type: application/json",
                           "-d",
                           '{"code": "print(6*7)"}', f"{url}/execute")
        self.assertIn(b"event: exit\n", result.stdout)
        self.assertIn(b'"unauthenticated"', self.curl("--cacert", self.certificate, f"{url}/sessions").stdout)
        block = os.urandom(3 << 20)
        place = os.path.join(self.home, "block")
        with open(place, "wb") as file:
            file.write(block)
        session = one.api.expect(201, "POST", "/v1/sessions", id="tls")["id"]
        answer = self.curl("--cacert", self.certificate, "-H",
                           f"Authorization: Bearer {one.issue(scopes=['admin'])['token']}",
                           "-T", place, f"{url}/sessions/{session}/files/content?path=f")
        self.assertEqual(json.loads(answer.stdout)["size"], len(block), answer.stderr)
        self.assertEqual(one.api.get(f"/v1/sessions/{session}/files/content?path=f").body, block)
        one.api.delete(f"/v1/sessions/{session}")

    def test_who_speaks_otherwise(self):
        one = self.spawn(*self.files())
        self.addCleanup(one.stop)
        self.assertNotEqual(self.curl(f"https://localhost:{one.port}/v1/health").returncode, 0)  # nobody vouches for it
        plain = daemon.Client(port=one.port, check=False)
        self.assertNotIn(b"200 OK", plain.raw(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", timeout=12))
        self.assertNotEqual(self.curl("--cacert", self.certificate, "--tls-max", "1.1",
                                      f"https://localhost:{one.port}/v1/health").returncode, 0)
        silent = [plain.socket() for _ in range(30)]
        self.assertIn(b'"unauthenticated"', self.curl("--cacert", self.certificate,
                                                      f"https://localhost:{one.port}/v1/sessions").stdout)
        for sock in silent:
            sock.close()

    def test_files_that_will_not_do(self):
        other = os.path.join(self.home, "other.pem")
        subprocess.run(["openssl", "genrsa", "-out", other, "2048"], check=True, capture_output=True)
        os.chmod(other, 0o600)
        loose = os.path.join(self.home, "loose.pem")
        shutil.copy(self.key, loose)
        os.chmod(loose, 0o644)
        for path in (other, loose):
            if harness.AS_USER:
                os.chown(path, harness.PLAIN_ID, harness.PLAIN_ID)
        for arguments in (self.files(certificate="/none"), self.files(key="/none"), self.files(key=other),
                          self.files(key=loose), self.files(certificate=self.key), self.files()[:4]):
            process = subprocess.run(self.program("serve", *arguments), env=self.own_environment(), cwd=self.home,
                                     capture_output=True, timeout=20, check=False)
            self.assertNotEqual(process.returncode, 0, arguments)
            self.assertGreater(len(process.stderr), 10)


if __name__ == "__main__":
    harness.main()
