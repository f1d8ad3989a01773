"""skerry run passes on stdout, stderr and the exit code, byte for byte."""
import hashlib
import json
import os
import signal
import subprocess
import time

import harness


class PassThroughTest(harness.SkerryTest):
    def test_prints_what_the_program_prints(self):
        result = self.run_code("print(6*7)")
        self.assertEqual((result.code, result.out, result.err), (0, b"42\n", b""))

    def test_stdout_and_stderr_stay_apart(self):
        result = self.shell("echo out; echo err >&2; exit 3")
        self.assertEqual((result.code, result.out, result.err), (3, b"out\n", b"err\n"))

    def test_every_byte_arrives(self):
        result = self.run_code("import sys; sys.stdout.buffer.write(bytes(range(256)) * 3); "
                               "sys.stderr.buffer.write(b'\\x00\\xff\\xfe')")
        self.assertEqual(result.out, bytes(range(256)) * 3)
        self.assertEqual(result.err, b"\x00\xff\xfe")

    def test_no_newline_is_added(self):
        self.assertEqual(self.shell("printf x").out, b"x")

    def test_fifty_megabytes_arrive_whole(self):
        code = ("import sys, hashlib\nblock = bytes(range(256)) * 4096\nfor i in range(50): sys.stdout.buffer.write(block)\n")
        result = self.run_code(code)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(result.out), 50 << 20)
        self.assertEqual(hashlib.sha256(result.out).digest(), hashlib.sha256(bytes(range(256)) * 4096 * 50).digest())

    def test_exit_codes_pass_through(self):
        for code in (0, 1, 2, 77, 124, 255):
            self.assertEqual(self.shell(f"exit {code}").code, code)

    def test_a_signal_shows_as_in_a_shell(self):
        self.assertEqual(self.shell("kill -SEGV $$").code, 128 + 11)

    def test_a_reader_who_leaves_ends_the_run(self):
        process = subprocess.Popen(self.command("run", "--language", "shell", "yes"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.read(2), b"y\n")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=20), 128 + signal.SIGPIPE)
        process.stderr.close()

    def test_a_reader_who_stops_reading_does_not_outlive_the_timeout(self):
        process = subprocess.Popen(self.command("run", "--language", "shell", "--timeout", "1", "yes; sleep 100"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.home)
        time.sleep(2)
        self.assertFalse([t for t in harness.traces() - self.before if "skerry-init" in t])
        process.stdout.read()
        self.assertEqual(process.wait(timeout=20), 124)
        process.stdout.close()
        process.stderr.close()


class StandardInputTest(harness.SkerryTest):
    def test_input_reaches_the_program(self):
        result = self.run_code("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])", stdin=b"abc\x00\xff")
        self.assertEqual(result.out, b"\xff\x00cba")

    def test_large_input_reaches_the_program(self):
        result = self.shell("wc -c", stdin=b"x" * (5 << 20))
        self.assertEqual(result.out.strip(), str(5 << 20).encode())

    def test_code_from_stdin(self):
        result = self.run_code("-", stdin=b"print('from stdin')")
        self.assertEqual(result.out, b"from stdin\n")

    def test_code_from_stdin_leaves_no_input(self):
        result = self.run_code("-", stdin=b"import sys; print(repr(sys.stdin.read()))")
        self.assertEqual(result.out, b"''\n")

    def test_a_program_that_does_not_read_is_not_waited_for(self):
        read, write = os.pipe()
        try:
            process = subprocess.run(self.command("run", "print(1)"), stdin=read, capture_output=True, timeout=30,
                                     env=self.environment(), cwd=self.home, check=False)
        finally:
            os.close(read)
            os.close(write)
        self.assertEqual(process.stdout, b"1\n")

    def closed(self, redirection, *arguments):
        return subprocess.run(["bash", "-c", f'exec "$@" {redirection}', "bash", *self.command(*arguments)],
                              capture_output=True, timeout=30, env=self.environment(), cwd=self.home, check=False)

    def test_closed_standard_input_is_the_end_of_it(self):
        process = self.closed("<&-", "run", "import sys; print(repr(sys.stdin.read()))")
        self.assertEqual(process.stdout, b"''\n", process.stderr)

    def test_closed_standard_output_is_nobodys(self):
        process = self.closed(">&-", "run", "import sys; print('out'); print('err', file=sys.stderr)")
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, b"", b"err\n"))
        self.assertEqual(self.closed(">&- 2>&- <&-", "run", "print(1)").returncode, 0)

    def test_input_that_another_takes_does_not_hold_up_the_timeout(self):
        read, write = os.pipe()
        start = time.monotonic()
        both = [subprocess.Popen(self.command("run", "--timeout", "1", "import time; time.sleep(60)"), stdin=read,
                                 stderr=subprocess.DEVNULL, env=self.environment(), cwd=self.home) for _ in range(3)]
        for _ in range(20):
            os.write(write, b"x")
            time.sleep(0.03)
        for process in both:
            self.assertEqual(process.wait(timeout=20), 124)
        self.assertLess(time.monotonic() - start, 10)
        os.close(read)
        os.close(write)


class LanguageTest(harness.SkerryTest):
    def test_javascript(self):
        result = self.run_code("-l", "javascript", "console.log([1, 2].map(x => x * 2).join())")
        self.assertEqual(result.out, b"2,4\n", result.err)

    def test_javascript_modules(self):
        result = self.run_code("-l", "javascript",
                               "import path from 'path'; console.log(path.join('a', 'b')); await null;")
        self.assertEqual(result.out, b"a/b\n", result.err)

    def test_javascript_errors_exit_with_one(self):
        result = self.run_code("-l", "javascript", "throw new Error('boom')")
        self.assertEqual(result.code, 1)
        self.assertIn(b"boom", result.err)

    def test_javascript_requires_files_of_the_workspace(self):
        work = self.directory("work")
        with open(os.path.join(work, "lib.js"), "w", encoding="utf-8") as file:
            file.write("module.exports = 5")
        os.chmod(os.path.join(work, "lib.js"), 0o644)
        result = self.run_code("-w", work, "-l", "javascript", "console.log(require('./lib.js'))")
        self.assertEqual(result.out, b"5\n", result.err)

    def test_python_imports_modules_of_the_workspace(self):
        work = self.directory("work")
        with open(os.path.join(work, "lib.py"), "w", encoding="utf-8") as file:
            file.write("value = 5")
        os.chmod(os.path.join(work, "lib.py"), 0o644)
        self.assertEqual(self.run_code("-w", work, "import lib; print(lib.value, __name__)").out, b"5 __main__\n")

    def test_a_python_traceback_shows_the_program_and_nothing_else(self):
        result = self.run_code("def f():\n    return 1/0\nf()\n")
        self.assertEqual(result.code, 1)
        self.assertIn(b"return 1/0", result.err)
        self.assertEqual(result.err.count(b"File "), 2, result.err)

    def test_python_syntax_errors_show_the_line(self):
        result = self.run_code("x = (\n")
        self.assertEqual(result.code, 1)
        self.assertIn(b"SyntaxError", result.err)

    def test_programs_larger_than_an_argument_may_be(self):
        padding = "#" + "x" * 300_000 + "\n"
        self.assertEqual(self.run_code("-", stdin=(padding + "print('end')").encode()).out, b"end\n")
        self.assertEqual(self.run_code("-l", "shell", "-", stdin=(padding + "echo end").encode()).out, b"end\n")
        self.assertEqual(self.run_code("-l", "javascript", "-", stdin=("//" + padding + "console.log('end')").encode()).out,
                         b"end\n")

    def test_a_file_tells_its_language(self):
        work = self.directory("code")
        for name, text in (("a.py", "print('py')"), ("a.js", "console.log('js')"), ("a.sh", "echo sh"), ("noext", "print('py')")):
            path = os.path.join(work, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o644)
            expected = {"a.py": b"py\n", "a.js": b"js\n", "a.sh": b"sh\n", "noext": b"py\n"}[name]
            self.assertEqual(self.run_code("-f", path).out, expected)

    def test_shell_errors_name_the_line(self):
        self.assertIn(b"line 2", self.shell("true\nno-such-program").err)

    def test_shell_keeps_its_own_arguments_and_here_documents(self):
        self.assertEqual(self.shell("cat <<X\na $((1+1))\nX\n").out, b"a 2\n")

    def test_no_descriptor_of_ours_is_left_open(self):
        result = self.shell("ls /proc/self/fd | tr '\\n' ' '")
        self.assertEqual(result.out, b"0 1 2 3 ")  # 3 is the directory that ls reads
        python = self.run_code("import os; print(sorted(os.listdir('/proc/self/fd')))")
        self.assertEqual(python.out, b"['0', '1', '2', '3']\n")


class JsonTest(harness.SkerryTest):
    def test_has_the_names_of_the_specification(self):
        result = self.run_code("--json", "print('hi')")
        self.assertEqual(result.code, 0)
        self.assertLessEqual({"success", "stdout", "stderr", "exit_code", "error", "sandbox_type", "execution_time_ms",
                              "files_created", "degraded"}, result.json.keys())
        self.assertEqual(result.json["stdout"], "hi\n")
        self.assertEqual(result.json["sandbox_type"], "native")
        self.assertIs(result.json["success"], True)
        self.assertIsNone(result.json["error"])

    def test_escapes_everything(self):
        result = self.run_code("--json", r"import sys; sys.stdout.buffer.write(b'\"\\\x00\x1b[31m\xff\n')")
        self.assertEqual(result.json["stdout"], "\"\\\x00\x1b[31m\ufffd\n")
        self.assertEqual(result.json["stdout_base64"], "IlwAG1szMW3/Cg==")
        self.assertEqual(result.out.count(b"\n"), 1)

    def test_says_when_output_was_cut(self):
        result = self.shell("head -c 12000000 /dev/zero | tr '\\0' x", "--json")
        self.assertIs(result.json["output_truncated"], True)
        self.assertEqual(len(result.json["stdout"]), 10 << 20)
        self.assertEqual(result.json["output_bytes"], 12_000_000)

    def test_lists_created_files(self):
        result = self.shell("mkdir -p a; touch a/b c", "--json")
        self.assertEqual(result.json["files_created"], ["a/b", "c"])

    def test_a_failure_of_the_program_is_a_result(self):
        result = self.shell("exit 4", "--json")
        self.assertEqual((result.code, result.json["exit_code"], result.json["success"]), (4, 4, False))

    def test_a_result_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run(self.command("run", "--json", "print(1)"), stdout=full, stderr=subprocess.PIPE,
                                     env=self.environment(), cwd=self.home, check=False)
        self.assertEqual(process.returncode, 125)
        self.assertIn(b"cannot write", process.stderr)

    def test_an_error_is_an_object_too(self):
        result = self.run_code("--json", "--timeout", "0", "x")
        self.assertEqual(result.code, 125)
        self.assertIs(result.json["success"], False)
        self.assertIn("timeout", result.json["error"])


class WorkspaceTest(harness.SkerryTest):
    def test_a_persons_directory_is_the_workspace(self):
        work = self.directory("work")
        with open(os.path.join(work, "old"), "w", encoding="utf-8") as file:
            file.write("old")
        if harness.AS_USER:
            os.chown(os.path.join(work, "old"), harness.PLAIN_ID, harness.PLAIN_ID)
        result = self.shell("pwd; cat old; echo new > new; echo changed > old", "--workspace", work)
        self.assertEqual(result.out, b"/workspace\nold", result.err)
        for name in ("new", "old"):
            facts = os.stat(os.path.join(work, name))
            self.assertEqual(facts.st_uid, os.stat(work).st_uid, name)

    def test_without_one_nothing_is_kept(self):
        self.assertEqual(self.shell("ls -A | wc -l; touch x").out, b"0\n")
        self.assertEqual(self.shell("ls -A | wc -l").out, b"0\n")

    def test_permissive_mode_gives_the_subprocess_that_was_asked_for(self):
        result = self.shell("echo $PWD; touch made", "--mode", "permissive", "--sandbox", "subprocess", "--json")
        self.assertEqual(result.json["sandbox_type"], "subprocess", result.out)
        self.assertEqual(result.json["files_created"], ["made"])

    def test_strict_mode_gives_the_stronger_sandbox(self):
        result = self.shell("true", "--sandbox", "subprocess", "--json")
        self.assertEqual(result.json["sandbox_type"], "native")


if __name__ == "__main__":
    harness.main()
