"""The daemon under test: starts `skerry serve`, asks it over its socket and over TCP, and sees to it that it ends."""
import base64
import collections
import contextlib
import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.parse

import jsonschema
import yaml

import harness
import observe

HERE = os.path.dirname(os.path.abspath(__file__))
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
# What is no request of the contract may be answered with these everywhere.
STRAY = {404, 405, 414, 417, 431, 505}
SOAK = bool(os.environ.get("SKERRY_SOAK"))

Event = collections.namedtuple("Event", "name data id at")


# --- the contract ---


class Contract:
    """api/openapi.yaml, as something that answers are held against."""

    def __init__(self):
        with open(os.path.join(HERE, "..", "..", "api", "openapi.yaml"), encoding="utf-8") as file:
            self.document = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.schemas = self.document["components"]["schemas"]
        self.formats = jsonschema.FormatChecker(formats=())
        self.formats.checks("date-time")(self.is_time)
        self.validators = {}
        self.operations = [(method.upper(), path, operation) for path, operations in self.document["paths"].items()
                           for method, operation in operations.items() if method in METHODS]
        self.patterns = [(method, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + "$"), operation)
                         for method, path, operation in self.operations]

    @staticmethod
    def is_time(text):
        return not isinstance(text, str) or bool(
            re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text))

    def resolve(self, part):
        while isinstance(part, dict) and "$ref" in part:
            found = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            part = found
        return part

    def find(self, method, path):
        return next((operation for verb, pattern, operation in self.patterns
                     if verb == method and pattern.fullmatch(path)), None)

    def problems(self, schema, value):
        """Of a value that should be as the schema says, as text; empty when it is."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {"allOf": [schema], "components": self.document["components"]}
            self.validators[key] = jsonschema.Draft202012Validator(whole, format_checker=self.formats)
        return [f"{'/'.join(map(str, error.absolute_path)) or '.'}: {error.message[:300]}"
                for error in self.validators[key].iter_errors(value)]

    def named(self, name):
        return {"$ref": f"#/components/schemas/{name}"}

    def check_answer(self, method, path, answer):
        """Raises unless the status is declared, and what came with it is as the schema says."""
        what = f"{method} {path} → {answer.status} {answer.body[:300]!r}"
        if "X-Request-Id" not in answer.headers:
            raise AssertionError(f"{what}: no X-Request-Id")
        if answer.status >= 400 and method != "HEAD":
            self.check_error(what, answer)
        operation = self.find("GET" if method == "HEAD" else method, path)
        if operation is None:
            if answer.status not in STRAY | {400, 401, 403, 429}:
                raise AssertionError(f"{what}: no such operation")
            return
        declared = operation["responses"].get(str(answer.status))
        if declared is None:
            if answer.status in STRAY and answer.status != 404:
                return
            raise AssertionError(f"{what}: the contract has only {sorted(operation['responses'])}")
        content = self.resolve(declared).get("content") or {}
        media = (answer.headers.get("Content-Type") or "").split(";")[0]
        if not content:
            if answer.body and answer.status < 400:
                raise AssertionError(f"{what}: a body that the contract does not have")
            return
        if media not in content and "*/*" not in content:
            raise AssertionError(f"{what}: {media!r} instead of {sorted(content)}")
        if media != "application/json" or method == "HEAD":
            return
        if problems := self.problems(content[media]["schema"], answer.json):
            raise AssertionError(f"{what}: {problems}")

    def check_error(self, what, answer):
        try:
            body = answer.json
        except ValueError as error:
            raise AssertionError(f"{what}: no JSON") from error
        if body.get("status") == "draining":  # /v1/ready
            return
        problems = self.problems(self.named("Error"), body)
        if set(body) - {"code", "message", "detail", "request_id"}:
            problems.append("other fields than an error has")
        if body.get("request_id") != answer.headers["X-Request-Id"]:
            problems.append("another request_id than the header")
        if problems:
            raise AssertionError(f"{what}: {problems}")


CONTRACT = Contract()
EVENT_SCHEMAS = {"started": ["StartedEvent"], "approval": ["ApprovalEvent"], "stdout": ["OutputEvent"],
                 "stderr": ["OutputEvent"], "display": ["CellOutput"], "result": ["ExecutionSummary", "CellSummary"],
                 "exit": ["ExitEvent"]}


# --- the client ---


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = unix_socket(self.path, self.timeout)


def unix_socket(path, timeout=30):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(timeout)
    try:
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


def bytes_of(answer, name):
    """What a program wrote, exactly."""
    exact = answer.get(name + "_base64")
    return base64.b64decode(exact) if exact is not None else answer[name].encode()


class Client:
    """One caller. Every answer is held against the contract, unless `check` says otherwise."""

    def __init__(self, path=None, port=None, token=None, check=True):
        self.path, self.port, self.token, self.check = path, port, token, check

    def socket(self, timeout=30):
        if self.path:
            return unix_socket(self.path, timeout)
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def open(self, timeout=60):
        if self.path:
            return UnixConnection(self.path, timeout)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def headers(self, extra=None):
        own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return own | (extra or {})

    def request(self, method, path, /, body=None, headers=None, patience=60, query=None, **fields):
        """`fields` are those of a JSON object; `body` is bytes, or pieces of them, which are sent as chunks."""
        headers = self.headers(headers)
        if fields:
            body = json.dumps(fields).encode()
            headers.setdefault("Content-Type", "application/json")
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self.open(patience)
        try:
            chunked = body is not None and not isinstance(body, (bytes, str)) and "Content-Length" not in headers
            connection.request(method, path, body=body, headers=headers, encode_chunked=chunked)
            response = connection.getresponse()
            answer = Answer(response, response.read())
        finally:
            connection.close()
        if self.check:
            CONTRACT.check_answer(method, path.partition("?")[0], answer)
        return answer

    def get(self, path, /, **more):
        return self.request("GET", path, **more)

    def post(self, path, /, **more):
        return self.request("POST", path, **more)

    def put(self, path, /, **more):
        return self.request("PUT", path, **more)

    def delete(self, path, /, **more):
        return self.request("DELETE", path, **more)

    def expect(self, status, method, path, /, **more):
        """The JSON of an answer that has this status."""
        answer = self.request(method, path, **more)
        if answer.status != status:
            raise AssertionError(f"{method} {path}: {answer.status} instead of {status}: {answer.body[:600]!r}")
        return answer.json if answer.body and answer.body[:1] in b"{[" else answer.body

    def raw(self, request, timeout=10, quiet=None):
        """What comes back for these bytes until the connection is closed, or nothing more comes for so long."""
        with self.socket(timeout) as sock:
            received = b""
            with contextlib.suppress(OSError):
                sock.sendall(request)
            with contextlib.suppress(OSError):
                while piece := sock.recv(65536):
                    received += piece
                    sock.settimeout(quiet or timeout)
            return received

    def send_head(self, method, path, body=b"", headers=None, timeout=60):
        """A socket on which the request was sent and nothing was read."""
        lines = {"Host": "localhost"} | self.headers(headers)
        if body:
            lines |= {"Content-Length": str(len(body)), "Content-Type": "application/json"}
        text = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        sock = self.socket(timeout)
        sock.sendall(text.encode() + b"\r\n" + body)
        return sock

    @contextlib.contextmanager
    def events(self, method, path, /, patience=60, headers=None, **fields):
        """A generator of server-sent events."""
        headers = self.headers({"Accept": "text/event-stream"} | (headers or {}))
        body = json.dumps(fields).encode() if fields else None
        if body:
            headers["Content-Type"] = "application/json"
        connection = self.open(patience)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                raise AssertionError(f"{method} {path}: {response.status} {response.read()!r}")
            if not (response.headers["Content-Type"] or "").startswith("text/event-stream"):
                raise AssertionError(f"{method} {path}: {response.headers['Content-Type']}")
            yield self.read_events(response)
        finally:
            connection.close()

    @staticmethod
    def read_events(response):
        name = number = data = None
        while line := response.readline():
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if not line and name is not None:
                value = json.loads(data)
                if not any(not CONTRACT.problems(CONTRACT.named(schema), value) for schema in EVENT_SCHEMAS[name]):
                    raise AssertionError(f"event {name}: {value} is none of {EVENT_SCHEMAS[name]}: "
                                         f"{CONTRACT.problems(CONTRACT.named(EVENT_SCHEMAS[name][0]), value)}")
                yield Event(name, value, number, time.monotonic())
                name = number = data = None
            key, _, value = line.partition(": ")
            name = value if key == "event" else name
            number = int(value) if key == "id" else number
            data = value if key == "data" else data

    def websocket(self, path, headers=None):
        return WebSocket(self, path, headers)


class WebSocket:
    """A client of RFC 6455, by hand. `status` is what the server answered; only 101 goes on."""

    def __init__(self, client, path, headers=None):
        self.sock = client.socket()
        lines = {"Host": "localhost", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode()} | client.headers(headers)
        text = f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.sock.sendall(text.encode() + b"\r\n")
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            piece = self.sock.recv(4096)
            if not piece:
                break
            self.buffer += piece
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.head = head.decode(errors="replace")
        self.status = int(head.split()[1]) if head else 0

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, opcode, payload):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += struct.pack(">BH", 0x80 | 126, size)
        else:
            head += struct.pack(">BQ", 0x80 | 127, size)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.sock.sendall(head + mask + masked)

    def say(self, **control):
        self.send(1, json.dumps(control).encode())

    def type(self, text):
        self.send(2, text)

    def take(self, count):
        while len(self.buffer) < count:
            piece = self.sock.recv(65536)
            if not piece:
                raise EOFError("the connection ended in a frame")
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def frame(self):
        """(opcode, payload); answers pings by itself."""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            payload = self.take(size)
            if first & 0x0F == 9:
                self.send(10, payload)
                continue
            return first & 0x0F, payload

    def until(self, wanted, output=None):
        """Reads until the output so far contains these bytes. Gives back all of it."""
        output = bytearray() if output is None else output
        while wanted not in output:
            opcode, payload = self.frame()
            if opcode != 2:
                raise AssertionError(f"{opcode} {payload!r} instead of {wanted!r}; so far {bytes(output)!r}")
            output += payload[1:]
        return bytes(output)

    def rest(self):
        """(output, the exit message, the code of the close) to the end."""
        output, notice = b"", None
        while True:
            opcode, payload = self.frame()
            if opcode == 8:
                return output, notice, struct.unpack(">H", payload[:2])[0]
            if opcode == 1:
                notice = json.loads(payload)
                problems = CONTRACT.problems(CONTRACT.named("AttachNotice"), notice)
                if problems:
                    raise AssertionError(f"{notice}: {problems}")
            else:
                output += payload[1:]


# --- the daemon ---


class Daemon:
    """A `skerry serve` of our own. `stop` or `kill` it."""

    def __init__(self, command, environment, home, socket_path=None, pass_fds=(), ready=True):
        self.socket_path = socket_path or os.path.join(environment["HOME"], ".skerry", "run", "skerry.sock")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=environment, cwd=home, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.errors, pass_fds=pass_fds)
        self.pid = self.process.pid
        self.api = Client(self.socket_path)
        try:
            if ready:
                self.wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def __del__(self):
        self.errors.close()

    def stderr(self):
        size = os.fstat(self.errors.fileno()).st_size
        return os.pread(self.errors.fileno(), size, 0).decode(errors="replace")

    def wait_until_ready(self, seconds=30):
        deadline = time.monotonic() + seconds
        probe = Client(self.socket_path, check=False)
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if probe.get("/v1/health", patience=5).status == 200:
                    return
            time.sleep(0.01)
        raise AssertionError(f"the daemon is not ready (exit code {self.process.poll()}): {self.stderr()}")

    @property
    def port(self):
        found = re.search(r"listens on https?://\S+:(\d+)\s", self.stderr())
        if not found:
            raise AssertionError(f"no TCP: {self.stderr()}")
        return int(found[1])

    def tcp(self, token=None, check=True):
        return Client(port=self.port, token=token, check=check)

    def issue(self, name="t", **fields):
        """A new token: its record, with the secret."""
        return self.api.expect(201, "POST", "/v1/tokens", name=name, **fields)

    def memory(self, field="VmRSS"):
        """In bytes."""
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            line = next(line for line in file if line.startswith(field + ":"))
        return int(line.split()[1]) * 1024

    def reset_peak(self):
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")

    def is_alive(self):
        return self.process.poll() is None

    def stop(self, seconds=40):
        """Gives back the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the daemon did not end: {self.stderr()}") from None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


class DaemonTest(harness.SkerryTest):
    """A daemon and a home for each class; what the daemon leaves is looked for when it has ended."""

    arguments = ("--listen", "127.0.0.1:0")
    settings = {}  # of its environment
    enter = ()  # what is put before its command
    autostart = True

    @classmethod
    def setUpClass(cls):
        observe.leave_the_mounts_of_others()
        super().setUpClass()
        cls.pids, cls.daemon, cls.traces = set(), None, harness.traces()
        cls.addClassCleanup(cls.finish)  # also when something below fails
        library = os.path.join(os.path.dirname(harness.BINARY), "libskerry-zygote.so")
        if harness.AS_USER and os.path.exists(library):
            shutil.copy(library, os.path.dirname(cls.binary))
        if cls.autostart:
            cls.start()

    @classmethod
    def tearDownClass(cls):
        pass  # finish

    @classmethod
    def finish(cls):
        left = set()
        try:
            cls.stop()
            left = cls.left_behind()
        finally:
            super().tearDownClass()
        if left:
            raise AssertionError(f"left behind: {left}")

    def setUp(self):
        self.api = self.daemon.api if self.daemon else None

    def tearDown(self):
        if self.daemon and not self.daemon.is_alive():
            code, text = self.daemon.process.returncode, self.daemon.stderr()
            self.renew()
            self.fail(f"the daemon ended with {code}: {text}")

    # --- its life ---

    @classmethod
    def own_environment(cls, extra=None):
        own = {"HOME": cls.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
               "SKERRY_SANDBOX__REJECT_AS_CONFIRMATION": "true",
               "SKERRY_SANDBOX__WORKSPACE__BASE_DIR": os.path.join(cls.home, "sessions")}
        return own | cls.settings | (extra or {})

    @classmethod
    def program(cls, *arguments):
        prefix = []
        if harness.AS_USER:
            prefix = ["setpriv", f"--reuid={harness.PLAIN_ID}", f"--regid={harness.PLAIN_ID}", "--clear-groups"]
        return [*cls.enter, *prefix, cls.binary, *arguments]

    @classmethod
    def spawn(cls, *arguments, environment=None, **options):
        """Another daemon; whoever calls this ends it."""
        daemon = Daemon(cls.program("serve", *arguments), cls.own_environment(environment), cls.home, **options)
        cls.note_pids(daemon)
        return daemon

    @classmethod
    def start(cls, environment=None):
        cls.daemon = cls.spawn(*cls.arguments, environment=environment)

    @classmethod
    def stop(cls):
        if cls.daemon:
            cls.note_pids(cls.daemon)
            cls.daemon.stop()

    def renew(self, environment=None):
        """Another daemon on the same home, for the rest of the test."""
        type(self).stop()
        type(self).start(environment)
        self.api = self.daemon.api

    def with_settings(self, **settings):
        """A daemon with these, until the test ends."""
        self.renew(settings)
        self.addCleanup(self.renew)

    @classmethod
    def note_pids(cls, daemon):
        cls.pids |= {str(daemon.pid)} | {str(pid) for pid, name in observe.descendants().items()
                                         if name.startswith("skerry")}

    @classmethod
    def left_behind(cls, seconds=5):
        """Processes, cgroups, mounts, directories of daemons that have ended."""
        deadline = time.monotonic() + seconds
        while True:
            observe.reap_orphans()
            left = observe.traces_of(cls.pids, cls.traces)
            left |= {f"process {pid} {name}" for pid, name in observe.descendants().items()}
            workspaces = os.path.join(cls.home, ".skerry", "workspaces")
            left |= {f"workspace {name}" for name in (os.listdir(workspaces) if os.path.isdir(workspaces) else [])}
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    # --- what tests do all the time ---

    def make(self, **fields):
        """A session that ends with the test."""
        session = self.api.expect(201, "POST", "/v1/sessions", **(fields or {"metadata": {}}))
        self.addCleanup(self.remove, session["id"])
        return session["id"]

    def remove(self, session):
        self.assertIn(self.daemon.api.delete(f"/v1/sessions/{session}").status, (204, 404))

    def execute(self, code, session=None, client=None, headers=None, **fields):
        path = f"/v1/sessions/{session}/execute" if session else "/v1/execute"
        fields = {"language": "shell", "approve": True} | fields
        return (client or self.api).expect(200, "POST", path, code=code, headers=headers, **fields)

    def run_command(self, session, *argv, client=None, headers=None, **fields):
        """What starting it answered: a result, or an execution when it runs in the background."""
        fields = {"approve": True} | ({"argv": list(argv)} if argv else {}) | fields
        status = 201 if fields.get("background") else 200
        return (client or self.api).expect(status, "POST", f"/v1/sessions/{session}/commands", headers=headers,
                                           **fields)

    def start_command(self, session, text, **fields):
        """The id of a command of the shell in the background."""
        return self.run_command(session, command=text, background=True, **fields)["id"]

    def put_file(self, session, path, content, client=None, **more):
        return (client or self.api).expect(200, "PUT", f"/v1/sessions/{session}/files/content", body=content,
                                           query={"path": path} | more)

    def get_file(self, session, path, client=None):
        answer = (client or self.api).get(f"/v1/sessions/{session}/files/content", query={"path": path})
        self.assertEqual(answer.status, 200, answer.body[:300])
        return answer.body

    def ended(self, execution, seconds=30):
        """The execution when it is over."""
        found = self.api.expect(200, "GET", f"/v1/executions/{execution}", query={"wait_seconds": seconds},
                                patience=seconds + 30)
        self.assertIn(found["state"], ("done", "lost"), found)
        return found

    def logs(self, session, command, **query):
        return self.api.expect(200, "GET", f"/v1/sessions/{session}/commands/{command}/logs", query=query)

    def eventually(self, question, seconds=10, what=None):
        """What the question gives as soon as that is true."""
        deadline = time.monotonic() + seconds
        while not (answer := question()):
            if time.monotonic() > deadline:
                self.fail(f"not within {seconds} seconds: {what or question}")
            time.sleep(0.05)
        return answer

    def in_threads(self, actions):
        """What each gave back, in their order; the first failure is raised."""
        results, errors = [None] * len(actions), []

        def act(index, action):
            try:
                results[index] = action()
            except BaseException as error:  # noqa: it is raised in the thread of the test
                errors.append(error)

        threads = [threading.Thread(target=act, args=each) for each in enumerate(actions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results


def text_of(pieces, stream=None):
    """Of a page of output."""
    return b"".join(base64.b64decode(piece["base64"]) if "base64" in piece else piece["text"].encode()
                    for piece in pieces if stream in (None, piece["stream"]))


# --- something of everything ---


def tar_of(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class Scene:
    """A tenant who has one of everything that an operation can name, and a valid request for each operation."""

    RISKY = "import shutil\nshutil.rmtree('/workspace/none')"

    def __init__(self, daemon, name="scene"):
        self.daemon, self.name = daemon, name
        self.token = daemon.issue(name=name, tenant=name, scopes=["run", "approve"])
        self.client = daemon.tcp(self.token["token"])
        self.spare = daemon.issue(name="spare", tenant=name, scopes=["read"])
        expect = self.client.expect
        self.session = expect(201, "POST", "/v1/sessions", ttl_seconds=3600)["id"]
        base = f"/v1/sessions/{self.session}"
        expect(200, "PUT", f"{base}/files/content?path=f", body=b"precious\n")
        self.execution = expect(200, "POST", f"{base}/execute", code="echo hello > g", language="shell",
                                approve=True)["execution_id"]
        self.command = expect(201, "POST", f"{base}/commands", argv=["cat"], background=True, approve=True,
                              terminal={"rows": 10, "columns": 20})["id"]
        self.context = expect(201, "POST", f"{base}/contexts", name="context-of-scene")["name"]
        self.question = None
        self.asking = threading.Thread(target=self.ask)
        self.asking.start()
        deadline = time.monotonic() + 20
        while self.question is None and time.monotonic() < deadline:
            items = expect(200, "GET", "/v1/approvals")["items"]
            self.question = items[0] if items else None
            time.sleep(0.05)
        if self.question is None:
            raise AssertionError("nobody is asked about something risky")
        self.names = {"session": self.session, "execution": self.execution, "command": self.command,
                      "context": self.context, "approval": self.question["id"], "token": self.spare["id"]}

    def ask(self):
        # It waits until the scene is over.
        with contextlib.suppress(OSError, http.client.HTTPException):
            Client(port=self.daemon.port, token=self.token["token"], check=False).post(
                f"/v1/sessions/{self.session}/execute", code=self.RISKY, patience=300)

    def end(self):
        self.daemon.api.delete(f"/v1/sessions/{self.session}")
        self.asking.join()

    def body(self, operation):
        """Bytes and their type, for what would be carried out at once."""
        fields = {"assessRisk": {"code": "print(1)"}, "execute": {"code": "print(1)", "session_id": self.session},
                  "createSession": {"metadata": {"a": "b"}}, "extendSession": {"ttl_seconds": 7200},
                  "executeInSession": {"code": "print(1)"}, "undoSession": {"force": True},
                  "startCommand": {"command": "true"}, "signalCommand": {"signal": "KILL"},
                  "resizeTerminal": {"rows": 3, "columns": 4}, "createContext": {"name": "d"}, "forkContext": {"name": "e"},
                  "executeCell": {"code": "1"},
                  "editFile": {"path": "f", "edits": [{"replace": "precious", "with": "changed"}]},
                  "makeDirectory": {"path": "made"}, "moveFile": {"from": "f", "to": "moved"},
                  "copyFile": {"from": "f", "to": "copied"}, "searchFiles": {"pattern": "x"},
                  "decideApproval": {"decision": "approve", "digest": self.question["digest"]},
                  "createToken": {"name": "stolen", "scopes": ["admin"]}}
        if operation in fields:
            return json.dumps(fields[operation]).encode(), "application/json"
        raw = {"writeStdin": b"typed\n", "writeFile": b"changed", "appendToFile": b"changed",
               "importArchive": tar_of("imported", b"changed")}
        return raw.get(operation), "application/octet-stream"

    def target(self, path, operation, names=None):
        """The address, with names that exist and the query that is needed."""
        for name, value in (names or self.names).items():
            path = path.replace("{" + name + "}", value)
        needed = [CONTRACT.resolve(parameter) for parameter in operation.get("parameters", [])]
        query = {parameter["name"]: "f" for parameter in needed
                 if parameter["in"] == "query" and parameter.get("required")}
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def request(self, client, method, path, operation, names=None, headers=None):
        body, kind = self.body(operation["operationId"])
        headers = {"Content-Type": kind} | (headers or {}) if body is not None else headers
        if operation["operationId"] == "attachCommand":
            headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                       "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} | (headers or {})
        return client.request(method, self.target(path, operation, names), body=body, headers=headers)

    def state(self):
        """All that an unwanted request could have changed, as its owner sees it."""
        api = self.daemon.api

        def rows(path, *unsteady):
            items = api.expect(200, "GET", path + "?limit=1000" * (not path.endswith("approvals")))["items"]
            return sorted(({name: value for name, value in item.items() if name not in unsteady} for item in items),
                          key=lambda item: item["id"])

        archive = api.get(f"/v1/sessions/{self.session}/files/export").body
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            files = {each.name: packed.extractfile(each).read() if each.isfile() else None for each in packed}
        contexts = api.expect(200, "GET", f"/v1/sessions/{self.session}/contexts")["items"]
        return {"sessions": rows("/v1/sessions", "used_at"), "executions": rows("/v1/executions", "approval"),
                "tokens": rows("/v1/tokens"), "approvals": rows("/v1/approvals", "remaining_seconds"), "files": files,
                "contexts": [{name: item[name] for name in ("name", "state", "cells")} for item in contexts]}
