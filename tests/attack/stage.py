"""What the host plants before an attack and looks at after it. The tokens are known to the host only."""

import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT, IPC_RMID = 0o1000, 0
HOME_SECRETS = (
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".docker/config.json",
    ".gnupg/private.key",
    ".config/gh/hosts.yml",
    ".kube/config",
    ".git-credentials",
    ".bash_history",
)
TOKENS = ("secret", "home", "environment", "fd", "unix", "abstract", "tcp", "sysv", "peer", "agent", "earlier")


class Listener:
    """A server of the host that gives its token to whoever comes, and remembers what they said."""

    def __init__(self, endpoint, token):
        self.endpoint, self.token, self.said = endpoint, token, []
        self.is_stream = endpoint.type == socket.SOCK_STREAM
        if self.is_stream:
            endpoint.listen(64)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                if not self.is_stream:
                    self.said.append(self.endpoint.recv(4096))
                    continue
                connection = self.endpoint.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection:
            connection.settimeout(2)
            self.said.append(b"connected")
            try:
                connection.sendall(self.token.encode())
                self.said.append(connection.recv(4096))
            except OSError:
                pass

    def heard(self, text):
        return any(text.encode() in one for one in self.said)

    def close(self):
        try:
            self.endpoint.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.endpoint.close()


def bound(family, kind, address):
    endpoint = socket.socket(family, kind)
    if family != socket.AF_UNIX:
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    endpoint.bind(address)
    return endpoint


class Stage:
    """Everything that a suite plants once. `user` is who calls the sandbox."""

    def __init__(self, user):
        self.user = user
        self.base = tempfile.mkdtemp(prefix="skerry-attack-", dir="/tmp")
        os.chmod(self.base, 0o755)
        self.mark = os.path.basename(self.base)  # random: found inside, it is a path of the host
        self.tokens = {name: secrets.token_hex(12) for name in TOKENS}
        self.outside = self.directory("outside")
        self.home = self.directory("home")
        self.canaries = self.directory("canaries")
        os.chmod(self.canaries, 0o777)
        self.listeners, self.victims, self.segment = {}, [], -1
        self.plant_files()
        self.plant_listeners()
        self.plant_segment()
        for name in {0, user} if os.geteuid() == 0 else {user}:
            self.victims.append(
                subprocess.Popen(["sleep", "3600"], user=name if os.geteuid() == 0 else None, start_new_session=True)
            )
        self.inherited = os.open(self.outside, os.O_RDONLY | os.O_DIRECTORY)
        self.inherited_file = os.open(os.path.join(self.outside, "for-the-caller"), os.O_RDONLY)

    def directory(self, name):
        """A directory of the caller."""
        path = os.path.join(self.base, name)
        os.makedirs(path)
        if os.geteuid() == 0:
            os.chown(path, self.user, self.user)
        return path

    def plant(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def plant_files(self):
        self.secret = os.path.join(self.outside, "secret.txt")
        self.plant(self.secret, self.tokens["secret"])
        self.plant(os.path.join(self.outside, "for-the-caller"), self.tokens["fd"])
        for name in HOME_SECRETS:
            self.plant(os.path.join(self.home, name), self.tokens["home"])
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{self.user}:{self.user}", self.home], check=True)

    def plant_listeners(self):
        self.unix_path = os.path.join(self.outside, "host.sock")
        self.agent_path = os.path.join(self.outside, "agent.sock")
        self.abstract = self.mark + "-abstract"
        listen = self.listeners
        for name, path, token in (
            ("unix", self.unix_path, "unix"),
            ("agent", self.agent_path, "agent"),
            ("abstract", "\0" + self.abstract, "abstract"),
        ):
            listen[name] = Listener(bound(socket.AF_UNIX, socket.SOCK_STREAM, path), self.tokens[token])
            if path[0] == "/":
                os.chmod(path, 0o777)
        self.datagram_abstract = self.mark + "-datagram"
        listen["datagram"] = Listener(bound(socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + self.datagram_abstract), "")
        listen["tcp"] = Listener(bound(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0)), self.tokens["tcp"])
        listen["udp"] = Listener(bound(socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 0)), "")
        try:
            listen["tcp6"] = Listener(bound(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)), self.tokens["tcp"])
        except OSError:
            pass
        for address in ("127.0.0.1", "127.0.0.53"):
            try:
                listen["dns " + address] = Listener(bound(socket.AF_INET, socket.SOCK_DGRAM, (address, 53)), "")
            except OSError:
                pass

    def plant_segment(self):
        libc.shmat.restype = ctypes.c_void_p
        libc.shmdt.argtypes = [ctypes.c_void_p]
        self.segment_key = int.from_bytes(secrets.token_bytes(3), "big") | 0x41000000
        self.segment = libc.shmget(self.segment_key, 4096, IPC_CREAT | 0o666)
        address = libc.shmat(self.segment, None, 0)
        ctypes.memmove(address, self.tokens["sysv"].encode(), len(self.tokens["sysv"]))
        libc.shmdt(address)

    def port(self, name):
        return self.listeners[name].endpoint.getsockname()[1] if name in self.listeners else 0

    def environment(self):
        """The caller's environment: secrets that no sandbox should see."""
        return {
            "HOME": self.home,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "AWS_SECRET_ACCESS_KEY": self.tokens["environment"],
            "GITHUB_TOKEN": self.tokens["environment"],
            "SSH_AUTH_SOCK": self.agent_path,
            "GPG_AGENT_INFO": self.agent_path + ":0:1",
        }

    def parameters(self):
        """What payloads are told: places, never tokens."""
        root = os.stat("/").st_dev
        return {
            "secret": self.secret,
            "home": self.home,
            "outside": self.outside,
            "canaries": self.canaries,
            "unix": self.unix_path,
            "agent": self.agent_path,
            "abstract": self.abstract,
            "datagram": self.datagram_abstract,
            "segment_key": self.segment_key,
            "tcp": self.port("tcp"),
            "tcp6": self.port("tcp6"),
            "udp": self.port("udp"),
            "victims": [one.pid for one in self.victims],
            "addresses": host_addresses(),
            "root_device": [os.major(root), os.minor(root)],
            "home_secrets": list(HOME_SECRETS),
            "caller_pid": os.getpid(),
        }

    def close(self):
        for victim in self.victims:
            victim.kill()
            victim.wait()
        for listener in self.listeners.values():
            listener.close()
        libc.shmctl(self.segment, IPC_RMID, None)
        os.close(self.inherited)
        os.close(self.inherited_file)
        # A row about deep trees may leave what shutil cannot walk.
        subprocess.run(["rm", "-rf", self.base], check=False)
        shutil.rmtree(self.base, ignore_errors=True)


def host_addresses():
    """The host's IPv4 addresses as a packet would leave by them."""
    found = {"127.0.0.1"}
    for remote in ("192.0.2.1", "10.0.0.1", "172.17.0.2"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((remote, 9))
                found.add(probe.getsockname()[0])
            except OSError:
                pass
    return sorted(found)
