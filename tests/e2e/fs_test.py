"""skerry fs: the files of a session from outside, with names, links, archives and sizes that mean harm."""
import base64
import hashlib
import io
import json
import os
import pty
import signal
import stat
import subprocess
import tarfile

import harness
import sessions

MEGABYTE = 1 << 20
HOSTILE_NAMES = [b"line\nbreak", b"esc\x1b]0;owned\x07", b"not\xff\xfeutf8", b"-dash", b"--json",
                 "over\u202eride".encode(), b"sp ace", b"x" * 255, b"$(touch owned)", b"a:1:b"]
TRAVERSALS = ["../../etc/passwd", "/../../../etc/passwd", "data/../../x", "/workspace/../../etc/passwd", "..",
              "../s2/x"]


class ReadWriteTest(sessions.SessionTest):
    def test_every_byte_comes_back(self):
        content = bytes(range(256)) * 5 + b"no end of line"
        self.write("data/any.bin", content)
        self.assertEqual(self.read("data/any.bin"), content)

    def test_the_forms_of_a_path_are_one_file(self):
        self.write("/workspace/data/a", b"1")
        self.assertEqual([self.read(path) for path in ("data/a", "/data/a", "./data/a")], [b"1"] * 3)

    def test_parts_of_a_file(self):
        self.write("f", b"one\ntwo\nthree\nfour")
        rows = [(("--lines", "2"), b"two\nthree\nfour"), (("--lines", "2:3"), b"two\nthree\n"),
                (("--lines", "4:9"), b"four"), (("--lines", "9"), b""), (("--lines", "1:1"), b"one\n"),
                (("--bytes", "4"), b"two\nthree\nfour"), (("--bytes", "4:3"), b"two"), (("--bytes", "999"), b""),
                (("--bytes", "0:0"), b"")]
        for arguments, expected in rows:
            result = self.fs("read", "f", *arguments)
            self.assertEqual((result.code, result.out, result.err), (0, expected, b""), arguments)

    def test_lines_across_the_blocks_that_are_read(self):
        lines = [b"%d %s\n" % (n, b"x" * 1000) for n in range(1000)]
        self.write("f", b"".join(lines))
        self.assertEqual(self.fs("read", "f", "--lines", "200:900").out, b"".join(lines[199:900]))

    def test_parts_that_make_no_sense_are_refused(self):
        self.write("f")
        for arguments in (("--lines", "0"), ("--lines", "3:2"), ("--lines", "a"), ("--lines", ""), ("--lines", "1:"),
                          ("--bytes", "-1"), ("--bytes", "1:2:3"), ("--lines", "1", "--bytes", "1"),
                          ("--bytes", "99999999999999999999")):
            result = self.fs("read", "f", *arguments)
            self.assertEqual((result.code, result.out), (125, b""), arguments)

    def test_a_written_file_is_told(self):
        result = self.fs("write", "a/b", "--json", "--mode", "750", stdin=b"hello")
        self.assertEqual(result.json, {"path": "a/b", "action": "created", "kind": "file", "size": 5, "mode": "0750",
                                       "sha256": hashlib.sha256(b"hello").hexdigest()})
        self.assertEqual(stat.S_IMODE(os.stat(self.workspace("a/b")).st_mode), 0o750)
        self.assertEqual(self.fs("write", "a/b", stdin=b"x").out, b"changed a/b: 1 byte\n")
        for mode in ("", "8", "1777", "-1", "rwx"):
            self.assertEqual(self.fs("write", "a/c", "--mode", mode).code, 125, mode)

    def test_nothing_is_replaced_against_the_will_of_the_caller(self):
        self.write("f", b"old")
        digest = hashlib.sha256(b"old").hexdigest()
        for arguments in (("--no-replace",), ("--expect", "0" * 64), ("--expect", ""), ("--expect", "nonsense")):
            result = self.fs("write", "f", *arguments, stdin=b"new")
            self.assertEqual((result.code, self.read("f")), (125, b"old"), arguments)
        self.assertEqual(self.fs("write", "f", "--expect", digest, stdin=b"new").code, 0)
        self.assertEqual(self.read("f"), b"new")
        self.assertEqual(self.fs("write", "missing", "--expect", digest, stdin=b"new").code, 125)

    def test_content_from_a_file(self):
        path = os.path.join(self.directory("own"), "f")
        with open(path, "wb") as file:
            file.write(b"mine")
        os.chmod(path, 0o644)
        self.assertEqual(self.fs("write", "f", "--from", path, stdin=b"not this").code, 0)
        self.assertEqual(self.read("f"), b"mine")
        for missing in (path + "x", os.path.dirname(path), ""):
            self.assertEqual(self.fs("write", "f", "--from", missing).code, 125, missing)
        self.assertEqual(self.read("f"), b"mine")

    def test_append(self):
        self.assertEqual(self.fs("append", "log", stdin=b"1\n").out, b"created log: 2 bytes\n")
        self.assertEqual(self.fs("append", "log", "--json", stdin=b"2\n").json["action"], "changed")
        self.assertEqual(self.read("log"), b"1\n2\n")

    def test_without_stdin_nothing_is_written(self):
        self.write("f", b"old")
        for command in ("write", "append"):
            process = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *self.command("fs", command, "s", "f")],
                                     env=self.environment(), capture_output=True, cwd=self.home, check=False)
            self.assertEqual((process.returncode, self.read("f")), (125, b"old"), process.stderr)

    def test_a_reader_who_leaves_is_no_error(self):
        self.write("f", b"x" * MEGABYTE)
        for disposition, code in ((signal.SIG_DFL, -signal.SIGPIPE), (signal.SIG_IGN, 128 + signal.SIGPIPE)):
            process = subprocess.Popen(self.command("fs", "read", "s", "f"), stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=self.environment(), cwd=self.home,
                                       restore_signals=False,
                                       preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))
            self.assertEqual(process.stdout.read(1), b"x")
            process.stdout.close()
            self.assertEqual((process.wait(20), process.stderr.read()), (code, b""))
            process.stderr.close()

    def test_reading_does_not_wait_for_a_writer(self):
        self.write("f", b"old")
        writer = subprocess.Popen(self.command("fs", "write", "s", "f"), stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, env=self.environment(), cwd=self.home)
        writer.stdin.write(b"new")
        writer.stdin.flush()
        self.assertEqual(self.read("f"), b"old")
        self.assertEqual(self.fs("list").code, 0)
        writer.communicate(timeout=20)
        self.assertEqual((writer.returncode, self.read("f")), (0, b"new"))

    def test_what_a_run_in_the_session_says_can_be_kept_in_the_session(self):
        runner = subprocess.Popen(self.command("run", "-l", "shell", "--session", "s", "head -c 1000000 /dev/zero"),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.environment(),
                                  cwd=self.home)
        process = subprocess.run(self.command("fs", "write", "s", "f"), stdin=runner.stdout, env=self.environment(),
                                 capture_output=True, cwd=self.home, timeout=60, check=False)
        runner.stdout.close()
        self.assertEqual((runner.wait(20), process.returncode, process.stderr), (0, 0, b""))
        self.assertEqual(self.read("f"), bytes(1_000_000))

    def test_a_writer_who_is_killed_leaves_the_old_file_and_nothing_else(self):
        self.write("f", b"old")
        writer = subprocess.Popen(self.command("fs", "write", "s", "f"), stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, env=self.environment(), cwd=self.home)
        writer.stdin.write(b"new" * MEGABYTE)
        writer.stdin.flush()
        writer.kill()
        writer.wait(20)
        writer.stdin.close()
        names = os.listdir(self.workspace())
        self.write("g")
        self.assertEqual((self.read("f"), sorted(os.listdir(self.workspace()))), (b"old", sorted(names + ["g"])))

    def test_a_session_that_is_not_there(self):
        for command in (("read", "none", "f"), ("write", "none", "f"), ("list", "none"), ("delete", "none", "f")):
            result = self.skerry("fs", *command)
            self.assertEqual((result.code, result.out), (125, b""))
            self.assertIn(b"there is no session none", result.err)
        for name in ("../s", ".skerry", "", "s/data"):
            result = self.skerry("fs", "read", name, "f")
            self.assertEqual((result.code, result.out), (125, b""), name)

    def test_errors_for_programs(self):
        result = self.fs("stat", "none", "--json")
        self.assertEqual((result.code, result.json["success"], result.json["error_code"]), (125, False, "not_found"))
        self.assertEqual(result.json["exit_code"], 125)
        result = self.fs("write", "../x", "--json")
        self.assertEqual((result.code, result.json["error_code"]), (126, "path_escapes_workspace"))

    def test_every_command_has_an_example(self):
        for command in ("read", "write", "append", "edit", "list", "stat", "mkdir", "move", "copy", "delete", "search",
                        "import", "export"):
            result = self.skerry("fs", command, "--help")
            self.assertEqual(result.code, 0)
            self.assertIn(f"skerry fs {command} ".encode(), result.out)


@harness.once
class HugeTest(sessions.SessionTest):
    SIZE = 200 * MEGABYTE
    MAX_KILOBYTES = 96 * 1024

    def setUp(self):
        super().setUp()
        self.daemon.reset_peak()
        self.level = self.daemon.memory()

    def tearDown(self):
        self.assertLess(self.daemon.memory("VmHWM") - self.level, self.MAX_KILOBYTES * 1024)
        super().tearDown()

    def measured(self, *arguments, stdin=None):
        """Exit code, number of bytes on stdout, peak of memory in kilobytes."""
        process = subprocess.Popen(self.command("fs", *arguments), stdin=stdin or subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, env=self.environment(), cwd=self.home)
        count = 0
        while block := process.stdout.read(MEGABYTE):
            count += len(block)
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, count, usage.ru_maxrss

    def test_a_file_is_never_in_memory_as_a_whole(self):
        path = self.plant("huge", b"")
        os.truncate(path, self.SIZE)
        for arguments in (("read", "s", "huge"), ("read", "s", "huge", "--lines", "1:9"),
                          ("export", "s", "huge", "--format", "tar")):
            code, count, peak = self.measured(*arguments)
            self.assertEqual(code, 0)
            self.assertGreaterEqual(count, self.SIZE)
            self.assertLess(peak, self.MAX_KILOBYTES, arguments)
        with open(path, "rb") as file:
            code, _, peak = self.measured("write", "s", "copy", stdin=file)
        self.assertEqual((code, os.stat(self.workspace("copy")).st_size), (0, self.SIZE))
        self.assertLess(peak, self.MAX_KILOBYTES)

    def test_a_directory_is_never_in_memory_as_a_whole(self):
        os.mkdir(self.workspace("many"))
        for number in range(20_000):
            os.close(os.open(self.workspace("many", f"{'n' * 200}{number:05}"), os.O_CREAT | os.O_WRONLY))
        self.give(self.workspace("many"))
        code, count, peak = self.measured("list", "s", "many", "--json")
        self.assertEqual(code, 0)
        self.assertGreater(count, 20_000 * 200)
        self.assertLess(peak, self.MAX_KILOBYTES)


class HostileTest(sessions.SessionTest):
    def test_names_of_any_bytes(self):
        for name in HOSTILE_NAMES:
            self.write(name, b"content of " + name)
            self.assertEqual(self.read(name), b"content of " + name)
        listing = self.fs("list", "--json").json
        names = {base64.b64decode(row["path_base64"]) if "path_base64" in row else row["path"].encode()
                 for row in listing["entries"]}
        self.assertLessEqual(set(HOSTILE_NAMES), names)
        for arguments in (("list",), ("stat", HOSTILE_NAMES[1]), ("search", "content"), ("search", "--glob", "*"),
                          ("copy", HOSTILE_NAMES[0], HOSTILE_NAMES[1]), ("delete", "--", HOSTILE_NAMES[2])):
            result = self.fs(*arguments)
            self.assertEqual(result.code, 0, result.err)
            for stream in (result.out, result.err):
                text = stream.decode()  # fails for what is no UTF-8
                self.assertEqual([c for c in text if c < " " and c != "\n" or c in "\u202e\x7f"], [], arguments)
                self.assertNotIn("break", [line[:5] for line in text.split("\n")])

    def test_an_error_shows_control_characters(self):
        result = self.fs("read", "x\x1b[2J\ny")
        self.assertEqual((result.code, result.err.count(b"\n")), (125, 1))
        self.assertNotIn(b"\x1b", result.err)

    def test_no_path_leads_out(self):
        self.write("f")
        outside = os.path.join(self.home, "sessions", "s2")
        archive = self.plant("a.tar", tar_of({"x": b"x"}))
        for path in TRAVERSALS:
            for command in (("read", path), ("write", path), ("append", path), ("list", path), ("stat", path),
                            ("edit", path, "--replace", "a", "--with", "b"), ("mkdir", "-p", path),
                            ("delete", "-r", path), ("move", "f", path), ("move", path, "g"),
                            ("copy", path, "g"), ("copy", "f", path),
                            ("search", "root", "--path", path), ("export", path, "--format", "tar"),
                            ("import", archive, path)):
                result = self.fs(*command, stdin=b"owned")
                self.assertEqual((result.code, result.out), (126, b""), command)
                self.assertIn(b"leads out of the workspace", result.err)
        self.assertFalse(os.path.exists(outside))
        self.assertEqual(self.read("f"), b"x\n")

    def test_no_link_leads_out(self):
        secret = os.path.join(self.directory("secret"), "key")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("secret")
        os.chmod(secret, 0o666)
        os.symlink(secret, self.workspace("link"))
        os.symlink(os.path.dirname(secret), self.workspace("way"))
        os.symlink("/proc/self/root" + secret, self.workspace("magic"))
        for path in ("link", "way/key", "magic"):
            for command in (("read", path), ("append", path), ("edit", path, "--replace", "secret", "--with", "x")):
                result = self.fs(*command, stdin=b"owned")
                self.assertEqual((result.code, result.out), (126, b""), command)
        self.fs("write", "way/key", stdin=b"owned")
        self.assertEqual(self.fs("search", "secret").code, 1)
        with open(secret, encoding="utf-8") as file:
            self.assertEqual(file.read(), "secret")
        exported = tarfile.open(fileobj=io.BytesIO(self.fs("export", "--format", "tar").out))
        self.assertNotIn(b"secret", b"".join(exported.extractfile(each).read() for each in exported if each.isfile()))
        self.assertIn(b" -> ", self.fs("list").out)
        self.assertEqual(self.fs("delete", "-r", "way").code, 0)
        self.assertTrue(os.path.exists(secret))

    def test_what_is_no_file_is_answered_at_once(self):
        os.mkfifo(self.workspace("fifo"))
        self.give(self.workspace("fifo"))
        for command in (("read", "fifo"), ("read", "data"), ("write", "data"), ("append", "fifo"),
                        ("edit", "fifo", "--insert", "1", "--text", "x")):
            result = self.fs(*command, stdin=b"x", timeout=20)
            self.assertEqual((result.code, result.out), (125, b""), command)

    def test_the_workspace_cannot_grow_beyond_its_quota(self):
        self.with_settings(SKERRY_SANDBOX__WORKSPACE__MAX_SIZE_MB="1")
        self.write("f", b"old")
        for command in (("write", "f"), ("append", "f"), ("write", "g")):
            result = self.fs(*command, stdin=b"x" * (2 * MEGABYTE))
            self.assertEqual(result.code, 125, command)
            self.assertEqual(self.read("f"), b"old")
        self.assertEqual(self.fs("write", "f", "--json", stdin=b"x" * (2 * MEGABYTE)).json["error_code"], "too_large")
        result = self.fs("import", "-", stdin=tar_of({"a": b"1", "big": b"x" * 2 * MEGABYTE}))
        self.assertEqual((result.code, os.path.exists(self.workspace("a"))), (125, False))


class EditTest(sessions.SessionTest):
    TEXT = b"one\r\ntwo\r\ntwo\r\n"

    def setUp(self):
        super().setUp()
        self.write("f", self.TEXT)

    def edit(self, *arguments, **options):
        return self.fs("edit", "f", *arguments, **options)

    def test_replacing(self):
        self.assertEqual(self.edit("--replace", "one\n", "--with", "[1]\n").code, 0)
        self.assertEqual(self.edit("--replace", "two", "--with", "", "--all", "--json").json["replacements"], 2)
        self.assertEqual(self.read("f"), b"[1]\r\n\r\n\r\n")

    def test_a_text_may_look_like_an_option_or_a_list(self):
        self.assertEqual(self.edit("--replace", "one", "--with", "--all").code, 0)
        self.assertEqual(self.edit("--replace", "--all", "--with", "[a,b]").code, 0)
        self.assertEqual(self.read("f"), b"[a,b]\r\ntwo\r\ntwo\r\n")

    def test_inserting(self):
        self.assertEqual(self.edit("--insert", "2", "--text", "x\ny").code, 0)
        self.assertEqual(self.edit("--insert", "6", "--text", "end").code, 0)
        self.assertEqual(self.read("f"), b"one\r\nx\r\ny\r\ntwo\r\ntwo\r\nend\r\n")

    def test_several_edits_or_none(self):
        edits = [{"replace": "one", "with": "1"}, {"insert": 1, "text": "head"},
                 {"replace": "two", "with": "2", "count": "all"}]
        result = self.edit("--edits", "-", "--json", stdin=json.dumps(edits).encode())
        self.assertEqual((result.json["replacements"], result.json["insertions"]), (3, 1))
        self.assertEqual(result.json["change"]["sha256"], hashlib.sha256(self.read("f")).hexdigest())
        self.assertEqual(self.read("f"), b"head\r\n1\r\n2\r\n2\r\n")
        before = self.read("f")
        result = self.edit("--edits", "-", stdin=json.dumps([*edits[1:2], {"replace": "no", "with": ""}]).encode())
        self.assertEqual((result.code, self.read("f")), (125, before))
        self.assertIn(b"edit 2 of 2", result.err)
        for nonsense in (b"", b"{}", b"[]", b"[1]", b'[{"replace": "1"}]', b'[{"replace": "1", "with": "2", "al": 1}]'):
            self.assertEqual((self.edit("--edits", "-", stdin=nonsense).code, self.read("f")), (125, before))

    def test_what_is_not_there_is_told_with_what_comes_nearest(self):
        self.write("f", b"def f():\n\treturn  1  # \x1b[2Jx\n\nother\n")
        result = self.edit("--replace", "def f():\n    return 1  # x\n", "--with", "x")
        self.assertEqual((result.code, result.out), (125, b""))
        lines = result.err.decode().split("\n")
        self.assertIn("edit 1 of 1", lines[0])
        self.assertTrue(lines[1].startswith("  1| def f():"), lines)
        self.assertNotIn("\x1b", result.err.decode())

    def test_a_text_that_is_there_too_often(self):
        result = self.edit("--replace", "two", "--with", "2")
        self.assertEqual((result.code, self.read("f")), (125, self.TEXT))
        self.assertIn(b"2, 3", result.err)
        self.assertEqual(self.edit("--replace", "two", "--with", "2", "--count", "2").code, 0)

    def test_a_file_that_is_not_as_expected(self):
        arguments = ("--replace", "one", "--with", "1", "--expect")
        for digest in ("0" * 64, "", "x"):
            self.assertEqual((self.edit(*arguments, digest).code, self.read("f")), (125, self.TEXT))
        self.assertEqual(self.edit(*arguments, hashlib.sha256(self.TEXT).hexdigest()).code, 0)

    def test_edits_that_make_no_sense(self):
        for arguments in ((), ("--replace", "one"), ("--with", "x"), ("--insert", "1"), ("--text", "x"),
                          ("--replace", "one", "--with", "1", "--insert", "1", "--text", "x"),
                          ("--replace", "two", "--with", "2", "--all", "--count", "2"),
                          ("--replace", "one", "--with", "1", "--count", "0"), ("--replace", "", "--with", "x"),
                          ("--insert", "99", "--text", "x"), ("--insert", "-1", "--text", "x"),
                          ("--edits", "/nowhere")):
            self.assertEqual((self.edit(*arguments).code, self.read("f")), (125, self.TEXT), arguments)


class TreeTest(sessions.SessionTest):
    def test_listing(self):
        self.write("d/file", b"12345")
        self.write("d/sub/x")
        os.symlink("file", self.workspace("d/link"))
        rows = [line.split() for line in self.fs("list", "d").out.decode().splitlines()]
        self.assertEqual(rows[0], ["KIND", "SIZE", "CHANGED", "NAME"])
        self.assertEqual([[row[0], row[1], *row[3:]] for row in rows[1:]],
                         [["file", "5", "file"], ["link", "-", "link", "->", "file"], ["directory", "-", "sub/"]])
        entries = self.fs("list", "d", "--json").json
        self.assertIsNone(entries["next"])
        self.assertEqual([(row["path"], row["kind"], row["size"], row["target"]) for row in entries["entries"]],
                         [("d/file", "file", 5, None), ("d/link", "link", None, "file"),
                          ("d/sub", "directory", None, None)])
        self.assertEqual(entries["entries"][0], self.fs("stat", "d/file", "--json").json)
        self.assertEqual(self.fs("list", "d/sub", "--after", "x", "--json").json, {"entries": [], "next": None})

    def test_pages(self):
        os.mkdir(self.workspace("many"))
        names = [f"{number:04}" for number in range(2500)]
        for name in names:
            os.close(os.open(self.workspace("many", name), os.O_CREAT | os.O_WRONLY))
        self.give(self.workspace("many"))
        entries = self.fs("list", "many", "--json").json["entries"]
        self.assertEqual([os.path.basename(row["path"]) for row in entries], names)
        self.assertEqual(len(self.fs("list", "many").out.splitlines()), 2501)
        page = self.fs("list", "many", "--json", "--limit", "1200").json
        self.assertEqual((len(page["entries"]), page["next"]), (1200, "1199"))
        page = self.fs("list", "many", "--json", "--limit", "5000", "--after", page["next"]).json
        self.assertEqual((len(page["entries"]), page["next"]), (1300, None))

    def test_moving_copying_and_deleting(self):
        self.write("a/x", b"1")
        self.write("a/y", b"2")
        self.assertEqual(self.fs("mkdir", "b/c").code, 125)
        self.assertEqual(self.fs("mkdir", "-p", "b/c").code, 0)
        self.assertEqual(self.fs("copy", "a", "b/a").out, b"copied a to b/a\n+ b/a/x\n+ b/a/y\n")
        changes = self.fs("move", "b/a/x", "z", "--json").json["changes"]
        self.assertEqual([(row["action"], row["path"]) for row in changes], [("removed", "b/a/x"), ("created", "z")])
        self.assertEqual(self.fs("move", "a/y", "z", "--no-replace").code, 125)
        self.assertEqual((self.read("z"), self.read("a/y")), (b"1", b"2"))
        self.assertEqual(self.fs("delete", "a").code, 125)
        self.assertEqual(self.fs("delete", "-r", "a").out, b"deleted a\n- a/x\n- a/y\n")
        self.assertFalse(os.path.exists(self.workspace("a")))
        self.assertNotEqual(self.fs("delete", "-r", "/").code, 0)
        self.assertTrue(os.path.isdir(self.workspace("data")))


class SearchTest(sessions.SessionTest):
    def setUp(self):
        super().setUp()
        self.write("src/a.py", b"import os\n\nprint('TODO')\n# todo: x+y\n")
        self.write("src/b.txt", b"TODO\n")
        self.write("src/c.bin", b"TODO\0TODO")

    def test_as_grep_tells_it(self):
        result = self.fs("search", "TODO")
        self.assertEqual((result.code, result.out), (0, b"src/a.py:3:print('TODO')\nsrc/b.txt:1:TODO\n"))
        self.assertIn(b"1 binary", result.err)
        self.assertEqual(self.fs("search", "todo", "-i", "--glob", "*.py").out.count(b"\n"), 2)
        self.assertEqual(self.fs("search", "-F", "x+y", "--path", "src").out, b"src/a.py:4:# todo: x+y\n")
        self.assertEqual(self.fs("search", "TODO", "--path", "src/a.py", "-C", "1").out,
                         b"src/a.py-2-\nsrc/a.py:3:print('TODO')\nsrc/a.py-4-# todo: x+y\n")
        self.assertEqual(self.fs("search", "--glob", "*.{py,txt}").out, b"src/a.py\nsrc/b.txt\n")
        self.assertEqual(self.fs("search", "--", "-nothing").code, 1)

    def test_for_programs(self):
        result = self.fs("search", "TODO", "--json").json
        self.assertEqual([(row["path"], row["line"], row["column"]) for row in result["matches"]],
                         [("src/a.py", 3, 8), ("src/b.txt", 1, 1)])
        self.assertEqual((result["complete"], result["binary_files"]), (True, 1))
        nothing = self.fs("search", "nothing", "--json")
        self.assertEqual((nothing.code, nothing.json["matches"]), (1, []))
        limited = self.fs("search", "TODO", "--json", "--limit", "1").json
        self.assertEqual((len(limited["matches"]), limited["complete"]), (1, False))

    def test_more_matches_than_a_page(self):
        self.write("big", b"match me\n" * 2500)
        self.assertEqual(self.fs("search", "match").out,
                         b"".join(b"big:%d:match me\n" % number for number in range(1, 2501)))
        self.assertEqual(self.fs("search", "match", "--limit", "1500").out.count(b"\n"), 1500)

    def test_what_makes_no_sense(self):
        for arguments in ((), ("(",), ("x", "--context", "21"), ("x", "--limit", "0"), ("x", "--glob", "[")):
            result = self.fs("search", *arguments)
            self.assertEqual((result.code, result.out), (125, b""), arguments)


class ArchiveTest(sessions.SessionTest):
    FILES = {"a": b"1", "deep/er/b": bytes(range(256)), "empty": b""}

    def furnish(self):
        for name, content in self.FILES.items():
            self.write("tree/" + name, content)
        os.chmod(self.workspace("tree/a"), 0o755)
        os.symlink("deep/er/b", self.workspace("tree/link"))

    def contents(self, directory):
        return {name: self.read(f"{directory}/{name}") for name in self.FILES}

    def test_there_and_back(self):
        self.furnish()
        for form in ("tar", "tar.gz", "zip"):
            packed = self.fs("export", "tree", "--format", form)
            self.assertEqual(packed.code, 0, packed.err)
            result = self.fs("import", "-", "back-" + form, "--json", stdin=packed.out)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual({row["path"].partition("/")[2] for row in result.json["changes"]}, {*self.FILES, "link"})
            self.assertEqual(self.contents("back-" + form), self.FILES)
            self.assertEqual(os.readlink(self.workspace(f"back-{form}/link")), "deep/er/b")
            self.assertEqual(stat.S_IMODE(os.stat(self.workspace(f"back-{form}/a")).st_mode), 0o755)

    def test_other_programs_read_it(self):
        self.furnish()
        target = self.directory("out")
        self.assertEqual(self.fs("export", "tree", "-o", os.path.join(target, "x.zip")).code, 0)
        self.assertEqual(self.fs("export", "tree", "-o", os.path.join(target, "x.tar.gz")).code, 0)
        self.assertEqual(sorted(os.listdir(target)), ["x.tar.gz", "x.zip"])
        subprocess.run(["python3", "-m", "zipfile", "-t", os.path.join(target, "x.zip")], check=True,
                       stdout=subprocess.DEVNULL)
        with tarfile.open(os.path.join(target, "x.tar.gz")) as archive:
            self.assertEqual(archive.extractfile("deep/er/b").read(), self.FILES["deep/er/b"])

    def test_an_export_that_fails_leaves_the_old_file(self):
        target = self.directory("out")
        path = os.path.join(target, "x.tar")
        with open(path, "wb") as file:
            file.write(b"old")
        self.assertEqual(self.fs("export", "missing", "-o", path).code, 125)
        self.assertEqual(self.fs("export", "-o", os.path.join(target, "none", "x.tar")).code, 125)
        self.assertEqual(self.fs("export", "-o", os.path.join(target, "x.what")).code, 125)
        self.assertEqual(self.fs("export", "--format", "rar", "-o", path).code, 125)
        self.assertEqual(self.fs("export").code, 125)
        self.assertEqual(os.listdir(target), ["x.tar"])
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"old")

    def test_a_terminal_gets_no_archive(self):
        main, side = pty.openpty()
        process = subprocess.run(self.command("fs", "export", "s", "--format", "tar"), stdout=side,
                                 env=self.environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                 cwd=self.home, check=False)
        os.close(side)
        os.close(main)
        self.assertEqual(process.returncode, 125)
        self.assertIn(b"terminal", process.stderr)

    def test_what_is_there_may_stay(self):
        self.write("a", b"mine")
        result = self.fs("import", "-", "--no-replace", stdin=tar_of({"a": b"theirs", "b": b"new"}))
        self.assertEqual((result.code, self.read("a"), self.read("b")), (0, b"mine", b"new"))
        self.assertIn(b"left as it was: a", result.err)
        self.assertEqual(self.fs("import", "-", stdin=tar_of({"a": b"theirs"})).code, 0)
        self.assertEqual(self.read("a"), b"theirs")

    def test_an_archive_that_leads_out_is_refused_as_a_whole(self):
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        for name, extra in (("../evil", None), ("/evil", None), ("link/evil", link)):
            result = self.fs("import", "-", stdin=tar_of({"good": b"1", name: b"evil"}, extra))
            self.assertEqual(result.code, 126, (name, result.err))
            self.assertFalse(os.path.exists(self.workspace("good")))
        self.assertFalse(os.path.exists(os.path.join(self.home, "sessions", "evil")))

    def test_an_archive_by_its_name_by_a_pipe_and_none_at_all(self):
        path = os.path.join(self.directory("own"), "a.tar")
        with open(path, "wb") as file:
            file.write(tar_of({"by-name": b"1"}))
        os.chmod(path, 0o644)
        self.assertEqual(self.fs("import", path, "d").code, 0)
        self.assertEqual(self.read("d/by-name"), b"1")
        with open(path, "rb") as file:
            process = subprocess.run(self.command("fs", "import", "s", "-", "e"), stdin=file, env=self.environment(),
                                     capture_output=True, cwd=self.home, check=False)
        self.assertEqual((process.returncode, self.read("e/by-name")), (0, b"1"))
        for missing in (path + "x", os.path.dirname(path)):
            self.assertEqual(self.fs("import", missing).code, 125)
        self.assertEqual(self.fs("import", "-", stdin=b"no archive" * 1000).code, 125)


def tar_of(files, extra=None):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        if extra is not None:
            archive.addfile(extra)
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


if __name__ == "__main__":
    harness.main()
