"""Completions in real shells, manual pages in real formatters, and what a terminal sees while something takes long."""
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import harness
import sessions

PATIENCE = 60


def needs(*commands):
    missing = [name for name in commands if shutil.which(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


class Completion(sessions.SessionTest):
    """The shells find skerry on the PATH, as a person's would."""

    shell = None

    def environment(self, extra=None):
        environment = super().environment(extra)
        environment["PATH"] = os.path.dirname(self.binary) + ":" + environment["PATH"]
        return environment

    def script(self, shell):
        result = self.skerry("completion", shell)
        self.assertEqual((result.code, result.err), (0, b""))
        path = os.path.join(self.directory("completion"), "_skerry")
        with open(path, "wb") as file:
            file.write(result.out)
        return path

    def run_shell(self, *command, environment=None):
        return subprocess.run(command, env=self.environment(environment), cwd=self.home, timeout=PATIENCE, check=True,
                              stdin=subprocess.DEVNULL, capture_output=True).stdout.decode().splitlines()

    def offered(self, *words, environment=None):
        raise NotImplementedError


class Contract:
    """What each shell has to offer."""

    def test_commands_at_any_depth(self):
        self.assertEqual(self.offered("se"), ["serve", "session"])
        self.assertEqual(self.offered("session", "cr"), ["create"])

    def test_options_of_the_command(self):
        self.assertEqual(self.offered("session", "create", "--me"), ["--memory", "--metadata"])

    def test_words_of_an_option(self):
        self.assertEqual(self.offered("run", "--language", ""), ["javascript", "python", "shell"])
        self.assertEqual(self.offered("session", "create", "--mode", ""), ["disabled", "per-session", "shared"])

    def test_an_option_with_its_value_is_passed_over(self):
        self.assertEqual(self.offered("--config", "session", "run", "--lang"), ["--language"])

    def test_files_where_a_file_is_wanted(self):
        path = os.path.join(self.home, "unlikely-program.py")
        with open(path, "w", encoding="utf-8"):
            self.addCleanup(os.remove, path)
        self.assertEqual(self.offered("run", "-f", "unlik"), ["unlikely-program.py"])

    def test_names_of_sessions(self):
        self.create("work-1")
        self.create("work-2")
        self.assertEqual(self.offered("session", "show", "work"), ["work-1", "work-2"])
        self.assertEqual(self.offered("run", "--session", "work-1"), ["work-1"])

    def test_names_are_missing_in_silence_without_a_daemon(self):
        nobody = {"SKERRY_URL": "unix:" + os.path.join(self.home, "nobody")}
        self.assertEqual(self.offered("session", "show", "", environment=nobody), [])

    def test_hidden_commands_are_not_offered(self):
        self.assertEqual(self.offered("context"), ["context"])
        self.assertEqual(self.offered("completion", ""), ["bash", "fish", "zsh"])


class BashTest(Contract, Completion):
    CALL = ('source "$1"; shift; COMP_WORDS=(skerry "$@"); COMP_CWORD=$#; _skerry; '
            '[[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"')

    def offered(self, *words, environment=None):
        return sorted(self.run_shell("bash", "-c", self.CALL, "bash", self.script("bash"), *words,
                                     environment=environment))

    def test_a_value_behind_an_equals_sign(self):
        self.assertEqual(self.offered("run", "--mode", "=", "p"), ["permissive"])
        self.assertEqual(self.offered("run", "--mode", "="), ["permissive", "strict"])

    def test_behind_two_dashes_there_are_no_options(self):
        self.assertEqual(self.offered("exec", "s", "--", "-"), [])

    def test_a_daemon_that_says_nothing_holds_nobody_up(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = {"SKERRY_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
            self.assertEqual(self.offered("session", "show", "", environment=url), [])


@needs("fish")
class FishTest(Contract, Completion):
    def offered(self, *words, environment=None):
        line = " ".join(("skerry", *words))
        rows = self.run_shell("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"',
                              self.script("fish"), line, environment=environment)
        return sorted(row.split("\t")[0] for row in rows)

    def test_options_have_their_descriptions(self):
        rows = self.run_shell("fish", "--no-config", "-c", 'source $argv[1]; complete -C "skerry version --he"',
                              self.script("fish"))
        self.assertEqual(rows, ["--help\tPrint this help message and exit"])


class Terminal:
    """A program that has a terminal for itself, or for its stderr alone."""

    def __init__(self, command, whole=True, **options):
        self.ours, theirs = pty.openpty()
        streams = {"stdin": theirs, "stdout": theirs} if whole else {"stdin": subprocess.DEVNULL,
                                                                    "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, stderr=theirs, start_new_session=True, **streams, **options)
        os.close(theirs)
        self.shown = b""

    def type(self, text):
        os.write(self.ours, text)

    def await_text(self, pattern, start=0, seconds=PATIENCE):
        """Where the text ends that was awaited."""
        deadline = time.monotonic() + seconds
        while not (found := re.compile(pattern).search(self.shown, start)):
            if time.monotonic() > deadline or not self.take(deadline - time.monotonic()):
                raise AssertionError(f"{pattern!r} is not in {self.shown[start:]!r}")
        return found.end()

    def take(self, seconds=PATIENCE):
        if not select.select([self.ours], [], [], max(seconds, 0))[0]:
            return False
        try:
            piece = os.read(self.ours, 65536)
        except OSError:  # the other side is closed
            piece = b""
        self.shown += piece
        return bool(piece)

    def finish(self):
        while self.take():
            pass
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self.ours)


@needs("zsh")
class ZshTest(Contract, Completion):
    """The list that a person gets is caught where compadd is called, with the answers marked."""

    # compadd -O gives the matches for what was typed; the real one is called too, so that its callers go on.
    CATCH = r"""
unsetopt prompt_cr prompt_sp beep
PS1='' PS2=''
autoload -Uz compinit && compinit -C -d "$DUMP"
source "$SCRIPT"
compadd() {
  local -a caught
  if [[ ${@[1,(i)(-|--)]} != *-[OAD]* ]]; then
    builtin compadd -O caught "$@"
    print -rl -- $caught >> "$CAUGHT"
  fi
  builtin compadd "$@"
}
catch() { zle list-choices; print -r -- end >> "$CAUGHT"; zle kill-whole-line }
zle -N catch
bindkey '^X' catch
print -r -- ready >> "$CAUGHT"
"""

    def offered(self, *words, environment=None):
        directory = self.directory("zsh")
        caught = os.path.join(directory, "caught")
        with open(os.path.join(directory, ".zshrc"), "w", encoding="utf-8") as file:
            file.write(self.CATCH)
        own = {"ZDOTDIR": directory, "SCRIPT": self.script("zsh"), "CAUGHT": caught, "TERM": "xterm",
               "DUMP": os.path.join(self.home, "zcompdump")}
        terminal = Terminal(["zsh", "-d", "-i"], env=self.environment((environment or {}) | own), cwd=self.home)
        self.addCleanup(terminal.close)
        self.await_line(terminal, caught, "ready")
        terminal.type(" ".join(("skerry", *words)).encode() + b"\x18")
        lines = self.await_line(terminal, caught, "end")
        return sorted({line for line in lines if line not in ("ready", "end", "")})

    def await_line(self, terminal, path, wanted):
        deadline = time.monotonic() + PATIENCE
        while True:
            terminal.take(0.02)
            with open(path, "a+", encoding="utf-8") as file:
                file.seek(0)
                lines = file.read().splitlines()
            if wanted in lines:
                return lines
            self.assertLess(time.monotonic(), deadline, terminal.shown)


class NamesTest(sessions.SessionTest):
    """What the scripts ask for names."""

    def names(self, what, **environment):
        result = self.skerry("completion", "names", what, environment=environment)
        self.assertEqual((result.code, result.err), (0, b""))
        return result.out.decode().split("\n")[:-1]

    def test_sessions_are_told_by_name(self):
        self.assertEqual(self.names("sessions"), ["s"])

    def test_no_approval_waits(self):
        self.assertEqual(self.names("approvals"), [])

    def test_without_a_daemon_nothing_is_said(self):
        self.assertEqual(self.names("sessions", SKERRY_URL="unix:/nowhere"), [])

    def test_names_that_a_shell_could_take_for_something_else_are_left_out(self):
        ids = ["good", "$(touch x)", "a b", "`x`", "-rf", "a;b", "a\nb", "../x", "é", ""]
        with Peer() as peer:
            body = json.dumps({"items": [{"id": name} for name in ids], "next_cursor": None}).encode()
            peer.serve(lambda talk: talk.answer(200, body))
            self.assertEqual(self.names("sessions", **peer.environment), ["good"])


# --- manual pages ---


class ManualTest(harness.SkerryTest):
    def pages(self):
        directory = os.path.join(self.directory("man"), "man1")
        result = self.skerry("man", "--all", directory)
        self.assertEqual((result.code, result.err), (0, b""))
        return directory, sorted(os.listdir(directory))

    def test_every_command_has_a_page(self):
        directory, names = self.pages()
        for name in ("skerry.1", "skerry-run.1", "skerry-session-create.1", "skerry-fs-import.1", "skerry-man.1"):
            self.assertIn(name, names)
        with open(os.path.join(directory, "skerry-serve.1"), encoding="utf-8") as page:
            self.assertNotIn("demand", page.read())

    @needs("groff")
    def test_no_page_gives_a_warning(self):
        directory, names = self.pages()
        for name in names:
            with open(os.path.join(directory, name), "rb") as page:
                checked = subprocess.run(["groff", "-man", "-ww", "-z"], stdin=page, capture_output=True, check=False,
                                         timeout=PATIENCE)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""), name)

    @needs("man", "groff")
    def test_man_shows_what_help_tells(self):
        directory, _ = self.pages()
        shown = subprocess.run(["man", "-l", os.path.join(directory, "skerry-run.1")], capture_output=True, check=True,
                               env=self.environment({"MANWIDTH": "200", "MANPAGER": "cat", "TERM": "dumb"}),
                               timeout=PATIENCE).stdout.decode()
        text = re.sub(r".\x08", "", shown)
        self.assertIn("skerry run [OPTIONS] [CODE|-]", text)
        self.assertRegex(text, r"(?m)^ +-l, --language LANGUAGE$")
        self.assertIn("skerry run 'print(6*7)'", text)

    def test_one_page_is_printed(self):
        self.assertTrue(self.skerry("man").out.startswith(b'.TH "SKERRY" 1 '))
        self.assertTrue(self.skerry("man", "session", "create").out.startswith(b'.TH "SKERRY\\-SESSION\\-CREATE" 1 '))

    def test_a_command_that_is_not_there_is_named(self):
        result = self.skerry("man", "session", "destroy")
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertEqual(result.err, b"skerry: there is no command skerry session destroy; see skerry --help\n")


# --- progress ---


class Peer:
    """A daemon that is as slow as a test wants it: it goes on when it is told to."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.environment = {"SKERRY_URL": f"http://127.0.0.1:{self.listening.getsockname()[1]}"}
        self.go_on = threading.Event()
        self.thread = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go_on.set()
        self.listening.close()
        if self.thread:
            self.thread.join(PATIENCE)

    def serve(self, script):
        """One request."""
        def run():
            connection, _ = self.listening.accept()
            with connection:
                connection.settimeout(PATIENCE)
                script(Talk(connection, self.go_on))
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()


class Talk:
    def __init__(self, connection, go_on):
        self.connection, self.go_on = connection, go_on
        self.received = b""
        while b"\r\n\r\n" not in self.received:
            self.received += connection.recv(4096)

    def answer(self, status, body, length=None):
        head = (f"HTTP/1.1 {status} Fine\r\nContent-Type: application/json\r\nConnection: close\r\n"
                f"Content-Length: {len(body) if length is None else length}\r\n\r\n")
        self.connection.sendall(head.encode() + body)

    def take_chunks(self):
        end = self.received[-5:]
        while end != b"0\r\n\r\n":
            end = (end + self.connection.recv(1 << 18))[-5:]
            self.go_on.wait(0.01)

    def give(self, blocks, block):
        for _ in range(blocks):
            self.connection.sendall(block)
            self.go_on.wait(0.01)


class ProgressTest(harness.SkerryTest):
    BLOCK = b"x" * (1 << 18)
    BLOCKS = 256
    SIZE = BLOCKS * len(BLOCK)
    WIPED = b"\r\x1b[K"

    def begin(self, peer, *arguments, **environment):
        terminal = Terminal(self.command(*arguments), whole=False, cwd=self.home,
                            env=self.environment({"TERM": "xterm"} | peer.environment | environment))
        self.addCleanup(terminal.close)
        return terminal

    def large_file(self):
        path = os.path.join(self.directory("large"), "large")
        with open(path, "wb") as file:
            file.truncate(self.SIZE)
        return path

    def take_upload(self, talk):
        talk.take_chunks()
        talk.answer(200, json.dumps({"action": "created", "path": "large", "size": self.SIZE}).encode())

    def give_download(self, talk):
        talk.answer(200, b"", length=self.SIZE)
        talk.give(self.BLOCKS, self.BLOCK)

    def test_an_upload_shows_how_far_it_is(self):
        with Peer() as peer:
            peer.serve(self.take_upload)
            terminal = self.begin(peer, "fs", "write", "s", "large", "--from", self.large_file())
            terminal.await_text(rb"skerry: sent [0-9.]+ MB of 67\.1 MB, [0-9]+ %, [0-9.]+ MB/s")
            peer.go_on.set()
            out = terminal.process.stdout.read()
            self.assertEqual(terminal.finish(), 0, terminal.shown)
        self.assertEqual(out, f"created large: {self.SIZE} bytes\n".encode())
        self.assertTrue(terminal.shown.endswith(self.WIPED), terminal.shown)
        self.assertNotIn(b"\n", terminal.shown)

    def test_a_download_shows_how_far_it_is(self):
        with Peer() as peer:
            peer.serve(self.give_download)
            terminal = self.begin(peer, "fs", "read", "s", "large")
            received = []
            reader = threading.Thread(target=lambda: received.append(terminal.process.stdout.read()))
            reader.start()
            terminal.await_text(rb"skerry: received [0-9.]+ MB of 67\.1 MB, [0-9]+ %, [0-9.]+ MB/s")
            peer.go_on.set()
            reader.join(PATIENCE)
            self.assertEqual(terminal.finish(), 0, terminal.shown)
        self.assertEqual(len(received[0]), self.SIZE)
        self.assertEqual(received[0].strip(b"x"), b"")
        self.assertTrue(terminal.shown.endswith(self.WIPED), terminal.shown)

    def test_a_wait_without_a_figure_turns(self):
        def make(talk):
            talk.go_on.wait(PATIENCE)
            talk.answer(201, b'{"id": "work"}')
        with Peer() as peer:
            peer.serve(make)
            terminal = self.begin(peer, "session", "create", "work")
            terminal.await_text(rb"skerry: [-|/\\] makes the session, [0-9]+ s")
            peer.go_on.set()
            self.assertEqual(terminal.process.stdout.read(), b"work\n")
            self.assertEqual(terminal.finish(), 0, terminal.shown)
        self.assertTrue(terminal.shown.endswith(self.WIPED), terminal.shown)

    def test_a_terminal_that_cannot_rewrite_a_line_gets_none(self):
        with Peer() as peer:
            peer.serve(self.take_upload)
            terminal = self.begin(peer, "fs", "write", "s", "large", "--from", self.large_file(), TERM="dumb")
            self.assertEqual(terminal.finish(), 0, terminal.shown)
        self.assertEqual(terminal.shown, b"")

    def test_without_a_terminal_not_a_byte_is_said(self):
        with Peer() as peer:
            peer.serve(self.take_upload)
            result = self.skerry("fs", "write", "s", "large", "--from", self.large_file(),
                                 environment={"TERM": "xterm"} | peer.environment)
        self.assertEqual((result.code, result.err), (0, b""))
        self.assertEqual(result.out, f"created large: {self.SIZE} bytes\n".encode())


if __name__ == "__main__":
    harness.main()
