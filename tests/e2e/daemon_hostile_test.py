"""The daemon against callers who mean harm: names, options, limits, JSON, HTTP, and patience. Nothing of it may be
answered with 5xx, end the daemon, make it grow, or keep others waiting."""
import contextlib
import json
import os
import select
import socket
import subprocess
import time

import daemon
import harness

MEGABYTE = 1 << 20
GROWTH = 200 * MEGABYTE
JSON = {"Content-Type": "application/json"}


class HostileTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__DAEMON__REQUESTS_PER_SECOND": "0"}

    def setUp(self):
        super().setUp()
        self.plain = daemon.Client(self.daemon.socket_path, check=False)
        self.sessions = self.session_ids()
        self.daemon.reset_peak()
        self.memory = self.daemon.memory()

    def tearDown(self):
        self.assertEqual(self.plain.get("/v1/health", patience=10).status, 200)
        self.assertLess(self.daemon.memory("VmHWM") - self.memory, GROWTH)
        super().tearDown()

    def session_ids(self):
        return {item["id"] for item in self.api.expect(200, "GET", "/v1/sessions", query={"limit": 1000})["items"]}

    def refused(self, answer, what, statuses=(400,)):
        with self.subTest(what=str(what)[:200]):
            self.assertIn(answer.status, statuses, answer.body[:300])


class NamesTest(HostileTest):
    def test_j10_sessions_that_are_none(self):
        self.make()
        secret = os.path.join(self.home, "sessions", "outside")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("SECRET")
        self.addCleanup(os.unlink, secret)
        names = ["../../x", "..", ".", "%2e%2e", "%2e%2e%2foutside", "..%2foutside", ".skerry", "x" * 65, "%00", "a%00",
                 "a%0a", "%ff", "-x", "%c0%ae%c0%ae", "*", "a%20b", "%252e%252e", "nobody", "shared-local", ";id",
                 "a/b",
                 "%2Fetc", "..;", "a%5cb"]
        for name in names:
            for path in (f"/v1/sessions/{name}", f"/v1/sessions/{name}/files/content?path=outside",
                         f"/v1/sessions/{name}/history"):
                answer = self.plain.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                status = int(answer.split()[1])
                self.assertIn(status, (400, 404), name)
                self.assertNotIn(b"SECRET", answer)
            request = f"DELETE /v1/sessions/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            answer = self.plain.raw(request.encode())
            self.assertIn(int(answer.split()[1]), (400, 404), name)
        self.assertIn(self.plain.get("/v1/sessions/" + "x" * 65536).status, (404, 414))
        self.assertIn(self.plain.get("/v1/executions/" + "x" * 7000).status, (400, 404))
        self.assertTrue(os.path.exists(secret))

    def test_j10_names_for_new_ones(self):
        for name in ("../../x", "..", "", "x" * 65, "a/b", "a\0b", "a\nb", ".hidden", "-x", "é", "a b", ";id", "%2e",
                     "x" * 65536):
            self.refused(self.api.post("/v1/sessions", id=name), name)
        self.assertEqual(self.session_ids(), self.sessions)
        self.assertEqual([name for name in os.listdir(self.home) if name not in (".skerry", "sessions")], [])

    def test_j11_places_outside(self):
        for fields in ({"mounts": ["/"]}, {"mount": "/proc"}, {"volumes": ["/var/run/docker.sock"]},
                       {"workspace": "/root"},
                       {"workspace": os.path.join(self.home)}, {"base_dir": "/"}, {"image": "/"}, {"image": "../../"},
                       {"image": "/var/run/docker.sock"}, {"backend": "../x"}):
            self.refused(self.api.post("/v1/sessions", **fields), fields, (400, 404))
            body = {"code": "print(1)"} | fields
            self.refused(self.api.post("/v1/execute", **body), fields, (400, 404))
        for directory in ("/", "/etc", "/root", "../..", "/workspace/..", "a\0b", "/proc/self/root"):
            session = self.make()
            for path, fields in ((f"/v1/sessions/{session}/execute", {"code": "pwd", "language": "shell"}),
                                 (f"/v1/sessions/{session}/commands", {"argv": ["pwd"]})):
                answer = self.api.post(path, directory=directory, **fields)
                if answer.status == 200:  # a directory as the sandbox sees it, and that has nothing of the host's
                    self.assertIn(answer.json["stdout"], ("", "/\n", "/etc\n", "/root\n"), (directory, answer.body))
                else:
                    self.refused(answer, directory, (400, 404))

    def test_j12_options_and_variables(self):
        for fields in ({"image": "--privileged"}, {"image": ";id"}, {"image": "a b"}, {"id": ";id"},
                       {"backend": "--help"},
                       {"backend": "native;id"}, {"environment": {"LD_PRELOAD": "/x"}},
                       {"environment": {"LD_PRELOAD": ""}},
                       {"environment": {"A": "b\nLD_PRELOAD=x"}}, {"environment": {"A": "b\0c"}},
                       {"environment": {"A=B": "c"}}, {"environment": {"": "c"}}, {"environment": {"1A": "c"}},
                       {"environment": {"A B": "c"}}, {"environment": {"BASH_ENV": "x"}}, {"environment": {"A": 1}},
                       {"environment": {"A": None}}, {"environment": ["A=b"]}):
            self.refused(self.api.post("/v1/sessions", **fields), fields, (400, 404))
            if "id" in fields:
                continue
            body = {"code": "print(1)"} | {("sandbox_type" if name == "backend" else name): value
                                           for name, value in fields.items()}
            self.refused(self.api.post("/v1/execute", **body), fields, (400, 404))
        session = self.make()
        for argv in (["echo", "a\0b"], ["a\0b"], [], [""], "echo", [1], [["echo"]], ["x"] * 4097, ["x" * 131073]):
            self.refused(self.api.post(f"/v1/sessions/{session}/commands", argv=argv), argv,
                         (400,))
        for fields in ({}, {"argv": ["echo"], "command": "echo"}, {"command": ""}, {"command": "a\0b"},
                       {"command": ["echo"]}):
            body = json.dumps(fields).encode()
            self.refused(self.api.post(f"/v1/sessions/{session}/commands", body=body, headers=JSON), fields)
        self.assertEqual(self.session_ids(), self.sessions | {session})

    def test_j13_limits(self):
        values = ["-1", "0", "1e18", "1000000000000000000", "1.5", "NaN", "Infinity", '"1G\\u0000"', '"100"', "null",
                  "true", "[]", "{}", "18446744073709551616", "-9223372036854775809", "1e400", "0x10", "01", "-0"]
        for name in ("memory_mb", "pids", "disk_mb", "timeout_seconds", "cpu_percent"):
            for value in values:
                if name == "cpu_percent" and value in ("0", "-0"):
                    continue  # says that it is no limit
                body = f'{{"limits": {{"{name}": {value}}}}}'.encode()
                self.refused(self.api.post("/v1/sessions", body=body, headers=JSON), body)
        for name in ("ttl_seconds", "idle_seconds"):
            for value in values:
                self.refused(self.api.post("/v1/sessions", body=f'{{"{name}": {value}}}'.encode(), headers=JSON),
                             (name, value))
        for name in ("timeout", "max_memory_mb", "max_output_mb"):
            for value in values:
                body = f'{{"code": "print(1)", "{name}": {value}}}'.encode()
                self.refused(self.api.post("/v1/execute", body=body, headers=JSON), body)
        self.assertEqual(self.session_ids(), self.sessions)


class TypesTest(HostileTest):
    """Every field of every request with what it cannot be."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene = daemon.Scene(cls.daemon)
        cls.addClassCleanup(cls.scene.end)

    def wrong_values(self, schema):
        """Of what the schema says: values that it excludes."""
        resolved = daemon.CONTRACT.resolve(schema)
        kind = resolved.get("type")
        candidates = [None, True, 5, -1, 1.5, "", "nonsense \u0000", [], {}, [[]], [None], [5], {"unknown": 1},
                      10 ** 18,
                      "5", "true", -(10 ** 18), ["nonsense \u0000"] * 3]
        if kind == "integer":
            candidates += [resolved.get("minimum", 0) - 1, resolved.get("maximum", 10 ** 18) + 1]
        if kind == "string" and resolved.get("maxLength", 10 ** 9) <= 131_072:
            candidates.append("x" * (resolved["maxLength"] + 1))
        if kind == "array" and "maxItems" in resolved and resolved["maxItems"] <= 5000:
            candidates.append(["x"] * (resolved["maxItems"] + 1))
        # A NUL is within every pattern-less string of the schema; J12 and J14 are about those.
        return [value for value in candidates if daemon.CONTRACT.problems(schema, value)]

    def bodies(self, operation, schema):
        valid = json.loads(self.scene.body(operation)[0])
        resolved = daemon.CONTRACT.resolve(schema)
        for name, inner in resolved.get("properties", {}).items():
            for value in self.wrong_values(inner):
                yield valid | {name: value}
            below = daemon.CONTRACT.resolve(inner)
            for deep, part in below.get("properties", {}).items():
                for value in self.wrong_values(part):
                    yield valid | {name: {deep: value}}
        for name in resolved.get("required", []):
            yield {key: value for key, value in valid.items() if key != name}
        yield valid | {"unknown": 1}
        yield from ([], [valid], "x", 5, None, True)

    def test_wrong_types_everywhere(self):
        connection = self.daemon.api.open(30)
        self.addCleanup(connection.close)
        before, count, accepted = self.scene.state(), 0, []
        for method, path, operation in daemon.CONTRACT.operations:
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if not content:
                continue
            target = self.scene.target(path, operation)
            for value in self.bodies(operation["operationId"], content["schema"]):
                if not daemon.CONTRACT.problems(content["schema"], value):
                    continue
                connection.request(method, target, body=json.dumps(value).encode(), headers=JSON)
                response = connection.getresponse()
                text = response.read()
                count += 1
                if response.status not in (400, 413):
                    accepted.append((operation["operationId"], json.dumps(value)[:150], response.status, text[:120]))
        self.assertGreater(count, 1000)
        self.assertEqual([], accepted, f"{len(accepted)} of {count}:\n" + "\n".join(map(str, accepted)))
        self.assertEqual(self.scene.state(), before)

    def test_wrong_queries_everywhere(self):
        wrong = []
        for method, path, operation in daemon.CONTRACT.operations:
            if operation["operationId"] == "attachCommand":
                continue
            parameters = [daemon.CONTRACT.resolve(each) for each in operation.get("parameters", [])]
            target = self.scene.target(path, operation)
            join = "&" if "?" in target else "?"
            queries = ["nonsense=1", "limit=1&limit=1", "%zz=1"]
            for parameter in (each for each in parameters if each["in"] == "query"):
                kind, name = parameter["schema"].get("type"), parameter["name"]
                if kind == "integer":
                    queries += [f"{name}={value}" for value in ("-1", "x", "", "1.5", "1e3", "99999999999999999999",
                                                                "%00")]
                elif kind == "boolean":
                    queries += [f"{name}={value}" for value in ("yes", "", "TRUE", "1")]
                elif "enum" in parameter["schema"]:
                    queries += [f"{name}={value}" for value in ("nonsense", "", "%00")]
                elif parameter.get("required"):
                    queries.append(f"{name}=g")  # a second one
            body, kind = self.scene.body(operation["operationId"])
            for query in queries:
                answer = self.plain.request(method, target + join + query, body=body, headers={"Content-Type": kind})
                if answer.status != 400:
                    wrong.append((operation["operationId"], query, answer.status, answer.body[:80]))
        self.assertEqual(wrong, [])


class JsonTest(HostileTest):
    """J14."""

    def ask(self, body, statuses=(400,), path="/v1/execute", what=None):
        answer = self.api.post(path, body=body, headers=JSON, patience=60)
        self.refused(answer, what or body[:60], statuses)

    def test_what_is_no_json(self):
        good = b'{"code": "print(1)"}'
        for body in (b"", b"{", b"}", good + b"x", good + good, good + b"\0", b"\xef\xbb\xbf" + good, b"\0" + good,
                     b"{'code': 'print(1)'}", b'{"code": "print(1)",}', b'{code: "print(1)"}', b'// x\n' + good,
                     b'{"code": "a\nb"}', b'{"code": "\\x41"}', b'{"code": "\\ud800"}', b'{"code": "\\udc00\\ud800"}',
                     b'{"code": "\xff"}', b'{"code": "\xc0\xae"}', b'{"code": "\xed\xa0\x80"}',
                     b'{"code": "\xf5\x80\x80\x80"}',
                     b'{"code": "print(1)", "timeout": 1_0}', good.decode().encode("utf-16"), b"[" + good + b"]",
                     b"null"):
            self.ask(body)

    def test_a_field_that_comes_twice(self):
        for body in (b'{"code": "print(1)", "code": "print(2)"}',
                     b'{"code": "print(1)", "approve": false, "approve": true}',
                     b'{"code": "print(1)", "environment": {"A": "1", "A": "2"}}',
                     b'{"code": "print(1)", "c\\u006fde": "print(2)"}'):
            self.ask(body)

    def test_depth_number_and_size(self):
        self.ask(b"[" * 1_000_000, what="nesting")
        self.ask(b"[" * 1_000_000 + b"]" * 1_000_000, what="closed nesting")
        self.ask(b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000, what="objects")
        self.ask(b'{"code": "print(1)", "environment": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, what="inside")
        self.ask(b"{" + b",".join(b'"%x":1' % number for number in range(700_000)) + b"}", what="keys")
        self.ask(b'{"code": [' + b"1," * 3_000_000 + b"1]}", what="items")
        self.ask(b'{"code": "print(1)", "timeout": ' + b"1" * 1_000_000 + b"}", what="digits")
        self.ask(b'{"code": "' + b"x" * (5 * MEGABYTE) + b'"}', (400, 413), what="code of 5 MiB")

    def test_a_hundred_megabytes(self):
        """Refused by its length before it is sent, and when it comes in chunks, as soon as it is too much."""
        head = (b"POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 104857600\r\n\r\n")
        started = time.monotonic()
        answer = self.plain.raw(head, timeout=20)
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        self.assertLess(time.monotonic() - started, 5)
        block = b"%x\r\n%s\r\n" % (MEGABYTE, b"x" * MEGABYTE)
        with self.plain.socket(20) as sock:
            sock.sendall(b"POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n")
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 100 and not select.select([sock], [], [], 0)[0]:
                    sock.sendall(block)
                    sent += 1
            self.assertLess(sent, 30)
            self.assertIn(b" 413 ", sock.recv(4096).split(b"\r\n")[0])


def chunked(*pieces, headers=b""):
    return (b"POST /v1/risk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers +
            b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(pieces))


BODY = b'{"code": "print(1)"}'
HIDDEN = b'POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
GET = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/risk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
MALFORMED = {
    "nothing": b"\r\n\r\n", "a word": b"hello\r\n\r\n", "two words": b"GET /v1/health\r\n\r\n",
    "0.9": b"GET /v1/health\r\n",
    "1.2": b"GET /v1/health HTTP/1.2\r\nHost: localhost\r\n\r\n",
    "2.0": b"GET /v1/health HTTP/2.0\r\nHost: localhost\r\n\r\n",
    "h2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "TLS": bytes.fromhex("16030100c8010000c40303") + b"x" * 200,
    "version": b"GET /v1/health HTTP/11\r\nHost: localhost\r\n\r\n",
    "lower": b"GET /v1/health http/1.1\r\nHost: x\r\n\r\n",
    "two blanks": b"GET  /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a tab": b"GET\t/v1/health\tHTTP/1.1\r\nHost: localhost\r\n\r\n", "a blank first": b" " + GET + b"\r\n",
    "bare LF": b"GET /v1/health HTTP/1.1\nHost: localhost\n\n",
    "bare CR": b"GET /v1/health HTTP/1.1\rHost: localhost\r\r",
    "LF in a header": GET + b"X: a\nY: b\r\n\r\n", "CR in a header": GET + b"X: a\rb\r\n\r\n",
    "NUL in the line": b"GET /v1/he\0alth HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "NUL in a header": GET + b"X: a\0b\r\n\r\n",
    "NUL in a name": GET + b"X\0: a\r\n\r\n", "a control": GET + b"X: a\x01b\r\n\r\n",
    "no colon": GET + b"Nonsense\r\n\r\n", "no name": GET + b": x\r\n\r\n",
    "blank before colon": GET + b"X : a\r\n\r\n",
    "folded": GET + b"X: a\r\n b\r\n\r\n", "blank in the name": GET + b"X Y: a\r\n\r\n",
    "no UTF-8 in the path": b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no host": b"GET /v1/health HTTP/1.1\r\n\r\n", "two hosts": GET + b"Host: localhost\r\n\r\n",
    "a fragment": b"GET /v1/health#x HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "star": b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "authority": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "bad escape": b"GET /v1/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "method": b"G@T /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "long method": b"G" * 40_000 + b" /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "long address": b"GET /v1/" + b"x" * MEGABYTE + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "long header": GET + b"X: " + b"x" * MEGABYTE + b"\r\n\r\n", "long name": GET + b"x" * 40_000 + b": x\r\n\r\n",
    "many headers": GET + b"".join(b"X%d: y\r\n" % n for n in range(10_000)) + b"\r\n",
    "many short headers": GET + b"a: b\r\n" * 200 + b"\r\n",
    "a length with a sign": POST + b"Content-Length: +20\r\n\r\n" + BODY,
    "negative": POST + b"Content-Length: -1\r\n\r\n" + BODY,
    "length in words": POST + b"Content-Length: twenty\r\n\r\n" + BODY,
    "hex": POST + b"Content-Length: 0x14\r\n\r\n" + BODY,
    "two lengths": POST + b"Content-Length: 20\r\nContent-Length: 5\r\n\r\n" + BODY,
    "a list of lengths": POST + b"Content-Length: 20, 5\r\n\r\n" + BODY,
    "empty length": POST + b"Content-Length:\r\n\r\n" + BODY,
    "the same length twice": POST + b"Content-Length: 20\r\nContent-Length: 20, 20\r\n\r\n" + BODY,
    "huge length": POST + b"Content-Length: 99999999999999999999999\r\n\r\n" + BODY,
    "length and chunks": chunked(b"0\r\n\r\n", HIDDEN, headers=b"Content-Length: 5\r\n"),
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + HIDDEN,
    "unknown coding": POST + b"Transfer-Encoding: gzip\r\n\r\n" + HIDDEN,
    "two codings": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunked, identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + HIDDEN,
    "odd chunked": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "old chunks": b"POST /v1/risk HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunk size": chunked(b"x\r\n", HIDDEN), "negative chunk": chunked(b"-1\r\n", HIDDEN),
    "chunk overflow": chunked(b"ffffffffffffffff1\r\n", HIDDEN),
    "largest chunk": chunked(b"ffffffffffffffff\r\n", HIDDEN),
    "signed overflow": chunked(b"7fffffffffffffff\r\n", HIDDEN), "hex chunk": chunked(b"0x5\r\n{\"co\"", HIDDEN),
    "chunk with LF": chunked(b"5\n{\"co\"\n", HIDDEN), "no CRLF behind": chunked(b"1\r\n{x\r\n", HIDDEN),
    "chunk blank": chunked(b"5 \r\n{\"co\"\r\n", b"x"),
    "long extension": chunked(b"1;" + b"x" * 100_000 + b"\r\n{\r\n"),
    "endless trailer": chunked(b"0\r\n", b"X: y\r\n" * 10_000),
    "bad trailer": chunked(b"0\r\n", b"nonsense\r\n\r\n", HIDDEN),
    "expectation": POST + b"Expect: miracles\r\nContent-Length: 20\r\n\r\n" + BODY,
    "body of a GET": GET + b"Content-Length: 5\r\n\r\nhello",
    "media type": POST.replace(b"application/json", b"text/plain") + b"Content-Length: 20\r\n\r\n" + BODY,
    "no media type": b"POST /v1/risk HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n" + BODY,
}


class HttpTest(HostileTest):
    def judge(self, name, answer):
        with self.subTest(what=name):
            if not answer:
                return  # closed without a word
            self.assertTrue(answer.startswith(b"HTTP/1.1 "), answer[:80])
            status = int(answer.split()[1])
            self.assertTrue(400 <= status < 500 or status == 505, answer[:200])
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, answer[:400])
            self.assertIn(b"x-request-id: ", answer.partition(b"\r\n\r\n")[0].lower())

    def last_word(self, client, request):
        """What comes back. Where that is nothing because more is waited for, no more comes."""
        with client.socket(14) as sock:
            received = b""
            with contextlib.suppress(OSError):
                sock.sendall(request)
                if not select.select([sock], [], [], 14 if daemon.SOAK else 1)[0]:
                    sock.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                while piece := sock.recv(65536):
                    received += piece
                    sock.settimeout(1)
            return received

    def test_malformed(self):
        clients = (self.plain, self.daemon.tcp(self.daemon.issue(scopes=["run"])["token"], check=False))

        def ask(client, name):
            bearer = b"Authorization: Bearer %s\r\n" % client.token.encode() if client.token else b""
            request = MALFORMED[name].replace(b"Host: localhost\r\n", b"Host: localhost\r\n" + bearer, 1)
            return self.last_word(client, request)

        rows = [(client, name) for client in clients for name in MALFORMED]
        answers = self.in_threads([lambda row=row: ask(*row) for row in rows])
        for (_, name), answer in zip(rows, answers):
            self.judge(name, answer)
        self.assertEqual(self.session_ids(), self.sessions)

    def test_requests_behind_each_other(self):
        """Both are answered, in their order; what is behind a bad one is not looked at."""
        request = GET + b"\r\n"
        last = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.plain.raw(request * 20 + last).count(b"HTTP/1.1 200 "), 21)
        answer = self.plain.raw(request + b"nonsense\r\n\r\n" + request)
        self.assertEqual((answer.count(b"HTTP/1.1 200 "), answer.count(b"HTTP/1.1 400 ")), (1, 1))

    def test_answers_tell_nothing_of_the_caller_in_their_heads(self):
        answer = self.plain.raw(b"GET /v1/none HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\r\nX-Evil: b\r\n"
                                b"Connection: close\r\n\r\n")
        self.assertNotIn(b"X-Evil", answer)
        self.assertIn(b" 404 ", answer.split(b"\r\n")[0])

    def test_frames_that_are_none(self):
        session = self.make()
        command = self.start_command(session, "exec cat", stdin=True)
        path = f"/v1/sessions/{session}/commands/{command}/attach"
        frames = {"unmasked": b"\x82\x05hello", "reserved bits": b"\xf2\x80aaaa", "reserved opcode": b"\x83\x80aaaa",
                  "long control": b"\x89\xfe\x00\xff" + b"x" * 259,
                  "huge": b"\x82\xff" + b"\x7f" + b"\xff" * 7 + b"aaaa",
                  "cut control": b"\x09\x80aaaa", "continuation of nothing": b"\x80\x80aaaa",
                  "no UTF-8": b"\x81\x82\0\0\0\0\xff\xfe",
                  "bad close": b"\x88\x81aaaab"}
        for name, frame in frames.items():
            with self.subTest(frame=name), self.plain.websocket(path) as attached:
                self.assertEqual(attached.status, 101)
                attached.sock.sendall(frame)
                attached.sock.settimeout(10)
                with contextlib.suppress(EOFError, ConnectionError):
                    while attached.frame()[0] != 8:
                        pass
        with self.plain.websocket(path) as attached:
            attached.type(b"fine\n")
            attached.until(b"fine\n")

    def test_an_answer_that_nobody_can_tell_from_a_header(self):
        session = self.make()
        for name in ("a%0d%0aSet-Cookie:%20x=1", "%22%3b%0aX:%20y", "%1b[2J"):
            self.api.put(f"/v1/sessions/{session}/files/content?path={name}", body=b"1")
            for what in ("content", "export"):
                answer = self.plain.get(f"/v1/sessions/{session}/files/{what}?path={name}")
                self.assertEqual((answer.headers["Set-Cookie"], answer.headers["X"]), (None, None))


class PatienceTest(HostileTest):
    """J24: many, slow and deaf clients, and somebody with work to do beside them."""

    def work(self, seconds=1):
        """The slowest of some runs, in seconds."""
        slowest, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            started = time.monotonic()
            self.assertEqual(self.execute("echo fine")["stdout"], "fine\n")
            slowest = max(slowest, time.monotonic() - started)
        return slowest

    def test_slowloris(self):
        quiet = self.work()
        tcp, half = self.daemon.tcp(check=False), []
        token = self.daemon.issue(scopes=["run", "approve"])["token"]
        try:
            for number in range(300):
                sock = (self.plain if number % 2 else tcp).socket(10)
                sock.sendall(b"POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nX-Slow: "[:10 + number % 40])
                half.append(sock)
            end, slowest = time.monotonic() + 4, 0
            while time.monotonic() < end:
                for sock in half:
                    with contextlib.suppress(OSError):
                        sock.send(b"x")
                slowest = max(slowest, self.work(0.2))
            self.assertEqual(self.daemon.tcp(token).post("/v1/execute", code="print(1)").status, 200)
            self.assertLess(slowest, max(2.5, 6 * quiet))
            # Letter by letter gains nothing: a head has ten seconds.
            closed = self.eventually(lambda: [sock for sock in half[:5] if self.is_closed(sock)] == half[:5], 15)
            self.assertTrue(closed)
        finally:
            for sock in half:
                sock.close()

    @staticmethod
    def is_closed(sock):
        with contextlib.suppress(OSError):
            sock.send(b"x")
            return bool(select.select([sock], [], [], 0)[0]) and sock.recv(4096) == b""
        return True

    def test_somebody_who_does_not_read(self):
        body = json.dumps({"code": "head -c 100000000 /dev/zero | tr '\\0' x", "language": "shell", "approve": True,
                           "max_output_mb": 200, "timeout": 60}).encode()
        deaf = self.api.send_head("POST", "/v1/execute", body, headers={"Accept": "text/event-stream"})
        try:
            self.eventually(lambda: any(item["output_bytes"] >= 100_000_000
                                        for item in self.api.get("/v1/executions").json["items"]), 40)
            self.work()
            self.assertLess(self.daemon.memory("VmHWM") - self.memory, GROWTH)
        finally:
            deaf.close()
        self.assertTrue(self.daemon.is_alive())

    def test_a_large_answer_that_is_not_read(self):
        session = self.make()
        self.put_file(session, "big", b"x" * 50 * MEGABYTE)
        deaf = [self.api.send_head("GET", f"/v1/sessions/{session}/files/content?path=big") for _ in range(20)]
        self.work()
        for sock in deaf:
            sock.close()
        self.assertLess(self.daemon.memory("VmHWM") - self.memory, GROWTH)

    def test_a_thousand_that_come_and_go(self):
        descriptors = len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
        port = self.daemon.port
        for number in range(1000):
            with socket.create_connection(("127.0.0.1", port), 10) as sock:
                if number % 3 == 1:
                    sock.sendall(b"GET /v1/hea")
                if number % 3 == 2:
                    sock.sendall(GET + b"\r\n")
        self.work(0.5)
        self.eventually(lambda: len(os.listdir(f"/proc/{self.daemon.pid}/fd")) <= descriptors + 20, 15)

    def test_more_connections_than_there_may_be(self):
        self.with_settings(SKERRY_SANDBOX__DAEMON__MAX_CONNECTIONS="50")
        held = []
        try:
            for _ in range(60):
                held.append(self.plain.socket(5))
            answer = self.plain.raw(GET + b"\r\n", timeout=5)
            self.assertTrue(answer == b"" or b" 503 " in answer.split(b"\r\n")[0], answer[:100])
        finally:
            for sock in held:
                sock.close()
        self.eventually(lambda: b" 200 " in self.plain.raw(GET + b"Connection: close\r\n\r\n", 5).split(b"\r\n")[0])

    def test_a_body_that_never_comes(self):
        held = [self.plain.send_head("POST", "/v1/execute", headers={"Content-Length": "1000", "Content-Type":
                                                                     "application/json"}) for _ in range(50)]
        self.work(0.5)
        for sock in held:
            sock.close()

    def test_stdin_that_nobody_reads(self):
        session = self.make()
        command = self.start_command(session, "sleep 100", stdin=True)
        with self.plain.websocket(f"/v1/sessions/{session}/commands/{command}/attach") as attached:
            attached.sock.settimeout(3)
            block = b"\x82\xff" + (65536).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 65536
            with contextlib.suppress(OSError):
                for _ in range(500):
                    attached.sock.sendall(block)
            self.work(0.3)
        self.assertLess(self.daemon.memory("VmHWM") - self.memory, GROWTH)


class InsideTest(HostileTest):
    """J20: code in a sandbox does not reach the daemon that runs it."""

    def test_j20(self):
        code = """
import socket, sys
for family, address in ((socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_INET6, ("::1", PORT)),
                        (socket.AF_UNIX, PATH)):
    try:
        s = socket.socket(family); s.settimeout(3); s.connect(address)
        s.sendall(b"GET /v1/health HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
        print("REACHED", address, s.recv(100))
    except OSError as error:
        print("blocked", error)
""".replace("PORT", str(self.daemon.port)).replace("PATH", repr(self.daemon.socket_path))
        control = subprocess.run(["python3", "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(control.stdout.count("REACHED"), 2, control.stdout)
        session = self.make()
        results = [self.execute(code, language="python"), self.execute(code, session, language="python"),
                   self.run_command(session, "python3", "-c", code)]
        self.api.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c")
        results.append(self.api.expect(200, "POST", f"/v1/sessions/{session}/contexts/c/execute", code=code,
                                       approve=True))
        for result in results:
            self.assertEqual((result["stdout"].count("blocked"), result["stdout"].count("REACHED")), (3, 0), result)

    def test_the_daemons_own_things_are_not_inside(self):
        secret = self.daemon.issue()["token"]
        result = self.execute("env; ls -la ~/.skerry ~root/.skerry 2>&1; cat /proc/1/environ | tr '\\0' '\\n'",
                              self.make(), approve=True)
        self.assertNotIn(secret, result["stdout"])
        self.assertNotIn(self.home, result["stdout"])
        self.assertNotIn("record.db", result["stdout"])

    def test_j31_another_sessions_command(self):
        first, second = self.make(), self.make()
        command = self.start_command(first, "exec cat", stdin=True)
        execution = self.execute("echo 1", first)["execution_id"]
        for path in (f"/v1/sessions/{second}/commands/{command}/attach",
                     f"/v1/sessions/{first}/commands/{execution}/attach",
                     f"/v1/sessions/{second}/commands/none/attach", f"/v1/sessions/none/commands/{command}/attach"):
            with self.plain.websocket(path) as attached:
                self.assertEqual(attached.status, 404, path)
        stranger = self.daemon.tcp(self.daemon.issue(scopes=["run"])["token"])
        with stranger.websocket(f"/v1/sessions/{first}/commands/{command}/attach") as attached:
            self.assertEqual(attached.status, 404)


if __name__ == "__main__":
    harness.main()
