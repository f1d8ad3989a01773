"""skerry run --context keeps variables between cells; a daemon in the background has them and leaves nothing behind."""
import base64
import concurrent.futures
import glob
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import time

import harness
import observe

LIBRARY = "libskerry-zygote.so"
PROGRAMS = ("skerry", "skerry-launcher", "skerry-init", LIBRARY)


class ContextTestCase(harness.SkerryTest):
    """Each test has its own daemon and stops it; what lives on then fails the test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if harness.AS_USER:
            shutil.copy(os.path.join(os.path.dirname(harness.BINARY), LIBRARY), os.path.join(cls.base, "bin"))

    def tearDown(self):
        self.context("stop")
        observe.reap_orphans()
        self.assertEqual(glob.glob(self.place() + "/*.sock"), [])
        super().tearDown()

    def place(self):
        return os.path.join(self.home, ".skerry", "run")

    def cell(self, code, *arguments, name="a", **options):
        return self.skerry("run", "--context", name, *arguments, code, **options)

    def context(self, *arguments, **options):
        return self.skerry("context", *arguments, **options)

    def rows(self):
        return {row["name"]: row for row in self.context("list", "--json").json}

    def start(self, code, *arguments, name="a"):
        # Without a buffer: communicate() would not find what a line that was read has left in it.
        return subprocess.Popen(self.command("run", "--context", name, *arguments, code), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.environment(), cwd=self.home, bufsize=0)

    def finish(self, process, timeout=30):
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def await_state(self, name, state):
        deadline = time.monotonic() + 20
        while self.rows().get(name, {}).get("state") != state:
            self.assertLess(time.monotonic(), deadline, f"{name} did not become {state}")
            time.sleep(0.05)

    def daemons(self):
        return [pid for pid, name in observe.descendants().items() if name == "skerry-contexts"]


class CellTest(ContextTestCase):
    def test_variables_stay_and_the_last_value_is_printed(self):
        first = self.cell("x = 6; print('hi')")
        self.assertEqual((first.code, first.out, first.err), (0, b"hi\n", b""))
        self.assertEqual(self.cell("x * 7").out, b"42\n")
        self.assertEqual(self.cell("'x' in globals()", name="b").out, b"False\n")

    def test_code_comes_from_a_file_or_from_stdin(self):
        path = os.path.join(self.directory("code"), "a.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("x = 1")
        os.chmod(path, 0o644)
        self.assertEqual(self.skerry("run", "--context", "a", "-f", path).code, 0)
        self.assertEqual(self.cell("-", stdin=b"x + 1").out, b"2\n")

    def test_an_error_is_a_traceback_and_a_one(self):
        result = self.cell("print('before')\n1/0")
        self.assertEqual((result.code, result.out), (1, b"before\n"))
        self.assertIn(b"ZeroDivisionError: division by zero", result.err)
        self.assertEqual(result.err.count(b"File "), 1)

    def test_every_language_keeps_its_variables(self):
        for language, first, second, expected in (("javascript", "let x = 6", "x * 7", b"42\n"),
                                                  ("shell", "x=6; cd /tmp", "echo $((x * 7)) $PWD", b"42 /tmp\n")):
            self.assertEqual(self.cell(first, "-l", language, name=language).code, 0)
            result = self.cell(second, name=language)  # the language is the context's
            self.assertEqual((result.code, result.out), (0, expected), result.err)
        other = self.cell("1", "-l", "python", name="shell")
        self.assertEqual(other.code, 125)
        self.assertIn(b"skerry context delete shell", other.err)

    def test_output_arrives_while_the_cell_runs(self):
        process = self.start("import time\nfor i in range(3):\n    print(i, flush=True); time.sleep(1)")
        self.assertEqual(process.stdout.readline(), b"0\n")
        start = time.monotonic()
        self.assertEqual(process.stdout.readline(), b"1\n")
        self.assertGreater(time.monotonic() - start, 0.5)
        self.assertEqual(self.finish(process), (0, b"2\n", b""))

    def test_every_byte_arrives(self):
        result = self.cell("import sys\nfor i in range(20): sys.stdout.buffer.write(bytes(range(256)) * 4096)")
        self.assertEqual(result.out, bytes(range(256)) * 4096 * 20)

    def test_a_timeout_keeps_the_context(self):
        self.cell("x = 1")
        start = time.monotonic()
        result = self.cell("x = 2\nwhile True: pass", "--timeout", "1")
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(result.code, 124, result.err)
        self.assertIn(b"skerry: Execution timeout (1s)", result.err)
        self.assertEqual(self.cell("x").out, b"2\n")

    def test_a_context_that_dies_is_reported_and_can_be_restarted(self):
        died = self.cell("import os; os.kill(os.getpid(), 9)")
        self.assertEqual(died.code, 137)
        self.assertIn(b"skerry context restart a", died.err)
        self.assertEqual(self.rows()["a"]["state"], "dead")
        again = self.cell("1")
        self.assertEqual(again.code, 125)
        self.assertIn(b"skerry context restart a", again.err)
        self.assertEqual(self.context("restart", "a").out, b"restarted a\n")
        self.assertEqual(self.cell("1").out, b"1\n")

    def test_out_of_memory_is_named(self):
        result = self.cell("x = b'x' * (2 << 30)")
        self.assertEqual(result.code, 137, result.err)
        self.assertIn(b"skerry: Out of memory (limit 512 MB)", result.err)

    def test_the_configuration_limits_a_context(self):
        path = os.path.join(self.home, "small.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"sandbox": {"limits": {"maxMemoryMb": 100}}}, file)
        os.chmod(path, 0o644)
        result = self.skerry("--config", path, "run", "--context", "a", "x = b'x' * (300 << 20)")
        self.assertEqual(result.code, 137, result.err)
        self.assertIn(b"(limit 100 MB)", result.err)

    def test_options_that_make_no_sense_are_refused(self):
        for options in (["--tty"], ["--workspace", "."], ["--image", "x"], ["--sandbox", "subprocess"],
                        ["--memory", "99"], ["--allow-read", "/etc/hosts"], ["--allow-write", "/tmp"],
                        ["--allow-domain", "example.com"]):
            result = self.cell("1", *options)
            self.assertEqual((result.code, result.out), (125, b""), options)
            self.assertIn(options[0].encode(), result.err)
        self.assertEqual(self.run_code("--save-outputs", "x", "1").code, 125)
        self.assertEqual(self.cell("1", name="no/name").code, 125)
        self.assertEqual(self.daemons(), [])

    def test_an_empty_cell_is_refused_as_empty_code_is(self):
        self.assertEqual(self.cell(" ").code, 125)


class JsonTest(ContextTestCase):
    def test_one_object_has_everything(self):
        result = self.cell("import sys; print('out'); print('err', file=sys.stderr); display([1]); {'a': 1}", "--json")
        self.assertEqual((result.code, result.err), (0, b""))
        value = result.json
        self.assertLessEqual({"success": True, "stdout": "out\n", "stderr": "err\n", "exit_code": 0, "error": None,
                              "outcome": "exited", "context": "a", "traceback": None, "alive": True, "cell": 1}.items(),
                             value.items())
        self.assertIn(value["start"], ("fork", "exec"))
        self.assertEqual([output["kind"] for output in value["outputs"]], ["display", "result"])
        self.assertEqual(value["outputs"][1]["data"]["application/json"], '{"a": 1}')

    def test_an_error_is_data(self):
        result = self.cell("1/0", "--json")
        self.assertEqual(result.code, 1)
        self.assertEqual(result.json["error"], "ZeroDivisionError: division by zero")
        self.assertIn("1/0", result.json["traceback"])
        self.assertIs(result.json["success"], False)

    def test_a_failure_of_skerry_has_the_same_shape(self):
        result = self.cell("1", "--json", name="no/name")
        self.assertEqual(result.code, 125)
        self.assertEqual((result.json["success"], result.json["error_code"]), (False, "invalid_argument"))

    def test_pictures_stay_base64_and_can_be_saved(self):
        code = "class P:\n    def _repr_png_(self): return b'\\x89PNG'\n    def _repr_html_(self): return '<b>'\nP()"
        place = os.path.join(self.directory("out"), "pictures")
        result = self.cell(code, "--json", "--save-outputs", place)
        self.assertEqual(base64.b64decode(result.json["outputs"][0]["data"]["image/png"]), b"\x89PNG")
        with open(os.path.join(place, "a-1-1.png"), "rb") as file:
            self.assertEqual(file.read(), b"\x89PNG")
        self.assertEqual(sorted(os.listdir(place)), ["a-1-1.html", "a-1-1.png"])


class InterruptTest(ContextTestCase):
    def test_control_c_interrupts_the_cell_and_keeps_the_context(self):
        self.cell("x = 1")
        process = self.start("import time\n"
                             "try:\n    print('go', flush=True)\n    time.sleep(60)\nfinally:\n    print('bye')")
        self.assertEqual(process.stdout.readline(), b"go\n")
        process.send_signal(signal.SIGINT)
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (130, b"bye\n"), err)
        self.assertEqual(self.cell("x").out, b"1\n")

    def test_a_client_who_vanishes_interrupts_the_cell(self):
        process = self.start("print('go', flush=True)\nwhile True: pass")
        self.assertEqual(process.stdout.readline(), b"go\n")
        process.kill()
        self.finish(process)
        self.await_state("a", "idle")
        self.assertEqual(self.cell("1").out, b"1\n")

    def test_a_reader_who_leaves_costs_the_context_nothing(self):
        self.cell("x = 1")
        process = self.start("while True: print('y')")
        self.assertEqual(process.stdout.read(2), b"y\n")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=20), 128 + signal.SIGPIPE)
        process.stderr.close()
        self.await_state("a", "idle")
        self.assertEqual(self.cell("x").out, b"1\n")

    def test_another_client_interrupts_and_deletes_also_what_nobody_reads(self):
        self.cell("x = 1")
        for command in ("interrupt", "delete"):
            process = self.start("while True: print('y' * 1000)")
            self.await_state("a", "busy")
            time.sleep(0.5)  # until no more fits into the pipes
            start = time.monotonic()
            self.assertEqual(self.context(command, "a").code, 0)
            if command == "interrupt":
                self.await_state("a", "idle")
            self.assertLess(time.monotonic() - start, 15)
            self.finish(process)
        self.assertEqual(self.rows(), {})

    def test_interrupt_says_when_there_is_nothing(self):
        self.cell("1")
        self.assertEqual(self.context("interrupt", "a").out, b"nothing is running in a\n")


class CommandTest(ContextTestCase):
    def test_without_a_daemon_there_is_nothing_to_do(self):
        self.assertEqual(self.context("list", "--json").json, [])
        self.assertIn(b"no contexts", self.context("list").out)
        self.assertEqual(self.context("stop").code, 0)
        for command in (("interrupt", "a"), ("restart", "a"), ("delete", "a"), ("fork", "a", "b")):
            result = self.context(*command)
            self.assertEqual(result.code, 125)
            self.assertIn(b"there is no context 'a'", result.err)
        self.assertEqual(self.daemons(), [])

    def test_list_tells_what_there_is(self):
        self.cell("1")
        self.cell("1")
        self.cell("echo", "-l", "shell", name="b")
        rows = self.rows()
        self.assertLessEqual({"language": "python", "state": "idle", "cells": 2}.items(), rows["a"].items())
        self.assertLessEqual({"language": "shell", "state": "idle", "cells": 1}.items(), rows["b"].items())
        self.assertRegex(rows["a"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        text = self.context("list").out.decode().splitlines()
        self.assertEqual([line.split()[0] for line in text], ["NAME", "a", "b"])

    def test_restart_and_delete_forget(self):
        self.cell("x = 1")
        self.assertEqual(self.context("restart", "a").code, 0)
        self.assertEqual(self.cell("'x' in globals()").out, b"False\n")
        self.assertEqual(self.context("delete", "a").out, b"deleted a\n")
        self.assertEqual(self.rows(), {})

    def test_a_fork_has_the_variables_and_files_of_its_own(self):
        self.cell("x = [1]\ndef f(): return len(x)\nopen('file', 'w').write('one')\n"
                  "import threading; lock = threading.Lock()")
        result = self.context("fork", "a", "b")
        self.assertEqual((result.code, result.out), (0, b"forked a into b\n"), result.err)
        self.assertIn(b"not carried over: variable lock", result.err)
        self.assertEqual(self.cell("x.append(2); open('file', 'w').write('two'); f()", name="b").out, b"2\n")
        self.assertEqual(self.cell("f(), open('file').read()").out, b"(1, 'one')\n")
        self.assertEqual(self.context("fork", "a", "b").code, 125)
        self.assertEqual(self.context("fork", "a", "c", "--json").json["variables_left_out"], ["lock"])

    def test_help_of_everything(self):
        for command in ([], ["list"], ["interrupt"], ["restart"], ["fork"], ["delete"], ["stop"]):
            result = self.context(*command, "--help")
            self.assertEqual((result.code, result.err), (0, b""), command)
        self.assertNotIn(b"--on-demand", self.skerry("serve", "--help").out)
        refused = self.skerry("serve", "--on-demand", "5")
        self.assertEqual(refused.code, 125)
        self.assertIn(b"is for skerry itself", refused.err)


class DaemonTest(ContextTestCase):
    def test_many_first_cells_at_once_start_one_daemon(self):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            results = list(pool.map(lambda i: self.cell("1", name=f"c{i}"), range(6)))
        self.assertEqual([(r.code, r.out) for r in results], [(0, b"1\n")] * 6, [r.err for r in results])
        self.assertEqual(len(self.daemons()), 1)
        self.assertEqual(len(self.rows()), 6)

    def test_two_clients_at_once_in_one_context_is_a_conflict(self):
        process = self.start("import time; time.sleep(3)")
        self.await_state("a", "busy")
        result = self.cell("1")
        self.assertEqual(result.code, 125)
        self.assertIn(b"is busy", result.err)
        self.assertEqual(self.finish(process)[0], 0)

    def test_it_ends_by_itself_and_the_next_cell_starts_another(self):
        self.assertEqual(self.cell("x = 1", environment={"SKERRY_CONTEXTS_IDLE": "1"}).code, 0)
        before = self.daemons()
        deadline = time.monotonic() + 30
        while self.daemons():
            self.assertLess(time.monotonic(), deadline, "the daemon does not end")
            time.sleep(0.1)
        self.assertEqual(glob.glob(self.place() + "/*.sock"), [])
        self.assertEqual(self.cell("'x' in globals()").out, b"False\n")
        self.assertNotEqual(self.daemons(), before)

    def test_sigterm_ends_everything(self):
        self.cell("import subprocess; p = subprocess.Popen(['sleep', '1000'])")
        process = self.start("while True: pass", name="b")
        self.await_state("b", "busy")
        os.kill(self.daemons()[0], signal.SIGTERM)
        code, _, err = self.finish(process)
        self.assertEqual(code, 125)
        self.assertIn(b"the daemon of contexts has ended", err)
        self.assertEqual(self.context("list", "--json").json, [])

    def test_one_that_was_killed_is_replaced(self):
        self.cell("x = 1")
        os.kill(self.daemons()[0], signal.SIGKILL)
        deadline = time.monotonic() + 20
        while self.daemons() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.rows(), {})
        self.assertEqual(self.cell("'x' in globals()").out, b"False\n")

    def test_nobody_else_reaches_the_socket(self):
        self.cell("1")
        path, = glob.glob(self.place() + "/*.sock")
        self.assertEqual(stat.S_IMODE(os.stat(self.place()).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)

    def test_a_directory_that_is_open_to_others_is_refused(self):
        self.cell("1")
        self.context("stop")
        os.chmod(self.place(), 0o755)
        result = self.cell("1")
        os.chmod(self.place(), 0o700)
        self.assertEqual(result.code, 126)
        self.assertIn(b"closed to all others", result.err)

    def test_malformed_words_end_that_connection_only(self):
        self.cell("x = 1")
        path, = glob.glob(self.place() + "/*.sock")
        for word in (b"\xff\xff\xff\xff", b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/sessions HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET /v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"\0"):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(20)
                client.connect(path)
                client.sendall(word)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
        self.assertEqual(self.cell("x").out, b"1\n")

    def test_it_is_in_the_runtime_directory_where_there_is_one(self):
        runtime = self.directory("runtime")
        environment = {"XDG_RUNTIME_DIR": runtime}
        self.assertEqual(self.cell("1", environment=environment).out, b"1\n")
        self.assertEqual(len(glob.glob(runtime + "/skerry/*.sock")), 1)
        self.assertEqual(self.context("stop", environment=environment).code, 0)
        self.assertEqual(glob.glob(runtime + "/skerry/*.sock"), [])

    def test_another_build_is_told_apart(self):
        self.cell("1")
        pid, = self.daemons()
        path = os.readlink(f"/proc/{pid}/exe")
        work = self.directory("bin")
        for name in PROGRAMS:
            shutil.copy(os.path.join(os.path.dirname(path), name), work)
        binary = os.path.join(work, "skerry")

        def run(*arguments):
            command = [binary if part == self.binary else part for part in self.command(*arguments)]
            return subprocess.run(command, capture_output=True, env=self.environment(), timeout=60, check=False)

        self.addCleanup(run, "context", "stop")
        self.assertEqual(run("run", "--context", "a", "1").stdout, b"1\n")
        os.remove(binary)
        shutil.copy(path, binary)  # the same path, another file
        result = run("run", "--context", "a", "1")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"another build of skerry; skerry context stop", result.stderr)
        self.assertEqual(run("context", "stop").returncode, 0)
        self.assertEqual(run("run", "--context", "a", "1").stdout, b"1\n")
        self.assertEqual(run("context", "stop").returncode, 0)  # also before the directory goes

    def test_another_configuration_is_heeded_when_there_are_no_contexts(self):
        small = {"SKERRY_SANDBOX__LIMITS__MAX_MEMORY_MB": "100"}
        hungry = "x = b'x' * (300 << 20)"
        self.assertEqual(self.cell(hungry).code, 0)
        before = self.daemons()
        same = self.cell("len(x)", environment=small)
        self.assertEqual((same.code, same.err), (0, b""))
        other = self.cell(hungry, name="b", environment=small)
        self.assertEqual(other.code, 0)
        self.assertIn(b"the configuration has changed", other.err)
        self.assertEqual(self.daemons(), before)
        for name in ("a", "b"):
            self.context("delete", name)
        result = self.cell(hungry, name="b", environment=small)
        self.assertEqual((result.code, b"configuration" in result.err), (137, False))
        self.assertIn(b"(limit 100 MB)", result.err)
        self.assertNotEqual(self.daemons(), before)

    def test_who_comes_while_it_leaves_is_served(self):
        idle = {"SKERRY_CONTEXTS_IDLE": "1"}
        for _ in range(3):
            self.assertEqual(self.cell("x = 1", environment=idle).code, 0)
            self.context("delete", "a")
            deadline = time.monotonic() + 2.5  # it leaves about now
            while time.monotonic() < deadline:
                self.assertEqual(self.cell("x = 1", environment=idle).code, 0)
                self.assertEqual(self.cell("x", environment=idle).out, b"1\n")
                self.assertEqual(self.context("delete", "a").code, 0)
                time.sleep(0.9)

    def test_cells_have_a_record(self):
        self.cell("print('recorded')")
        path, = glob.glob(self.place() + "/*.sock")
        history = self.skerry("history", "command-line", "--json", environment={"SKERRY_URL": "unix:" + path}).json
        self.assertEqual([item["kind"] for item in history if item["kind"] == "cell"], ["cell"])
        self.context("stop")
        audits = glob.glob(os.path.join(self.home, ".skerry", "contexts", "*", "daemon", "audit"))
        audit = max(audits, key=os.path.getmtime)
        events = [json.loads(line)["event"] for line in self.skerry("audit", "export", "--path", audit).out.splitlines()]
        self.assertIn("run.began", events)
        self.assertEqual(self.skerry("audit", "verify", "--path", audit).code, 0)

    def test_it_keeps_nothing_open_of_its_first_client(self):
        read, write = os.pipe()
        subprocess.run(self.command("run", "--context", "a", "1"), env=self.environment(), cwd=self.home, check=True,
                       stdout=subprocess.DEVNULL, pass_fds=[write], timeout=60)
        os.close(write)
        self.assertEqual(os.read(read, 1), b"")
        os.close(read)
        pid, = self.daemons()
        self.assertEqual([os.readlink(f"/proc/{pid}/{name}") for name in ("cwd", "fd/0", "fd/1", "fd/2")],
                         ["/"] + ["/dev/null"] * 3)


if __name__ == "__main__":
    harness.main()
