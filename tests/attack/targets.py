"""What is attacked: each target turns a job into a command line, and says what it is and what it lacks."""

import base64
import json
import os
import shlex
import shutil
import subprocess
import zlib
from dataclasses import dataclass

PLAIN_ID = 54321  # nobody has it
IMAGE = "skerry-attack"


@dataclass
class Job:
    """One start of a sandbox."""

    code: str
    nonce: str
    language: str = "python"
    directory: str = ""  # where the program works, on the host
    is_persons: bool = False  # the directory was given by a person; else it is scratch
    timeout: int = 20
    tty: bool = False
    json: bool = False


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()
    except OSError:
        return ""


def argument_form(job):
    """The code as arguments of an interpreter, small enough for one argument."""
    if job.language == "shell":
        return ["bash", "-c", job.code]
    packed = base64.b64encode(zlib.compress(job.code.encode(), 9)).decode()
    return [
        "python3",
        "-c",
        f"import zlib,base64;exec(compile(zlib.decompress(base64.b64decode('{packed}')),'attack','exec'))",
    ]


class Target:
    """The bare host: no sandbox at all. Also what the others have in common."""

    family = "host"
    limits_time = False  # it ends a program at the job's timeout by itself
    has_scratch = False  # it makes a workspace of its own when nobody gives one
    describe = "no sandbox: the positive control"

    def __init__(self, name, user, options):
        self.name, self.user, self.options, self.stage = name, user, options, None
        self.environment = {}  # what its own program needs besides the caller's

    def problem(self):
        """Why it cannot be attacked here, or nothing."""
        if self.user != os.geteuid() and os.geteuid() != 0:
            return "skipped: not root, so it cannot run as another user"
        return self.missing()

    def missing(self):
        return ""

    def set_up(self, stage):
        self.stage = stage
        os.mkdir(os.path.join(stage.base, "code"))

    def version(self):
        return "Linux " + os.uname().release

    def as_caller(self, command):
        if self.user == os.geteuid():
            return command
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *command]

    def command(self, job):
        return self.as_caller(argument_form(job))

    def elsewhere(self, evidence):
        """Why a payload did not run where it was to run, or nothing."""
        del evidence
        return ""

    def clean(self, job):
        """Ends what a killed client left running."""


class Native(Target):
    family = "native"
    limits_time = True
    has_scratch = True
    describe = "`skerry run`"
    program = "skerry"
    options_of_run = ()

    def binary(self):
        return self.options.binary or os.environ.get("SKERRY_BIN", "")

    def missing(self):
        if not self.binary() or not os.access(self.binary(), os.X_OK):
            return "no skerry binary: build it and say --binary PATH or SKERRY_BIN=PATH"
        return ""

    def set_up(self, stage):
        """Runs a copy: another user may not reach the build directory, and a build may replace it meanwhile."""
        super().set_up(stage)
        directory = stage.directory("bin")
        source = os.path.dirname(os.path.realpath(self.binary()))
        for name in os.listdir(source):
            if name.startswith(("skerry", "libskerry")) and os.path.isfile(os.path.join(source, name)):
                shutil.copy(os.path.join(source, name), os.path.join(directory, name))
        self.copy = os.path.join(directory, self.program)

    def version(self):
        return output_of(self.binary(), "version").splitlines()[0] if self.binary() else ""

    def command(self, job):
        path = os.path.join(self.stage.base, "code", job.nonce + (".sh" if job.language == "shell" else ".py"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(job.code)
        # The suite tries the isolation: what the risk policy would say comes before it.
        command = ["env", "SKERRY_SANDBOX__REJECT_AS_CONFIRMATION=true", self.copy, "run", "--yes",
                   "--timeout", str(job.timeout), *self.options_of_run]
        if job.is_persons:
            command += ["--workspace", job.directory]
        if job.json:
            command += ["--json"]
        return self.as_caller([*command, "-f", path])


class Daemon(Native):
    """Not a sandbox but what serves them: its rows are those of live/."""

    family = "daemon"
    describe = "`skerry serve` with two tenants, over its API"


class WarmNative(Native):
    """Every payload is a Python that a zygote forked into a sandbox, or a descendant of one."""

    describe = "sandboxes that wait in a pool, Python forked into them (with a person's directory: into a new one)"
    program = "skerry-warm-run"
    options_of_run = ("--via-python",)
    failed = 125  # what it ends with when the sandbox was not a warm one

    def missing(self):
        warm = os.path.join(os.path.dirname(os.path.realpath(self.binary())), self.program)
        return super().missing() or ("" if os.access(warm, os.X_OK) else f"no {self.program} beside the skerry binary")

    def elsewhere(self, evidence):
        return "not in a warm sandbox: " + evidence.text[-200:].strip() if evidence.code == self.failed else ""


class Bubblewrap(Target):
    family = "bwrap"
    describe = "`bwrap --unshare-all --die-with-parent`, /usr read-only, tmpfs on /tmp, the workspace bound"

    def missing(self):
        return "" if shutil.which("bwrap") else "bwrap is not installed: apt-get install bubblewrap"

    def version(self):
        return output_of("bwrap", "--version")

    def command(self, job):
        command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib64"):
            command += ["--symlink", f"usr/{name}", f"/{name}"]
        for path in ("/etc/alternatives", "/etc/ld.so.cache"):
            command += ["--ro-bind-try", path, path]
        command += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
            "--bind",
            job.directory,
            "/workspace",
            "--chdir",
            "/workspace",
        ]
        return self.as_caller([*command, *argument_form(job)])


class Docker(Target):
    family = "docker"
    flags = ()
    describe = "`docker run` with its defaults, the workspace as a volume"

    def missing(self):
        if not shutil.which("docker"):
            return "docker is not installed: apt-get install docker.io"
        if not output_of("docker", "version", "--format", "{{.Server.Version}}"):
            return "no docker engine answers: start dockerd"
        if not output_of("docker", "image", "ls", "-q", self.image()):
            return (
                f"no image {self.image()}: debootstrap --variant=minbase --include=python3 bookworm DIR; "
                f"tar -C DIR -c . | docker import - {self.image()}"
            )
        return ""

    def image(self):
        return self.options.image or IMAGE

    def version(self):
        runc = output_of("runc", "--version").splitlines()
        return (
            "docker "
            + output_of("docker", "version", "--format", "{{.Server.Version}}")
            + ", "
            + (runc[0] if runc else "")
        )

    def command(self, job):
        stdin = ["-i", "-t"] if job.tty else ["-i"]
        return [
            "docker",
            "run",
            "--rm",
            *stdin,
            "--label",
            "skerry-attack=" + job.nonce,
            *self.flags,
            "-v",
            f"{job.directory}:/workspace",
            "-w",
            "/workspace",
            self.image(),
            *argument_form(job),
        ]

    def clean(self, job):
        left = output_of("docker", "ps", "-aq", "--filter", "label=skerry-attack=" + job.nonce).split()
        if left:
            output_of("docker", "rm", "-f", *left)


class HardenedDocker(Docker):
    flags = (
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--pids-limit",
        "256",
        "--memory",
        "512m",
        "--memory-swap",
        "512m",
        "--read-only",
        "--tmpfs",
        "/tmp:size=64m",
    )
    describe = "`docker run " + " ".join(flags) + "`"


class Srt(Target):
    family = "srt"
    describe = "`srt` of @anthropic-ai/sandbox-runtime: no domains, writes in the workspace"

    def program(self):
        return self.options.srt or shutil.which("srt") or ""

    def missing(self):
        if not self.program():
            return "srt is not installed: npm install @anthropic-ai/sandbox-runtime in some directory, then --srt PATH"
        absent = [name for name in ("bwrap", "socat", "rg", "node") if not shutil.which(name)]
        return f"srt needs {', '.join(absent)}: apt-get install bubblewrap socat ripgrep nodejs" if absent else ""

    def version(self):
        package = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(self.program()))), "package.json")
        try:
            with open(package, encoding="utf-8") as file:
                return "srt " + json.load(file)["version"]
        except OSError:
            return "srt " + output_of(self.program(), "--version")

    def set_up(self, stage):
        super().set_up(stage)
        self.settings = os.path.join(stage.base, "srt.json")
        self.environment = {"TMPDIR": stage.directory("tmp")}  # it leaves sockets behind
        with open(self.settings, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "network": {"allowedDomains": [], "deniedDomains": []},
                    "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []},
                },
                file,
            )

    def command(self, job):
        program = " ".join(shlex.quote(word) for word in argument_form(job))
        return self.as_caller([self.program(), "--settings", self.settings, "-c", program])


def make(name, options):
    """The target of that name, or nothing."""
    me = os.geteuid()
    table = {
        "host": (Target, me),
        "native": (Native, me),
        "native-user": (Native, PLAIN_ID),
        "native-warm": (WarmNative, me),
        "native-warm-user": (WarmNative, PLAIN_ID),
        "daemon": (Daemon, me),
        "bwrap": (Bubblewrap, me),
        "bwrap-user": (Bubblewrap, PLAIN_ID),
        "docker": (Docker, me),
        "docker-hardened": (HardenedDocker, me),
        "srt": (Srt, me),
        "srt-user": (Srt, PLAIN_ID),
    }
    if name not in table:
        return None
    kind, user = table[name]
    return kind(name, user, options)


NAMES = (
    "host",
    "native",
    "native-user",
    "native-warm",
    "native-warm-user",
    "daemon",
    "bwrap",
    "bwrap-user",
    "docker",
    "docker-hardened",
    "srt",
    "srt-user",
)
