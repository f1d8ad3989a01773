"""Asks a daemon, over its unix socket or TCP. Says what it is told to, also what no honest client would."""

import base64
import contextlib
import http.client
import json
import os
import socket
import struct
import urllib.parse


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """One caller: at a path the owner, at a port whoever has the token. `address` is where it comes from."""

    def __init__(self, path=None, port=None, token=None, address="127.0.0.1"):
        self.path, self.port, self.token, self.address = path, port, token, address

    def at(self, address):
        return Client(self.path, self.port, self.token, address)

    def open(self, timeout=60):
        if self.path:
            return UnixConnection(self.path, timeout)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout, source_address=(self.address, 0))

    def socket(self, timeout=30):
        connection = self.open(timeout)
        connection.connect()
        return connection.sock

    def headers(self, extra=None):
        return ({"Authorization": f"Bearer {self.token}"} if self.token else {}) | (extra or {})

    def ask(self, method, path, /, body=None, headers=None, patience=60, query=None, **fields):
        """The answer; `fields` are those of a JSON object. One that never comes is an OSError."""
        headers = self.headers(headers)
        if fields:
            body, headers = json.dumps(fields).encode(), {"Content-Type": "application/json"} | headers
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self.open(patience)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except http.client.HTTPException as error:
            raise ConnectionError(f"{method} {path}: {type(error).__name__} {error}") from error
        finally:
            connection.close()

    def expect(self, status, method, path, /, **more):
        answer = self.ask(method, path, **more)
        if answer.status != status:
            raise ConnectionError(f"{method} {path}: {answer.status} instead of {status}: {answer.body[:300]!r}")
        return answer.json if answer.body[:1] in (b"{", b"[") else answer.body

    def send_head(self, method, path, headers=None, body=b"", timeout=30):
        """A socket on which this was sent, and nothing read."""
        sock = self.socket(timeout)
        self.send_on(sock, method, path, headers, body)
        return sock

    def send_on(self, sock, method, path, headers=None, body=b""):
        lines = {"Host": "localhost"} | self.headers(headers)
        text = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        sock.sendall(text.encode() + b"\r\n" + body)

    def websocket(self, path):
        return WebSocket(self, path)


def frame(opcode, payload):
    """The mask is zero, which is one too."""
    size = len(payload)
    head = bytes([0x80 | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += struct.pack(">BH", 0x80 | 126, size)
    else:
        head += struct.pack(">BQ", 0x80 | 127, size)
    return head + bytes(4) + payload


class WebSocket:
    """`status` is what was answered; only 101 goes on."""

    def __init__(self, client, path):
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock = client.send_head("GET", path, {"Upgrade": "websocket", "Connection": "Upgrade",
                                                   "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key})
        self.buffer = b""
        with contextlib.suppress(OSError):
            while b"\r\n\r\n" not in self.buffer and (piece := self.sock.recv(4096)):
                self.buffer += piece
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if len(head.split()) > 1 else 0

    def close(self):
        self.sock.close()

    def send(self, opcode, payload):
        self.sock.sendall(frame(opcode, payload))

    def take(self, count):
        while len(self.buffer) < count:
            piece = self.sock.recv(65536)
            if not piece:
                raise ConnectionError("the connection ended")
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive(self):
        """(opcode, payload)"""
        first, second = self.take(2)
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return first & 0x0F, self.take(size)

    def close_code(self):
        """Why the other end closes; 0 when it just went away."""
        with contextlib.suppress(OSError):
            while True:
                opcode, payload = self.receive()
                if opcode == 8:
                    return struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 0
        return 0
