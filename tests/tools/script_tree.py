"""A copy of the scripts in a made-up tree, with a PATH that has only made-up tools: no network, no root, no compiler."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534

# What the scripts may count on in an empty Debian: all of these are in essential packages.
BASICS = "bash cat chmod env find flock grep ln ls mkdir mv nproc pwd readlink rm sleep tail touch true".split()

COMMANDS = {  # package: the commands it brings
    "cmake": ["cmake", "ctest"],
    "ninja-build": ["ninja"],
    "ccache": ["ccache"],
    "npm": ["npm"],
    "clang-19": ["clang++-19"],
    "lld-19": ["ld.lld-19"],
    "clang-format-19": ["clang-format-19"],
    "clang-tidy-19": ["clang-tidy-19"],
    "strace": ["strace"],
    "g++": ["g++"],
    "patch": ["patch"],
    "curl": ["curl"],
    "wrk": ["wrk"],
    "openssl": ["openssl"],
    "tmux": ["tmux"],
    "zsh": ["zsh"],
    "fish": ["fish"],
    "groff-base": ["groff"],
    "man-db": ["man"],
}

# Each made-up tool notes how it was called in $state/calls. $bin is the PATH, $depot the tools that can be installed.
TOOLS = {
    "cmake": """
        mkdir -p "build/$2/CMakeFiles"
        echo rules > "build/$2/build.ninja"
        printf '%s\\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "CMAKE_CACHEFILE_DIR:INTERNAL=$PWD/build/$2" \\
          CMAKE_GENERATOR:INTERNAL=Ninja > "build/$2/CMakeCache.txt"
    """,
    "ninja": """
        echo '[1/2] Building CXX object src/main.cpp.o'
        [[ ! -e $state/ninja_waits ]] || { touch "$state/ninja_started"; exec sleep 60; }
        [[ ! -e $state/ninja_sleeps ]] || sleep 0.5
        [[ ! -e $state/ninja_edits ]] || { sleep 0.05; touch "$(<"$state/ninja_edits")"; sleep 0.05; }
        if [[ -e $state/ninja_fails ]]; then
          printf '%s\\n' 'FAILED: main.cpp.o' 'clang++ -a-long-line' 'main.cpp:1:1: error: no such word' '[2/2] Other'
          exit 1
        fi
        echo '[2/2] Linking CXX executable bin/skerry'
        mkdir -p "$2/bin"
        rm -f "$2/bin/skerry"
        cat "$depot/program" > "$2/bin/skerry"
        chmod 755 "$2/bin/skerry"
    """,
    "ctest": """
        echo "soak=${SKERRY_SOAK:-} in ${PWD##*/}"
        ls -l /proc/self/fd > "$state/ctest_fds"
        echo '100% tests passed, 0 tests failed out of 1'
        [[ ! -e $state/exit ]] || exit "$(<"$state/exit")"
    """,
    "apt-get": """
        [[ ! -e $state/apt_fails ]] || { echo 'E: the mirror is on holiday'; exit 100; }
        [[ $* == *' install '* ]] || exit 0
        echo "Setting up things"
        for word; do
          [[ $word != -* ]] || continue
          echo "$word" >> "$state/installed"
          case $word in
            @COMMANDS@
          esac
        done
    """,
    "dpkg-query": """
        shift 3
        status=0
        for word; do
          if grep -qxF -- "$word" "$state/installed"; then echo "$word installed"; else status=1; fi
        done
        exit $status
    """,
    "dpkg": "",
    "program": """
        [[ ${1-} != version ]] || exit 0
        [[ $# == 0 ]] || printf '%s\\0' "$@" > "$state/arguments"
        ls -l /proc/self/fd > "$state/fds"
        echo "program in $PWD"
        [[ -t 0 ]] || cat
        [[ ! -e $state/exit ]] || exit "$(<"$state/exit")"
    """,
    "sudo": """
        [[ ! -e $state/sudo_asks ]] || exit 1
        [[ $1 != -n ]] || shift
        exec "$@"
    """,
}


class ScriptTreeTest(unittest.TestCase):
    """Nothing is missing to begin with; a test removes what it wants to be missing."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.base = pathlib.Path(temporary.name)
        self.tree, self.bin, self.depot, self.state = (self.base / n for n in ("the tree", "bin", "depot", "state"))
        for folder in (self.tree / "src/base", self.tree / "tools", self.bin, self.depot, self.state):
            folder.mkdir(parents=True)
        for name in ("skerry", "test", "tools/setup.sh", "tools/packages.txt", "CMakePresets.json"):
            shutil.copy(ROOT / name, self.tree / name)
        (self.tree / "CMakeLists.txt").touch()
        self.source = self.tree / "src/base/ids.cpp"
        self.source.touch()
        for name in BASICS:
            (self.bin / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
        self.environment = {"PATH": str(self.bin), "LC_ALL": "C"}
        self.make_tools()
        self.base.chmod(0o755)
        self.owner = NOBODY if os.geteuid() == 0 else os.geteuid()
        self.give(self.owner)

    def make_tools(self):
        every = [name for names in COMMANDS.values() for name in names]
        cases = "\n".join(
            f"{package}) " + " && ".join(f'ln -sf "$depot/{name}" "$bin/{name}"' for name in names) + " ;;"
            for package, names in COMMANDS.items()
        )
        for name in {*TOOLS, *every}:
            body = textwrap.dedent(TOOLS.get(name, "")).replace("@COMMANDS@", cases)
            head = f'#!/bin/bash\nstate="{self.state}" bin="{self.bin}" depot="{self.depot}"\n'
            note = "" if name in ("program", "dpkg-query") else f'echo "{name} $*" >> "$state/calls"\n'
            (self.depot / name).write_text(head + note + body)
            (self.depot / name).chmod(0o755)
            if name not in ("program", "sudo"):
                (self.bin / name).symlink_to(self.depot / name)
        rows = [line.split()[:2] for line in (ROOT / "tools/packages.txt").read_text().splitlines() if line.strip()]
        (self.state / "installed").write_text("".join(f"{row[1]}\n" for row in rows if row[0] != "#"))

    def give(self, owner):
        if os.geteuid() == 0:
            for path in [self.base, *self.base.rglob("*")]:
                os.chown(path, owner, owner, follow_symlinks=False)

    # --- what a test says ---

    def take_away(self, *packages):
        installed = self.state / "installed"
        installed.write_text("".join(f"{n}\n" for n in installed.read_text().split() if n not in packages))
        for package in packages:
            for name in COMMANDS.get(package, []):
                (self.bin / name).unlink()

    def set(self, name, text=""):
        (self.state / name).write_text(str(text))

    def unset(self, name):
        (self.state / name).unlink()

    def start(self, script, *arguments, user=None, path=None, **more):
        """As a plain user without a home and without a terminal, unless the test wants another one."""
        user = self.owner if user is None else user
        identity = {"user": user, "group": user, "extra_groups": []} if os.geteuid() == 0 and user != 0 else {}
        streams = {name: more.pop(name, subprocess.PIPE) for name in ("stdout", "stderr")}
        return subprocess.Popen(
            [path or self.tree / script, *arguments],
            env=self.environment,
            stdin=more.pop("stdin", subprocess.DEVNULL),
            start_new_session=True,
            cwd=more.pop("cwd", self.base),
            text=True,
            **identity,
            **streams,
            **more,
        )

    def end(self, process):
        """With all that it started, where that still runs."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def run_script(self, script, *arguments, given=None, **more):
        if given is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(script, *arguments, **more)
        try:
            out, err = process.communicate(given, timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail("took more than 30 s: " + process.communicate()[1])
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def skerry(self, *arguments, **more):
        return self.run_script("skerry", *arguments, **more)

    def calls(self, name):
        log = self.state / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.split()[0] == name]
