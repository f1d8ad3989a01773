"""Who may ask the daemon what: tokens, scopes, tenants, hosts, origins, and who can reach its sockets at all."""
import contextlib
import os
import secrets
import socket
import stat
import subprocess
import sys
import time
import unittest

import daemon
import harness
import observe

OTHER_ID = 54322
AS_ROOT = os.geteuid() == 0
FOLLOW = "read or approve"
OPEN = "none"  # probes need no token
INCLUDED = {"read": {"read", FOLLOW}, "run": {"run", "read", FOLLOW}, "approve": {"approve", FOLLOW}, "metrics": {"metrics"},
            "admin": {"read", "run", "approve", FOLLOW, "metrics", "admin"}}


class EveryOperationTest(daemon.DaemonTest):
    """J01: asks for everything that the contract has, and looks whether anything came of it."""

    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene = daemon.Scene(cls.daemon)
        cls.addClassCleanup(cls.scene.end)

    def refused(self, client, status, operations=None, headers=None, names=None):
        """Every operation is answered with this status, and nothing is different afterwards."""
        before = self.scene.state()
        wrong = []
        for method, path, operation in operations or daemon.CONTRACT.operations:
            answer = self.scene.request(client, method, path, operation, headers=headers, names=names)
            if answer.status != status:
                wrong.append((method, path, answer.status, answer.body[:100]))
            if status == 401 and not answer.headers["WWW-Authenticate"]:
                wrong.append((method, path, "no WWW-Authenticate"))
        self.assertEqual(wrong, [], f"should all be {status}")
        self.assertEqual(self.scene.state(), before)

    def test_without_a_token(self):
        self.refused(self.daemon.tcp(), 401, [row for row in daemon.CONTRACT.operations if row[2]["x-skerry-scope"] != OPEN])

    def test_a_probe_needs_no_token_and_learns_nothing_else(self):
        self.assertEqual([row[1] for row in daemon.CONTRACT.operations if row[2]["x-skerry-scope"] == OPEN], ["/v1/health"])
        probe = self.daemon.tcp()
        self.assertEqual(probe.expect(200, "GET", "/v1/health"), {"status": "ok"})
        self.assertIn("version", self.scene.client.expect(200, "GET", "/v1/health"))
        self.assertEqual(probe.request("GET", "/v1/health", headers={"Host": "evil.example"}).status, 403)
        self.assertEqual(probe.request("GET", "/v1/health", headers={"Origin": "https://evil.example"}).status, 403)
        self.assertEqual(probe.get("/v1/health", query={"x": "y"}).status, 400)

    def test_with_a_token_that_is_none(self):
        real = self.scene.token["token"]
        last = "a" if real[-1] != "a" else "b"
        for token in ("sk_" + secrets.token_urlsafe(32), real[:-1] + last):
            self.refused(self.daemon.tcp(token), 401)
        health = [row for row in daemon.CONTRACT.operations if row[1] in ("/v1/health", "/v1/sessions")]
        for value in ("Basic cm9vdDpyb290", "Bearer", "Bearer ", "Bearer x y", "Bearer sk_", real, "Token " + real,
                      f"Bearer {real}\t{real}", "Bearer " + "x" * 8000):
            self.refused(self.daemon.tcp(), 401, health, headers={"Authorization": value})

    def test_with_a_scope_that_is_too_small(self):
        for scope in ("read", "run", "approve", "metrics"):
            token = self.daemon.issue(tenant=self.scene.name, scopes=[scope])
            beyond = [row for row in daemon.CONTRACT.operations if row[2]["x-skerry-scope"] not in INCLUDED[scope] | {OPEN}]
            self.assertGreater(len(beyond), 3)
            self.refused(self.daemon.tcp(token["token"]), 403, beyond)

    def test_of_another_tenant_nothing_exists(self):
        other = self.daemon.tcp(self.daemon.issue(tenant="elsewhere", scopes=["run", "approve"])["token"])
        named = [row for row in daemon.CONTRACT.operations if "{" in row[1] and "{token}" not in row[1]]
        self.refused(other, 404, named)
        # Not even by the wording: what never was is answered in the same way.
        never = {name: "n" + value[1:-1] + "0" for name, value in self.scene.names.items()}
        for method, path, operation in named:
            texts = []
            for names in (self.scene.names, never):
                body = self.scene.request(other, method, path, operation, names=names).json
                text = f"{body['code']} {body['message']} {body['detail']}"
                for value in names.values():
                    text = text.replace(value[:64], "NAME")
                texts.append(text)
            self.assertEqual(texts[0], texts[1], path)
        for path in ("/v1/sessions", "/v1/executions", "/v1/approvals"):
            self.assertEqual(other.expect(200, "GET", path)["items"], [], path)
        answer = other.post("/v1/execute", code="print(1)", session_id=self.scene.session)
        self.assertEqual(answer.status, 404)
        self.assertEqual(other.get("/v1/executions", query={"session_id": self.scene.session}).json["items"], [])

    def test_what_is_no_operation(self):
        nobody, somebody = self.daemon.tcp(), self.scene.client
        for path in ("/v1/nonexistent", "/v1", "/", "/v1/sessions/", "/v2/health", "//v1/health", "/v1//health",
                     "/v1/metrics", "/v1/health/x"):
            self.assertIn(nobody.get(path).status, (401, 404), path)
            self.assertEqual(somebody.get(path).status, 404, path)
        for method in ("HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND"):
            for path in ("/v1/health", "/v1/sessions", f"/v1/sessions/{self.scene.session}", "/v1/tokens"):
                probes = (200,) if (method, path) == ("HEAD", "/v1/health") else ()
                self.assertIn(nobody.request(method, path).status, (400, 401, 405, *probes), (method, path))
                answer = somebody.request(method, path)
                self.assertIn(answer.status, (200, 403, 404, 405) if method == "HEAD" else (400, 404, 405),
                              (method, path))
                self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_j03_a_token_in_the_address(self):
        token = self.scene.token["token"]
        for name in ("token", "access_token", "api_key", "Token"):
            for client in (self.daemon.tcp(), self.scene.client):
                answer = client.get(f"/v1/sessions?{name}={token}")
                self.assertIn(answer.status, (400, 401, 403))
                self.assertNotIn(token.encode(), answer.body)
        self.assertNotIn(token, self.daemon.stderr())

    def test_j04_hosts(self):
        token = self.scene.token["token"]
        port = self.daemon.port

        def ask(*hosts, target="/v1/sessions", version="1.1"):
            lines = "".join(f"Host: {host}\r\n" for host in hosts)
            text = f"GET {target} HTTP/{version}\r\n{lines}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            answer = self.daemon.tcp().raw(text.encode("latin-1"))
            return int(answer.split()[1]) if answer else 0

        for host in (f"127.0.0.1:{port}", "localhost", f"localhost:{port}", "LOCALHOST", "[::1]:80"):
            self.assertEqual(ask(host), 200, host)
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.com", f"localhost.evil.com:{port}",
                     "127.0.0.1.evil.com", "evil.com:127.0.0.1", "127.0.0.1@evil.com", "evil.com#127.0.0.1", "",
                     "localhost evil.com", "localhost,evil.com", "localhost/evil.com", "[::1", "[::1]x", "0.0.0.0",
                     "127.0.0.1:", "127.0.0.1:99999999", "localhost.", "127.1", "2130706433", "0x7f000001",
                     "169.254.169.254", "\xe9", "localhost\tx"):
            self.assertIn(ask(host), (400, 403), host)
        self.assertIn(ask("localhost", "localhost"), (400,))
        self.assertIn(ask("localhost", "evil.example"), (400,))
        self.assertIn(ask(), (400,))
        self.assertEqual(ask("localhost", target="http://localhost/v1/sessions"), 200)
        for target in ("http://evil.example/v1/sessions", "http://localhost:1/v1/sessions",
                       "http://localhost@evil.example/v1/sessions", "ftp://localhost/v1/sessions", "evil.example:80"):
            self.assertIn(ask("localhost", target=target), (400, 403), target)
        self.assertIn(ask("evil.example", target="http://localhost/v1/sessions"), (400, 403))
        self.assertIn(ask("evil.example", target="http://evil.example/v1/sessions"), (400, 403))

    def test_j04_origins(self):
        for origin in ("http://evil.example", "null", "https://localhost", f"http://localhost:{self.daemon.port}",
                       "http://127.0.0.1", "file://", "http://localhost.evil.com", ""):
            for client in (self.scene.client, self.daemon.api):
                answer = client.post("/v1/risk", code="print(1)", headers={"Origin": origin})
                self.assertEqual(answer.status, 403, origin)
                self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_j06_websockets(self):
        path = f"/v1/sessions/{self.scene.session}/commands/{self.scene.command}/attach"
        rows = [(self.daemon.tcp(), {}, (401,)), (self.daemon.tcp(), {"Origin": "http://evil.example"}, (401, 403)),
                (self.scene.client, {"Origin": "http://evil.example"}, (403,)),
                (self.scene.client, {"Origin": "null"}, (403,)),
                (self.daemon.tcp(self.scene.spare["token"]), {}, (403,)),
                (self.daemon.tcp("sk_wrong"), {}, (401,)), (self.scene.client, {"Host": "evil.example"}, (400, 403)),
                (self.daemon.api, {"Origin": "http://evil.example"}, (403,))]
        for client, headers, statuses in rows:
            with client.websocket(path, headers) as attached:
                self.assertIn(attached.status, statuses, headers)
        for headers in ({"Sec-WebSocket-Version": "8"}, {"Sec-WebSocket-Key": "short"}, {"Upgrade": "h2c"}):
            with self.scene.client.websocket(path, headers) as attached:
                self.assertIn(attached.status, (400, 426), headers)
        with self.scene.client.websocket(path) as attached:
            self.assertEqual(attached.status, 101)

    def test_an_upgrade_elsewhere_is_none(self):
        with self.scene.client.websocket("/v1/sessions") as attached:
            self.assertIn(attached.status, (200, 400, 404))


class TokensTest(daemon.DaemonTest):
    def caller(self, **fields):
        token = self.daemon.issue(**fields)
        return token, self.daemon.tcp(token["token"])

    def test_one_is_made_listed_and_revoked(self):
        token, client = self.caller(name="mine", scopes=["read", "run"], ttl_seconds=3600, limits={"sessions": 3})
        self.assertEqual((token["name"], token["tenant"], sorted(token["scopes"])),
                         ("mine", token["id"], ["read", "run"]))
        self.assertEqual(token["limits"]["sessions"], 3)
        listed = {item["id"]: item for item in self.api.expect(200, "GET", "/v1/tokens")["items"]}
        self.assertNotIn("token", listed[token["id"]])
        self.assertEqual(client.get("/v1/sessions").status, 200)
        self.api.expect(204, "DELETE", f"/v1/tokens/{token['id']}")
        self.assertEqual(client.get("/v1/sessions").status, 401)
        listed = {item["id"]: item for item in self.api.expect(200, "GET", "/v1/tokens")["items"]}
        self.assertIsNotNone(listed[token["id"]]["revoked_at"])

    def test_the_secret_is_nowhere(self):
        token, _ = self.caller()
        secret = token["token"].encode()
        for root, _, names in os.walk(os.path.join(self.home, ".skerry")):
            for name in names:
                path = os.path.join(root, name)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        self.assertNotIn(secret, file.read(), path)
        self.assertNotIn(token["token"], self.daemon.stderr())

    def test_revoked_at_once_also_on_an_open_connection(self):
        token, client = self.caller(scopes=["run"])
        connection = client.open()
        self.addCleanup(connection.close)

        def status():
            connection.request("GET", "/v1/sessions", headers=client.headers())
            response = connection.getresponse()
            response.read()
            return response.status

        self.assertEqual(status(), 200)
        self.api.expect(204, "DELETE", f"/v1/tokens/{token['id']}")
        self.assertEqual(status(), 401)

    def test_it_ends_with_its_time(self):
        _, client = self.caller(ttl_seconds=1)
        self.assertEqual(client.get("/v1/sessions").status, 200)
        time.sleep(1.2)
        self.assertEqual(client.get("/v1/sessions").status, 401)

    def test_it_is_still_good_after_a_restart(self):
        token, _ = self.caller()
        revoked, _ = self.caller()
        self.api.expect(204, "DELETE", f"/v1/tokens/{revoked['id']}")
        self.renew()
        self.assertEqual(self.daemon.tcp(token["token"]).get("/v1/sessions").status, 200)
        self.assertEqual(self.daemon.tcp(revoked["token"]).get("/v1/sessions").status, 401)

    def test_too_many_requests(self):
        _, client = self.caller(limits={"requests_per_second": 2})
        answers = [client.get("/v1/sessions") for _ in range(30)]
        self.assertEqual({answer.status for answer in answers}, {200, 429})
        late = answers[-1]
        self.assertEqual((late.status, late.json["code"]), (429, "rate_limited"))
        self.assertGreaterEqual(int(late.headers["Retry-After"]), 1)
        _, other = self.caller()
        self.assertEqual(other.get("/v1/sessions").status, 200)
        time.sleep(int(late.headers["Retry-After"]))
        self.assertEqual(client.get("/v1/sessions").status, 200)

    def test_so_many_sessions(self):
        _, client = self.caller(limits={"sessions": 2})
        made = [client.expect(201, "POST", "/v1/sessions")["id"] for _ in range(2)]
        answer = client.post("/v1/sessions")
        self.assertEqual((answer.status, answer.json["code"]), (429, "rate_limited"))
        client.expect(204, "DELETE", f"/v1/sessions/{made[0]}")
        made[0] = client.expect(201, "POST", "/v1/sessions")["id"]
        # Nor all at once.
        _, greedy = self.caller(limits={"sessions": 2})
        answers = self.in_threads([lambda: greedy.post("/v1/sessions")] * 10)
        self.assertEqual(sorted(answer.status for answer in answers), [201] * 2 + [429] * 8)
        for session in made + [answer.json["id"] for answer in answers if answer.status == 201]:
            self.remove(session)

    def test_so_many_runs_at_once(self):
        _, client = self.caller(scopes=["run", "approve"], limits={"concurrent_runs": 2})
        session = client.expect(201, "POST", "/v1/sessions")["id"]
        self.addCleanup(self.remove, session)
        running = [self.run_command(session, "sleep", "100", client=client, background=True)["id"] for _ in range(2)]
        for path, fields in ((f"/v1/sessions/{session}/commands", {"argv": ["true"]}),
                             ("/v1/execute", {"code": "print(1)"}),
                             (f"/v1/sessions/{session}/execute", {"code": "print(1)"})):
            self.assertEqual(client.post(path, **fields).status, 429, path)
        client.expect(200, "POST", f"/v1/executions/{running[0]}/cancel")
        self.ended(running[0])
        self.assertEqual(client.post("/v1/execute", code="print(1)").status, 200)

    def test_tokens_that_make_no_sense(self):
        for fields in ({"scopes": ["run"]}, {"name": ""}, {"name": "x", "scopes": []},
                       {"name": "x", "scopes": ["root"]},
                       {"name": "x", "scopes": ["run", "run"]}, {"name": "x", "tenant": "../x"},
                       {"name": "x", "tenant": ""}, {"name": "x", "ttl_seconds": 0}, {"name": "x", "ttl_seconds": -1},
                       {"name": "x", "limits": {"sessions": -1}}, {"name": "x", "limits": {"unknown": 1}},
                       {"name": "x" * 129}, {"name": 5}, {"name": "x", "token": "sk_mine"}):
            with self.subTest(**fields):
                self.assertEqual(self.api.post("/v1/tokens", **fields).status, 400)

    def test_two_tokens_of_a_tenant_see_the_same(self):
        _, first = self.caller(tenant="us", scopes=["run"])
        _, second = self.caller(tenant="us", scopes=["run"])
        session = first.expect(201, "POST", "/v1/sessions")["id"]
        self.addCleanup(self.remove, session)
        self.assertEqual(second.expect(200, "GET", f"/v1/sessions/{session}")["tenant"], "us")


class ReachTest(daemon.DaemonTest):
    """J08 and J09: who can get at the sockets, and where the daemon would not put one."""

    arguments = ()

    def listeners(self):
        """Of this daemon and its children: local addresses of TCP sockets that listen."""
        inodes = set()
        for pid in {self.daemon.pid, *observe.descendants()}:
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        target = os.readlink(f"/proc/{pid}/fd/{name}")
                        if target.startswith("socket:["):
                            inodes.add(target[8:-1])
        found = []
        for name in ("tcp", "tcp6"):
            with open(f"/proc/{self.daemon.pid}/net/{name}", encoding="utf-8") as file:
                rows = [line.split() for line in file][1:]
            found += [row[1] for row in rows if row[3] == "0A" and row[9] in inodes]
        return found

    def test_j08_nothing_listens_on_tcp_unless_asked(self):
        self.execute("true", self.make())
        self.assertEqual(self.listeners(), [])

    def test_j08_loopback_means_loopback(self):
        home = self.directory("loop")
        other = self.spawn("--listen", ":0", environment={"HOME": home})
        self.addCleanup(other.stop)
        with open("/proc/net/tcp", encoding="utf-8") as file:
            addresses = [line.split()[1] for line in file if f":{other.port:04X} " in line]
        self.assertTrue(addresses and all(address.startswith("0100007F:") for address in addresses), addresses)

    def test_j08_the_socket_is_its_owners(self):
        path = self.daemon.socket_path
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
        self.assertEqual(os.stat(path).st_uid, harness.PLAIN_ID if harness.AS_USER else os.geteuid())

    CONNECT = ("import socket, sys\ns = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])\n"
               "s.sendall(b'GET /v1/sessions HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')\n"
               "sys.stdout.buffer.write(s.recv(65536))")

    def as_other(self, code, *arguments):
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        return subprocess.run(["setpriv", f"--reuid={OTHER_ID}", f"--regid={OTHER_ID}", "--clear-groups", python, "-c",
                               code, *arguments], capture_output=True, check=False, timeout=20, cwd="/")

    @unittest.skipUnless(AS_ROOT, "only root can be somebody else")
    def test_j08_somebody_else_is_not_let_in(self):
        path = self.daemon.socket_path
        self.assertIn(b"PermissionError", self.as_other(self.CONNECT, path).stderr)
        # Nor when the door stands open: the server looks who it is.
        opened = [os.path.join(self.home, ".skerry"), os.path.dirname(path), path]
        modes = [stat.S_IMODE(os.stat(each).st_mode) for each in opened]
        for each in opened:
            os.chmod(each, 0o777)
        try:
            result = self.as_other(self.CONNECT, path)
        finally:
            for each, mode in zip(opened, modes):
                os.chmod(each, mode)
        self.assertNotIn(b"PermissionError: [Errno 13]", result.stderr)
        self.assertNotIn(b" 200 ", result.stdout)
        self.assertNotIn(b"items", result.stdout)

    def refuses(self, *arguments, environment=None):
        """What it says."""
        process = subprocess.run(self.program("serve", *arguments), env=self.own_environment(environment),
                                 cwd=self.home,
                                 capture_output=True, timeout=20, check=False, stdin=subprocess.DEVNULL)
        self.assertNotEqual(process.returncode, 0, arguments)
        self.assertGreater(len(process.stderr.strip()), 10)
        self.assertNotIn(b"terminate called", process.stderr)
        return process.stderr.decode()

    def test_a_second_daemon_is_refused(self):
        self.refuses()
        self.assertEqual(self.api.get("/v1/health").status, 200)
        text = self.refuses("--socket", os.path.join(self.directory("run"), "s"))
        self.assertIn("another daemon", text)

    def own(self, path):
        if harness.AS_USER:
            os.chown(path, harness.PLAIN_ID, harness.PLAIN_ID, follow_symlinks=False)
        return path

    def test_j09_a_directory_that_others_may_write_to(self):
        fresh = {"HOME": self.directory("fresh")}
        place = self.directory("open")
        os.chmod(place, 0o777)
        self.assertIn(place, self.refuses("--socket", place + "/s", environment=fresh))
        os.chmod(place, 0o720)
        self.assertIn(place, self.refuses("--socket", place + "/s", environment=fresh))
        self.assertEqual(os.listdir(place), [])

    @unittest.skipUnless(AS_ROOT, "only root can give a directory away")
    def test_j09_a_directory_of_somebody_else(self):
        home = self.directory("theirs")
        fresh = {"HOME": self.directory("fresh")}
        theirs = os.path.join(home, "run")
        os.mkdir(theirs, 0o755)
        os.chown(theirs, OTHER_ID, OTHER_ID)
        self.assertIn(theirs, self.refuses("--socket", theirs + "/s", environment=fresh))
        link = os.path.join(home, "link")
        os.symlink(theirs, link)
        os.chown(link, OTHER_ID, OTHER_ID, follow_symlinks=False)
        self.refuses("--socket", link + "/s", environment=fresh)
        self.assertEqual(os.listdir(theirs), [])
        # The default place, taken before the daemon was ever started.
        taken = self.directory("taken")
        os.makedirs(os.path.join(taken, ".skerry"))
        os.symlink(theirs, os.path.join(taken, ".skerry", "run"))
        self.own(os.path.join(taken, ".skerry"))
        self.refuses(environment={"HOME": taken})
        self.assertEqual(os.listdir(theirs), [])

    def test_j09_something_else_where_the_socket_would_be(self):
        fresh = {"HOME": self.directory("fresh")}
        place = self.directory("place")
        os.chmod(place, 0o700)
        with open(os.path.join(place, "file"), "w", encoding="utf-8") as file:
            file.write("precious")
        os.symlink(os.path.join(place, "file"), os.path.join(place, "link"))
        os.symlink(os.path.join(place, "nowhere"), os.path.join(place, "dangling"))
        os.mkdir(os.path.join(place, "directory"))
        for name in ("file", "link", "dangling", "directory"):
            self.own(os.path.join(place, name))
            self.assertIn(name, self.refuses("--socket", os.path.join(place, name), environment=fresh))
        self.assertEqual(sorted(os.listdir(place)), ["dangling", "directory", "file", "link"])
        with open(os.path.join(place, "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        for path in ("relative", "", "/", os.path.join(place, "x\ny"), "/" + "x" * 5000):
            self.refuses("--socket", path, environment=fresh)

    def test_a_socket_that_a_dead_daemon_left_is_taken_away(self):
        fresh = {"HOME": self.directory("fresh")}
        place = self.directory("place")
        os.chmod(place, 0o700)
        path = os.path.join(place, "s")
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as left:
            left.bind(path)
        self.own(path)
        other = self.spawn("--socket", path, environment=fresh, socket_path=path)
        self.assertEqual(other.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_open_to_others_only_with_a_token(self):
        fresh = {"HOME": self.directory("fresh")}
        self.assertIn("token", self.refuses("--listen", "0.0.0.0:0", environment=fresh))
        first = self.spawn(environment=fresh)
        token = first.issue()
        first.stop()
        second = self.spawn("--listen", "0.0.0.0:0", environment=fresh)
        self.addCleanup(second.stop)
        self.assertIn("warning", second.stderr())
        self.assertIn("TLS", second.stderr())
        self.assertEqual(second.tcp(token["token"]).get("/v1/sessions").status, 200)
        self.assertEqual(second.tcp().get("/v1/sessions").status, 401)

    def test_a_revoked_token_opens_nothing(self):
        fresh = {"HOME": self.directory("fresh")}
        first = self.spawn(environment=fresh)
        first.api.expect(204, "DELETE", f"/v1/tokens/{first.issue()['id']}")
        first.issue(ttl_seconds=1)
        first.stop()
        time.sleep(1)
        self.assertIn("token", self.refuses("--listen", "0.0.0.0:0", environment=fresh))

    def test_addresses_that_are_none(self):
        fresh = {"HOME": self.directory("fresh")}
        for text in ("nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1", "*:0", "::1:0", "[::1:0",
                     "1.2.3.4:0", "no.such.host.invalid:0"):
            with self.subTest(listen=text):
                self.refuses("--listen", text, environment=fresh)
        self.refuses("--listen", ":0", "--tls-certificate", "/none", environment=fresh)
        self.refuses("--listen", ":0", "--tls-certificate", "/none", "--tls-key", "/none", environment=fresh)


if __name__ == "__main__":
    harness.main()
