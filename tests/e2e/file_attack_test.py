"""The file tools of a session against what an agent says and what its programs leave: group I of the attack list.

The paths are given by an agent, the files were made by a program in the sandbox or, where the sandbox or the commit
would not let it, by this test in the session's directory. There is no way to watch files (I24), so there is nothing to
test of that.
"""
import contextlib
import ctypes
import hashlib
import io
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import tarfile
import threading
import time
import unittest
import zipfile

import daemon
import harness
import sessions

MEGABYTE = 1 << 20
AT_FDCWD = -100
RENAME_EXCHANGE = 2
ESCAPES = 126
FAILS = 125


def tar_of(*entries):
    """Of (name, content) and of ready TarInfos."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            name, content = entry
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(*entries, compression=zipfile.ZIP_DEFLATED):
    """Of (name, content) or (name, content, unix mode)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content, *mode in entries:
            info = zipfile.ZipInfo("x")
            info.filename = name  # the constructor would cut it at a NUL
            info.compress_type = compression
            info.external_attr = (mode[0] if mode else 0o100644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


class AttackTest(sessions.SessionTest):
    def setUp(self):
        super().setUp()
        self.outside = self.directory("outside")
        self.secret = os.path.join(self.outside, "f")
        with open(self.secret, "wb") as file:
            file.write(b"SECRET")
        self.give(self.secret)

    def tearDown(self):
        self.assertEqual(os.listdir(self.outside), ["f"], "something was written outside")
        with open(self.secret, "rb") as file:
            self.assertEqual(file.read(), b"SECRET")
        super().tearDown()

    def inside(self, code, *arguments, **options):
        """Python in a sandbox on the session's files."""
        return self.skerry("run", "--session", self.session, "--timeout", "90", *arguments, "--", code, **options)

    def refuses(self, code, *command, **options):
        result = self.fs(*command, **options)
        self.assertEqual((result.code, result.out), (code, b""), (command, result.err))
        self.assertNotIn(b"SECRET", result.err)
        return result

    def link(self, name, target):
        os.symlink(target, self.workspace(name))
        self.give(self.workspace(name))

    @contextlib.contextmanager
    def mounts(self, *commands, settings=None):
        """The daemon in mounts of its own, made by these commands of the shell."""
        if os.geteuid() != 0:
            self.skipTest("only root can mount")
        script = " && ".join((*commands, "echo ready && exec sleep 300"))
        holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            if holder.stdout.readline() != b"ready\n":
                self.skipTest("no mounts here: " + holder.stderr.read().decode())
            type(self).enter = ["nsenter", "--mount", "--target", str(holder.pid), "--"]
            self.renew(settings)
            yield
        finally:
            type(self).enter = ()
            self.renew()
            holder.kill()
            holder.communicate()

    def command(self, *arguments):
        return [*self.enter, *super().command(*arguments)]


class PathTest(AttackTest):
    def test_i01_a_path_that_climbs(self):
        for path in ("../../etc/passwd", "a/../../etc/passwd", "./..//..//etc/passwd", "data/../../s/../../x",
                     "/workspace/../etc/passwd", "data/" + "../" * 500 + "etc/passwd"):
            for command in ("read", "stat", "list"):
                self.refuses(ESCAPES, command, path)
            self.refuses(ESCAPES, "write", path, stdin=b"owned")

    def test_i02_nothing_is_decoded(self):
        for path in ("%2e%2e%2fetc%2fpasswd", "%252e%252e%252fetc", b"\xc0\xae\xc0\xae/etc/passwd",
                     "..%c0%af..%c0%afetc", "\uff0e\uff0e/etc/passwd", "..\\..\\etc\\passwd"):
            self.refuses(FAILS, "read", path)
            self.write(path, b"mine")
            self.assertEqual(self.read(path), b"mine")
        self.assertTrue(os.path.isfile(self.workspace("%2e%2e%2fetc%2fpasswd")))
        self.assertTrue(os.path.isfile(self.workspace("..\\..\\etc\\passwd")))

    def test_dots_in_names_are_names(self):
        for name in ("...", ".. ", " ..", "..a", "a/.../b", "data/.. x/y"):
            self.write(name, name.encode())
            self.assertEqual(self.read(name), name.encode())
        self.write("data/../data/./x", b"1")
        self.assertEqual(self.read("data/x"), b"1")

    @harness.once
    def test_i15_names_and_paths_as_long_as_they_can_be(self):
        self.write("n" * 255, b"1")
        self.assertEqual(self.read("n" * 255), b"1")
        self.refuses(FAILS, "write", "n" * 256, stdin=b"1")
        self.refuses(FAILS, "write", "\u00e9" * 128, stdin=b"1")  # 256 bytes
        for path in ("d/" * 3000 + "f", "x" * 5000, "/".join(["y" * 200] * 30)):
            for command in ("read", "write", "delete"):
                self.refuses(FAILS, command, path)
        self.assertEqual(self.fs("write", "z/" * 1900 + "f", stdin=b"deep").code, 0)
        self.assertEqual(self.read("z/" * 1900 + "f"), b"deep")
        self.assertEqual(self.fs("delete", "-r", "z").code, 0)

    def test_i14_names_of_any_bytes_made_inside(self):
        names = [b"sp ace", b'qu"o\'te', b"new\r\nline", b"x" * 255, b"\xff\xfe", b"\xed\xa0\x80", "\u00e9".encode(),
                 "e\u0301".encode(), b"-rf", b"--json", b"esc\x1b[2J", b"...", b"back\\slash", b"*", b"$(id)"]
        made = self.inside("import os\nos.mkdir('names')\n"
                           f"for n in {names!r}: open(b'names/' + n, 'wb').write(b'of %d' % len(n))")
        self.assertEqual(made.code, 0, made.err)
        entries = self.fs("list", "names", "--json").json["entries"]
        self.assertEqual(len(entries), len(names))
        for name in names:
            self.assertEqual(self.read(b"names/" + name), b"of %d" % len(name))
        for arguments in (("fs", "list", "s", "names"), ("fs", "search", "s", "of"), ("session", "diff", "s"),
                          ("history", "s"), ("history", "s", "--mermaid"), ("history", "s", "--dot")):
            text = self.skerry(*arguments).out.decode()  # fails for what is no UTF-8
            self.assertEqual([c for c in text if c < " " and c not in "\n\t" or c == "\x7f"], [], arguments)
        self.assertEqual(len(self.skerry("history", "s", "--json").json[-1]["files"]["created"]), len(names))
        for name in names:
            self.assertEqual(self.fs("delete", "--", b"names/" + name).code, 0)
        self.assertEqual(os.listdir(self.workspace("names")), [])

    def test_i14_a_nul_in_the_name_of_an_entry(self):
        for archive in (zip_of(("good", b"1"), ("data/a\0/../../../evil", b"2")),
                        tar_of(("good", b"1"), self.pax_entry("a\0b"))):
            self.refuses(FAILS, "import", "-", stdin=archive)
            self.assertFalse(os.path.exists(self.workspace("good")))

    @staticmethod
    def pax_entry(name):
        info = tarfile.TarInfo("short")
        info.pax_headers = {"path": name}
        return info

    def test_i23_another_session_is_as_far_as_anything_outside(self):
        self.create("other")
        self.assertEqual(self.skerry("fs", "write", "other", "present", stdin=b"SECRET").code, 0)
        answers = []
        for name in ("present", "absent"):
            path = os.path.join(self.home, "sessions", "other", name)
            self.link("link", path)
            rows = [self.refuses(ESCAPES, "read", "../other/" + name), self.refuses(FAILS, "read", path),
                    self.refuses(ESCAPES, "read", "link"), self.refuses(ESCAPES, "write", "link", stdin=b"x"),
                    self.refuses(ESCAPES, "copy", "../other/" + name, "x"),
                    self.refuses(ESCAPES, "move", "link/x", "y")]
            answers.append([row.err.replace(name.encode(), b"NAME") for row in rows])
            os.unlink(self.workspace("link"))
        self.assertEqual(*answers)
        self.assertEqual(self.skerry("fs", "read", "other", "present").out, b"SECRET")
        for name in ("nobodys", "../sessions/other", ".skerry", "other/.", "-h/../other"):
            self.assertEqual(self.skerry("fs", "read", "--", name, "present").code, FAILS, name)


class LinkTest(AttackTest):
    def test_i04_a_link_to_a_file_outside(self):
        result = self.inside("import os\nos.symlink('/etc/shadow', 'l')\n"
                             "os.symlink('/proc/self/root/etc/passwd', 'm')\n"
                             "os.symlink('../' * 9 + 'etc/passwd', 'n')\nos.symlink('data', 'fine')")
        self.assertEqual((result.code, result.err.count(b"leads out of the workspace")), (0, 3), result.err)
        self.assertEqual([name for name in ("l", "m", "n", "fine") if os.path.lexists(self.workspace(name))], ["fine"])
        for number, target in enumerate((self.secret, "/etc/shadow", "/proc/self/root" + self.secret,
                                         os.path.relpath(self.secret, self.workspace()), "/proc/self/fd/0")):
            name = f"l{number}"
            self.link(name, target)
            self.refuses(ESCAPES, "read", name)
            self.refuses(ESCAPES, "append", name, stdin=b"owned")
            self.refuses(ESCAPES, "edit", name, "--replace", "S", "--with", "x")

    def test_i05_a_link_to_a_directory_outside(self):
        self.link("d", "/")
        self.link("e", self.outside)
        self.write("mine", b"mine")
        self.refuses(ESCAPES, "read", "d/etc/passwd")
        for path in ("e/pwn", "d" + self.outside + "/pwn", "e/f"):
            for command in (("write", path), ("append", path), ("mkdir", "-p", path), ("delete", path), ("list", "e"),
                            ("copy", "mine", path), ("move", "mine", path), ("copy", path, "got"),
                            ("move", path, "got"),
                            ("search", "SECRET", "--path", "e"), ("export", path, "--format", "tar"),
                            ("edit", path, "--insert", "1", "--text", "x")):
                self.refuses(ESCAPES, *command, stdin=b"owned")
        self.refuses(ESCAPES, "import", "-", "e", stdin=tar_of(("pwn", b"owned")))
        self.refuses(FAILS, "import", "-", stdin=tar_of(("e/pwn", b"owned")))  # a link is no directory

    def test_a_link_whose_target_comes_later(self):
        for code in ("os.makedirs('a/b'); os.symlink('x/../../../../outside', 'a/b/l')",
                     "os.symlink('../..', 'a/b/x')"):
            self.inside("import os\n" + code)
        for path in ("a/b/l", "a/b/l/f", "a/b/x/../../f"):
            self.assertNotEqual(self.fs("read", path).code, 0)
        self.assertNotIn(b"SECRET", self.fs("search", "SECRET").out)

    def test_links_inside_work_also_absolute_ones(self):
        result = self.inside("import os\nopen('data/t', 'w').write('T')\nos.symlink('/workspace/data/t', 'abs')\n"
                             "os.symlink('data', 'dir')\nos.symlink('/workspace', 'data/top')")
        self.assertEqual((result.code, result.err), (0, b""))
        for path in ("abs", "dir/t", "data/top/dir/t", "dir/../data/t"):
            self.assertEqual(self.read(path), b"T")

    def test_i09_deleting_a_tree_with_links_and_a_mount(self):
        self.write("tree/sub/x", b"1")
        self.link("tree/out", self.outside)
        self.link("tree/sub/up", "../../../..")
        self.link("tree/file", self.secret)
        os.mkdir(self.workspace("tree/mnt"))
        self.give(self.workspace("tree/mnt"))
        if os.geteuid() == 0:
            with self.mounts(f"mount --bind {self.outside} {self.workspace('tree/mnt')}"):
                self.assertNotEqual(self.fs("delete", "-r", "tree").code, 0)
                self.assertNotEqual(self.fs("read", "tree/mnt/f").code, 0)
                self.assertNotEqual(self.fs("write", "tree/mnt/g", stdin=b"owned").code, 0)
                self.assertNotIn(b"SECRET", self.fs("search", "SECRET").out)
                self.assertNotIn(b"SECRET", self.fs("export", "--format", "tar").out)
            self.assertEqual(os.listdir(self.outside), ["f"])
        self.assertEqual(self.fs("delete", "-r", "tree").code, 0)
        self.assertFalse(os.path.lexists(self.workspace("tree")))

    def test_i10_a_file_with_a_second_name(self):
        for number, command in enumerate((("write", "f0"), ("append", "f1"), ("copy", "new", "f2"),
                                          ("edit", "f3", "--replace", "S", "--with", "x"), ("move", "new", "f4"),
                                          ("import", "-"))):
            self.write("new", b"new")
            os.link(self.secret, self.workspace(f"f{number}"))
            result = self.fs(*command, stdin=tar_of((f"f{number}", b"new")) if command[0] == "import" else b"new")
            self.assertEqual(result.code, 0, (command, result.err))
            self.assertNotEqual(self.read(f"f{number}"), b"SECRET")
            self.assertEqual(os.stat(self.secret).st_nlink, 1)
        self.plant("h1", b"one")
        os.link(self.workspace("h1"), self.workspace("h2"))
        self.assertEqual(self.inside("open('h1', 'w').write('two')").code, 0)
        self.assertEqual((self.read("h1"), self.read("h2")), (b"two", b"one"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can make devices")
    def test_a_device_is_never_opened(self):
        os.mknod(self.workspace("zero"), stat.S_IFCHR | 0o666, os.makedev(1, 5))
        os.chmod(self.workspace("zero"), 0o666)
        for command in (("read", "zero"), ("read", "zero", "--bytes", "0:1"), ("append", "zero"),
                        ("copy", "zero", "z")):
            self.assertNotEqual(self.fs(*command, stdin=b"x", timeout=20).code, 0)
        self.assertEqual(self.fs("search", "x", "--path", ".").code, 1)
        with tarfile.open(fileobj=io.BytesIO(self.fs("export", "--format", "tar").out)) as archive:
            self.assertFalse([entry for entry in archive if entry.isdev()])
        self.assertEqual(self.fs("delete", "zero").code, 0)


class RaceTest(AttackTest):
    SECONDS = 20 if daemon.SOAK else 2

    @staticmethod
    def swap(first, second, stop):
        libc = ctypes.CDLL(None, use_errno=True)
        while not stop.is_set():
            for _ in range(200):
                libc.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)

    def test_i07_a_directory_that_becomes_a_link_again_and_again(self):
        for name in ("f", "victim"):
            self.write("d/" + name, b"inside")
        self.write("mine", b"inside")
        self.link("swap", self.outside)
        stop = multiprocessing.Event()
        swapper = multiprocessing.Process(
            target=self.swap, args=(self.workspace("d").encode(), self.workspace("swap").encode(), stop))
        swapper.start()
        try:
            answers = self.attack()
        finally:
            stop.set()
            swapper.join(20)
        self.assertEqual(swapper.exitcode, 0)
        # Both sides of the race were met.
        self.assertIn(0, answers["read"], answers)
        self.assertIn(ESCAPES, answers["read"], answers)
        self.assertLessEqual(set().union(*answers.values()), {0, 1, FAILS, ESCAPES})

    def attack(self):
        answers, started = {}, time.monotonic()
        commands = [("read", "d/f"), ("write", "d/victim"), ("read", "d/f"), ("delete", "d/victim"),
                    ("append", "d/log"), ("import", "-"), ("import", "-", "d"), ("copy", "mine", "d/copy"),
                    ("mkdir", "-p", "d/e/e"),
                    ("list", "d"), ("search", "SECRET"), ("export", "--format", "tar"), ("copy", "d", "whole"),
                    ("delete", "-r", "whole"), ("move", "d/copy", "d/moved"), ("delete", "-r", "d/e")]
        archive = tar_of(("d/imported", b"inside"))
        while (seconds := time.monotonic() - started) < self.SECONDS or (
                seconds < 30 and not {0, ESCAPES} <= answers["read"]):
            for command in commands:
                result = self.fs(*command, stdin=archive if command[0] == "import" else b"inside")
                self.assertNotIn(b"SECRET", result.out + result.err, command)
                self.assertEqual(os.listdir(self.outside), ["f"], command)
                answers.setdefault(command[0], set()).add(result.code)
        return answers


class SizeTest(AttackTest):
    MAX_KILOBYTES = 96 * 1024

    def measured(self, *arguments, stdin=subprocess.DEVNULL, limit=1 << 62):
        """Exit code, bytes on stdout, peak of memory in kilobytes."""
        process = subprocess.Popen(self.command("fs", *arguments), stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=self.environment(), cwd=self.home)
        count = 0
        while count < limit and (block := process.stdout.read(MEGABYTE)):
            count += len(block)
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, count, usage.ru_maxrss

    def setUp(self):
        super().setUp()
        self.daemon.reset_peak()
        self.level = self.daemon.memory()

    def bounded(self):
        self.assertLess(self.daemon.memory("VmHWM") - self.level, self.MAX_KILOBYTES * 1024)

    def test_i12_a_file_of_terabytes(self):
        path = self.plant("big", b"first")
        os.truncate(path, 4 << 40)
        self.assertEqual(self.fs("read", "big", "--bytes", "0:5").out, b"first")
        self.assertEqual(self.fs("read", "big", "--bytes", str((4 << 40) - 3)).out, b"\0\0\0")
        self.assertEqual(self.fs("stat", "big", "--json").json["size"], 4 << 40)
        code, _, peak = self.measured("read", "s", "big", limit=64 * MEGABYTE)
        self.assertIn(code, (-signal.SIGPIPE, 128 + signal.SIGPIPE))
        self.assertLess(peak, self.MAX_KILOBYTES)
        for command in (("edit", "s", "big", "--replace", "first", "--with", "x"), ("copy", "s", "big", "copy")):
            code, count, peak = self.measured(*command)
            self.assertEqual((code, count), (FAILS, 0), command)
            self.assertLess(peak, self.MAX_KILOBYTES)
        self.assertFalse(os.path.exists(self.workspace("copy")))
        self.bounded()

    def refuses_content(self, command, stdin):
        code, count, peak = self.measured(command, "s", "f", stdin=stdin)
        self.assertEqual((code, count), (FAILS, 0), command)
        self.assertLess(peak, self.MAX_KILOBYTES)
        self.assertFalse(os.path.exists(self.workspace("f")))
        self.assertEqual(os.listdir(os.path.join(self.home, "sessions", ".skerry", "s", "stage")), [])

    @harness.once
    def test_i12_content_without_end(self):
        # All commands read theirs in the same way, up to some gigabytes.
        with open("/dev/zero", "rb") as endless:
            for command in ("write", "append") if daemon.SOAK else ("write",):
                self.refuses_content(command, endless)

    def test_i12_content_beyond_the_quota(self):
        self.with_settings(SKERRY_SANDBOX__WORKSPACE__MAX_SIZE_MB="8")
        for command in ("write", "append"):
            with subprocess.Popen(["head", "-c", "128M", "/dev/zero"], stdout=subprocess.PIPE) as content:
                self.refuses_content(command, content.stdout)
                content.stdout.close()

    def test_i12_sparse_files_of_a_program(self):
        self.with_settings(SKERRY_SANDBOX__WORKSPACE__MAX_SIZE_MB="64")
        result = self.inside("for n in range(50):\n f = open(f'sparse{n:02}', 'wb'); f.truncate(30 << 20)\n"
                             "open('z', 'w').write('kept')")
        self.assertGreaterEqual(result.err.count(b"not carried over: sparse"), 48)
        self.assertLessEqual(len([name for name in os.listdir(self.workspace()) if name.startswith("sparse")]), 2)
        self.assertEqual(self.read("z"), b"kept")

    def test_i13_a_file_that_changes_while_it_is_read(self):
        for size in (MEGABYTE, 128 * MEGABYTE):
            path = self.plant("f", b"x" * 32 * MEGABYTE)
            process = subprocess.Popen(self.command("fs", "read", "s", "f"), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(),
                                       cwd=self.home)
            out = process.stdout.read(2 * MEGABYTE)
            os.truncate(path, size)
            rest, err = process.communicate(timeout=60)
            shorter = size < 32 * MEGABYTE
            self.assertEqual(process.returncode, FAILS if shorter else 0, err)
            self.assertEqual(b"became shorter" in err, shorter)
            # What is not there any more is not made up.
            self.assertLessEqual(len(out + rest), max(size, 32 * MEGABYTE - 1))
            self.assertEqual((out + rest)[:32 * MEGABYTE].strip(b"x"), b"")

    def test_i13_a_file_that_never_stops_growing(self):
        path = self.plant("log", b"x" * MEGABYTE)
        stop = threading.Event()

        def grow():
            with open(path, "ab", buffering=0) as file:
                while not stop.is_set() and file.tell() < 128 * MEGABYTE:
                    file.write(b"x" * MEGABYTE)

        writer = threading.Thread(target=grow)
        writer.start()
        try:
            for command in (("read", "log"), ("export", "log", "--format", "tar"), ("search", "nothing")):
                self.assertIn(self.fs(*command, timeout=60).code, (0, 1, FAILS), command)
        finally:
            stop.set()
            writer.join()

    def test_the_quota_holds_for_programs_and_for_tools(self):
        self.with_settings(SKERRY_SANDBOX__WORKSPACE__MAX_SIZE_MB="4")
        self.write("old", b"o" * MEGABYTE)
        self.refuses(FAILS, "write", "big", stdin=b"x" * 5 * MEGABYTE)
        self.refuses(FAILS, "import", "-", stdin=tar_of(("a", b"1"), ("big", b"x" * 5 * MEGABYTE)))
        for _ in range(3):
            self.inside("import os\nopen('grown', 'ab').write(os.urandom(2 << 20))")
        self.fs("copy", "old", "old2")
        self.fs("copy", "old", "old3")
        used = sum(os.lstat(os.path.join(root, name)).st_blocks * 512
                   for root, _, names in os.walk(self.workspace()) for name in names)
        self.assertLessEqual(used, 4 * MEGABYTE)
        self.assertEqual(self.read("old"), b"o" * MEGABYTE)
        self.assertEqual(self.skerry("session", "check", "s").code, 0)

    def test_a_full_disk_costs_what_did_not_fit_and_nothing_else(self):
        place = os.path.join(self.home, "full")
        full = {"SKERRY_SANDBOX__WORKSPACE__BASE_DIR": os.path.join(place, "base")}
        os.mkdir(place)
        self.addCleanup(os.rmdir, place)
        with self.mounts(f"mount -t tmpfs -o size=2m,mode=777 none {place}", settings=full):
            def fs(*arguments, **options):
                return self.skerry("fs", *arguments, **options)
            self.assertEqual(self.skerry("session", "create", "t").code, 0)
            self.assertEqual(fs("write", "t", "old", stdin=b"o" * MEGABYTE).code, 0)
            for command in (("write", "t", "old"), ("write", "t", "new"), ("append", "t", "old")):
                result = fs(*command, stdin=b"n" * 2 * MEGABYTE)
                self.assertEqual((result.code, result.out), (FAILS, b""), command)
                self.assertIn(b"full", result.err)
            self.assertEqual(fs("import", "t", "-", stdin=tar_of(("a", b"1"), ("b", b"n" * 2 * MEGABYTE))).code, FAILS)
            result = self.skerry("run", "--session", "t", "for n in range(9): open(f'n{n}', 'wb').write(bytes(300000))")
            self.assertIn(b"No space left", result.err)
            self.assertEqual(fs("read", "t", "old").out, b"o" * MEGABYTE)
            self.assertEqual(self.skerry("session", "check", "t").code, 0)
            self.assertEqual(fs("delete", "t", "old").code, 0)
            self.assertEqual(self.skerry("session", "delete", "t").code, 0)


class TreeTest(AttackTest):
    CHAIN = "import os\nfor _ in range({}):\n os.mkdir('d'); os.chdir('d')\nopen('f', 'w').write('bottom')"

    def test_i15_a_deep_tree_made_inside(self):
        # Inside the limit of what is carried over, and beyond it: told by name, and nothing half done.
        self.assertEqual(self.inside(self.CHAIN.format(250)).code, 0)
        path = "/".join(["d"] * 250)
        self.assertEqual(self.read(path + "/f"), b"bottom")
        self.assertEqual(len(self.fs("list", path, "--json").json["entries"]), 1)
        self.assertEqual(self.fs("search", "bottom").out, f"{path}/f:1:bottom\n".encode())
        self.assertEqual(self.fs("delete", "-r", "d").code, 0)
        self.assertFalse(os.path.exists(self.workspace("d")))

    @harness.once
    def test_i15_a_tree_of_a_thousand_made_inside(self):
        result = self.inside(self.CHAIN.format(1000))
        self.assertEqual(result.code, 0, result.err)
        path = "/".join(["d"] * 1000)
        if b"too deep" not in result.err:  # else it was told
            self.assertEqual(self.read(path + "/f"), b"bottom")
            self.assertEqual(len(self.fs("list", path, "--json").json["entries"]), 1)
        self.assertEqual(self.skerry("session", "check", "s").code, 0)
        self.assertEqual(self.fs("delete", "-r", "d").code, 0)
        self.assertFalse(os.path.exists(self.workspace("d")))

    def test_i15_a_tree_deeper_than_any_path_is_long(self):
        here = os.open(self.workspace(), os.O_RDONLY | os.O_DIRECTORY)
        for _ in range(3000):
            os.mkdir("d", 0o755, dir_fd=here)
            if harness.AS_USER:
                os.chown("d", harness.PLAIN_ID, harness.PLAIN_ID, dir_fd=here)
            below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        self.assertEqual(len(self.fs("list", "d", "--json").json["entries"]), 1)
        for command in (("search", "x"), ("copy", "d", "e"), ("export", "d", "--format", "tar"), ("write", "f")):
            self.assertIn(self.fs(*command, timeout=60).code, (0, 1, FAILS), command)
        self.assertEqual(self.fs("delete", "-r", "d", timeout=60).code, 0)
        self.assertFalse(os.path.exists(self.workspace("d")))
        self.fs("delete", "-r", "e", timeout=60)

    @harness.once
    def test_very_many_files_made_inside(self):
        count = 100_000  # more than a session may have by default
        code = (f"import os\nos.mkdir('many')\nos.chdir('many')\nfor n in range({count}):\n"
                " os.close(os.open(f'{n:06}', os.O_CREAT | os.O_WRONLY))")
        self.with_settings(SKERRY_SANDBOX__LIMITS__MAX_FILES="150000")
        self.session = "large"  # one has the limits that there were when it was made
        self.create(self.session)
        result = self.inside(code)
        self.assertEqual((result.code, result.err), (0, b""))
        self.assertEqual(len(os.listdir(self.workspace("many"))), count)
        page = self.fs("list", "many", "--json", "--limit", "1000").json
        self.assertEqual((len(page["entries"]), page["next"]), (1000, "000999"))
        page = self.fs("list", "many", "--json", "--limit", "1000", "--after", f"{count - 501:06}").json
        self.assertEqual(([row["path"] for row in page["entries"]][-1], len(page["entries"]), page["next"]),
                         (f"many/{count - 1:06}", 500, None))

    def test_what_is_closed_to_its_owner(self):
        self.write("closed/f", b"1")
        self.write("file", b"1")
        os.chmod(self.workspace("file"), 0)
        os.chmod(self.workspace("closed"), 0)
        code = 0 if os.geteuid() == 0 and not harness.AS_USER else ESCAPES
        for command in (("read", "file"), ("read", "closed/f"), ("list", "closed"), ("write", "closed/g")):
            result = self.fs(*command, stdin=b"x")
            self.assertEqual(result.code, code, (command, result.err))
        self.assertEqual(self.fs("search", "x").code in (0, 1), True)
        os.chmod(self.workspace("closed"), 0o700)

    @unittest.skipUnless(harness.AS_USER, "nothing is closed to root")
    def test_what_belongs_to_somebody_else(self):
        os.mkdir(self.workspace("theirs"), 0o700)
        self.write("file", b"1")
        os.chown(self.workspace("file"), 0, 0)
        os.chmod(self.workspace("file"), 0o600)
        for command in (("read", "file"), ("append", "file"), ("list", "theirs"), ("write", "theirs/x"),
                        ("delete", "-r", "theirs/x")):
            self.refuses(ESCAPES, *command, stdin=b"x")
        os.rmdir(self.workspace("theirs"))

    def test_a_file_that_changed_between_reading_and_writing(self):
        self.write("f", b"one\n")
        seen = hashlib.sha256(self.read("f")).hexdigest()
        self.assertEqual(self.inside("open('f', 'w').write('two\\n')").code, 0)
        for command in (("edit", "f", "--replace", "two", "--with", "3"), ("write", "f")):
            result = self.refuses(FAILS, *command, "--expect", seen, stdin=b"three\n")
            self.assertNotIn(b"two", result.err)
        self.assertEqual(self.read("f"), b"two\n")
        seen = hashlib.sha256(b"two\n").hexdigest()
        self.assertEqual(self.fs("edit", "f", "--replace", "two", "--with", "3", "--expect", seen).code, 0)


class ArchiveTest(AttackTest):
    def test_i19_archives_that_mean_harm(self):
        outward = tarfile.TarInfo("l")
        outward.type, outward.linkname = tarfile.SYMTYPE, self.outside
        hard = tarfile.TarInfo("h")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../../" + os.path.basename(self.outside) + "/f"
        device = tarfile.TarInfo("dev")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 5
        for name, archive in {
                "climbing": zip_of(("good", b"1"), ("../evil", b"2")),
                "absolute": zip_of(("good", b"1"), ("/evil", b"2")),
                "through a link": zip_of(("good", b"1"), ("l", self.outside.encode(), 0o120777), ("l/evil", b"2")),
                "through a link of tar": tar_of(("good", b"1"), outward, ("l/evil", b"2")),
                "a hard link": tar_of(("good", b"1"), hard),
                "a device": tar_of(("good", b"1"), device),
        }.items():
            result = self.fs("import", "-", stdin=archive)
            self.assertIn(result.code, (FAILS, ESCAPES), name)
            self.assertFalse(os.path.exists(self.workspace("good")), name)
        self.assertFalse(os.path.exists(os.path.join(self.home, "sessions", "evil")))

    def test_i19_archives_that_are_bombs(self):
        overlapping = zip_of(*((f"f{n}", b"x" * 100_000) for n in range(20)), compression=zipfile.ZIP_STORED)
        overlapping = self.with_one_body(overlapping)
        many = zip_of(*((f"f{n}", b"") for n in range(70_000)), compression=zipfile.ZIP_STORED)
        for name, archive in {"ratio": zip_of(("bomb", b"\0" * 30 * MEGABYTE)), "entries": many,
                              "overlapping": overlapping, "cut": zip_of(("a", b"1" * 1000))[:-30],
                              "nothing": b"", "no archive": b"PK\x03\x04" + b"\xff" * 100}.items():
            result = self.fs("import", "-", "--json", stdin=archive)
            self.assertEqual(result.code, FAILS, (name, result.out, result.err))
            self.assertEqual(len(os.listdir(self.workspace())), self.count, name)

    def setUp(self):
        super().setUp()
        self.count = len(os.listdir(self.workspace()))

    @staticmethod
    def with_one_body(archive):
        """Every entry of the central directory names the first entry's bytes."""
        data = bytearray(archive)
        at = data.find(b"PK\x01\x02")
        while at >= 0:
            data[at + 42:at + 46] = b"\0\0\0\0"
            at = data.find(b"PK\x01\x02", at + 4)
        return bytes(data)

    def test_i19_a_backslash_is_no_separator(self):
        self.assertEqual(self.fs("import", "-", "d", stdin=tar_of(("..\\..\\x", b"1"))).code, 0)
        self.assertEqual(os.listdir(self.workspace("d")), ["..\\..\\x"])
        result = self.fs("import", "-", "e", stdin=zip_of(("..\\..\\x", b"1")))
        self.assertFalse(os.path.exists(os.path.join(self.home, "x")), result)
        self.assertFalse(os.path.exists(os.path.join(self.home, "sessions", "x")), result)

    def test_i20_a_link_is_exported_as_a_link(self):
        self.link("l", "/etc")
        self.link("m", self.secret)
        packed = self.fs("export", "--format", "tar")
        self.assertEqual(packed.code, 0, packed.err)
        with tarfile.open(fileobj=io.BytesIO(packed.out)) as archive:
            self.assertEqual([(each.name, each.linkname) for each in archive if each.issym()],
                             [("l", "/etc"), ("m", self.secret)])
            self.assertFalse([each.name for each in archive if each.name.startswith("l/")])
        self.assertNotIn(b"SECRET", packed.out)
        with zipfile.ZipFile(io.BytesIO(self.fs("export", "--format", "zip").out)) as archive:
            self.assertEqual(archive.read("l"), b"/etc")
            self.assertTrue(stat.S_ISLNK(archive.getinfo("l").external_attr >> 16))


class HelperTest(AttackTest):
    """Nothing that lies in a workspace is ever started, or obeyed, by the tools outside."""

    def test_i21_searching(self):
        mark = os.path.join(self.home, "ran")
        script = f"#!/bin/sh\ntouch {mark}\n".encode()
        for name in (".ripgreprc", "rg", "grep", "evil"):
            self.plant(name, b"--pre=./evil\n--hidden\n" if name == ".ripgreprc" else script)
            os.chmod(self.workspace(name), 0o755)
        self.write("text", b"a" * 5000 + b"!\n-e x --pre ./evil\n")
        environment = {"RIPGREP_CONFIG_PATH": self.workspace(".ripgreprc"), "PATH": self.workspace() + ":/usr/bin:/bin"}
        self.with_settings(**environment)

        def search(*arguments):
            return self.fs("search", *arguments, environment=environment, timeout=60, cwd=self.workspace())

        self.assertEqual(search("--", "-e x --pre ./evil").out, b"text:2:-e x --pre ./evil\n")
        started = time.monotonic()
        for pattern in ("(a+)+$", "(a|aa)+$", "(.*)*b\\b", "a{1,1000}" * 3):
            self.assertIn(search("--path", "text", "--", pattern).code, (0, 1, FAILS), pattern)
        self.assertLess(time.monotonic() - started, 60)
        for glob in ("../**", "/etc/*", "**/../../*", "{..,.}/*"):
            result = search("SECRET|root", "--glob", glob)
            self.assertIn(result.code, (1, FAILS, ESCAPES), glob)
            self.assertEqual(result.out, b"")
        self.assertFalse(os.path.exists(mark))

    def test_i22_git_configuration_that_starts_programs(self):
        mark = os.path.join(self.home, "ran")
        code = f"""
import os, subprocess
os.makedirs('.git/hooks'); os.makedirs('.git/objects'); os.makedirs('.git/refs')
open('.git/HEAD', 'w').write('ref: refs/heads/main\\n')
open('.git/config', 'w').write('''[core]
\\tfsmonitor = touch {mark}
\\tsshCommand = touch {mark}
\\tpager = touch {mark}
\\thooksPath = .git/hooks
[diff]
\\texternal = touch {mark}
[filter "x"]
\\tclean = touch {mark}
\\tsmudge = touch {mark}
[include]
\\tpath = ../evil
''')
open('.gitattributes', 'w').write('* filter=x diff=x\\n')
open('.git/hooks/post-checkout', 'w').write('#!/bin/sh\\ntouch {mark}\\n'); os.chmod('.git/hooks/post-checkout', 0o755)
open('f', 'w').write('new')
"""
        self.write("f", b"old")
        self.assertEqual(self.inside(code).code, 0)
        for arguments in (("session", "diff", "s"), ("session", "check", "s"), ("history", "s"), ("fs", "list", "s"),
                          ("fs", "search", "s", "new"), ("fs", "export", "s", "--format", "tar"),
                          ("session", "show", "s"), ("fs", "edit", "s", "f", "--replace", "new", "--with", "x"),
                          ("session", "undo", "s", "--force")):
            self.assertEqual(self.skerry(*arguments, cwd=self.workspace()).code, 0, arguments)
        self.assertFalse(os.path.exists(mark))

    def test_i17_names_that_a_persons_tools_would_take_for_others(self):
        directory = self.directory("mine")
        names = [".GIT/hooks/pre-commit", ".git\u200c/hooks/pre-commit", ".git /hooks/pre-commit", ".mcp.json.",
                 ".MCP.JSON", ".g\u0131t/hooks/x", ".vscode\u200b/tasks.json", ".Bashrc", "sub/.GIT./hooks/pre-push",
                 "git~1/hooks/post-merge", ".git::$INDEX_ALLOCATION/hooks/pre-commit"]
        code = ("import os, sys\nfor name in " + ascii(names) + ":\n"
                " if '/' in name: os.makedirs(os.path.dirname(name), exist_ok=True)\n open(name, 'w').write('evil')\n"
                "open('good', 'w').write('good')")
        result = self.skerry("run", "--json", "--workspace", directory, "--", code)
        self.assertEqual(result.code, 0, result.err)
        there = [os.path.relpath(os.path.join(root, name), directory) for root, _, found in os.walk(directory)
                 for name in found]
        self.assertEqual([name for name in there if name in names and name != ".g\u0131t/hooks/x"], [])
        self.assertIn("good", there)
        withheld = json.dumps(result.json["files_withheld"], ensure_ascii=False)
        for name in names:
            if name not in there:
                self.assertIn(name.split("/")[0], withheld)


if __name__ == "__main__":
    harness.main()
