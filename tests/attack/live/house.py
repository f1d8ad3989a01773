"""House: a daemon with two tenants in it, for rows to attack. `mallory` attacks, `alice` must not notice."""

import collections
import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from live.client import Client

Tenant = collections.namedtuple("Tenant", "name run read approve both")  # clients: one for each scope, one that may run and approve


def allow_many_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class House:
    def __init__(self, binary, settings=(), home=None):
        allow_many_descriptors()
        self.binary, self.settings = os.path.abspath(binary), dict(settings)
        self.home = home or tempfile.mkdtemp(prefix="skerry-live-", dir="/tmp")
        self.log = tempfile.TemporaryFile()
        self.start()
        self.alice, self.mallory = self.tenant("alice"), self.tenant("mallory")

    def environment(self):
        return {"HOME": self.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm",
                "SKERRY_SANDBOX__WORKSPACE__BASE_DIR": os.path.join(self.home, "sessions")} | self.settings

    def start(self):
        self.log.truncate(0)
        self.process = subprocess.Popen([self.binary, "serve", "--listen", "127.0.0.1:0"], env=self.environment(),
                                        cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=self.log)
        self.owner = Client(path=os.path.join(self.home, ".skerry", "run", "skerry.sock"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self.owner.ask("GET", "/v1/health", patience=10).status == 200:
                    return
            time.sleep(0.05)
        raise ConnectionError("the daemon does not start: " + self.words())

    def words(self):
        """What the daemon has said."""
        size = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), size, 0).decode(errors="replace")

    @property
    def port(self):
        return int(re.findall(r"listens on http://\S+:(\d+)\s", self.words())[-1])

    def client(self, token=None):
        return Client(port=self.port, token=token)

    def tenant(self, name):
        def issued(*scopes):
            return self.client(self.owner.expect(201, "POST", "/v1/tokens", name="-".join((name, *scopes)),
                                                 tenant=name, scopes=scopes)["token"])

        return Tenant(name, issued("run"), issued("read"), issued("approve"), issued("run", "approve"))

    def audit(self):
        """The lines of the audit."""
        return subprocess.run([self.binary, "audit", "export"], env=self.environment(), capture_output=True, text=True,
                              timeout=60, check=False).stdout.splitlines()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))

    def peak(self):
        """The most memory since the last time this was asked."""
        place = f"/proc/{self.process.pid}"
        with open(place + "/status", encoding="utf-8") as file:
            most = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
        with open(place + "/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
        return most

    def end(self, patience=120):
        """Seconds that SIGTERM took; nothing when it took longer than that."""
        begun = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        return time.monotonic() - begun

    def close(self):
        self.end()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)


def waits(client, count=20, path="/v1/health"):
    """How long a caller waits for each of some answers, in seconds; longest last. What is not answered is an error."""
    found = []
    for _ in range(count):
        begun = time.monotonic()
        client.expect(200, "GET", path)
        found.append(time.monotonic() - begun)
    return sorted(found)
