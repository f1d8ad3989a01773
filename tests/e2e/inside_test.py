"""What a program finds inside: nothing of the host."""
import http.server
import os
import socket
import subprocess
import threading
import time

import harness

SECRET = "host-secret-7c1f"


class IdentityTest(harness.SkerryTest):
    def test_is_nobody_special(self):
        self.assertEqual(self.shell("id -u; id -g; whoami").out, b"1000\n1000\nagent\n")
        groups = set(self.shell("id -G").out.split())
        # Groups of a plain caller that the kernel does not let us drop show as nogroup.
        self.assertLessEqual(groups, {b"1000"} if os.geteuid() == 0 else {b"1000", b"65534"})

    def test_is_not_root_of_the_host(self):
        result = self.run_code("print(open('/proc/self/uid_map').read().split())")
        inside, outside, count = eval(result.out)  # pylint: disable=eval-used
        self.assertEqual((inside, count), ("1000", "1"))
        # Seen from inside, the parent namespace's id is shown; the host's 0 is never mapped.
        self.assertNotEqual(outside, "0")

    def test_has_no_capabilities_and_cannot_gain_any(self):
        out = self.shell("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t\\n'").out.decode()
        self.assertEqual(out, "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000"
                              "CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2")

    def test_environment_is_clean(self):
        result = self.shell("env", environment={"AWS_SECRET_ACCESS_KEY": SECRET, "SSH_AUTH_SOCK": "/run/agent",
                                                "LD_PRELOAD": "", "http_proxy": "http://127.0.0.1:1"})
        self.assertNotIn(SECRET.encode(), result.out)
        names = {line.split("=")[0] for line in result.out.decode().splitlines()}
        self.assertLessEqual(names, {"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "PWD", "SHLVL",
                                     "_", "OLDPWD", "PYTHONDONTWRITEBYTECODE"})

    def test_no_environment_of_other_processes(self):
        result = self.shell("cat /proc/*/environ | tr '\\0' '\\n'", environment={"TOKEN": SECRET})
        self.assertNotIn(SECRET.encode(), result.out)


class FilesTest(harness.SkerryTest):
    def test_the_root_is_read_only(self):
        for path in ("/x", "/usr/x", "/usr/local/bin/x", "/etc/x", "/root/x", "/run/x", "/var/x", "/home/x", "/opt/x"):
            self.assertEqual(self.shell(f"touch {path} 2>/dev/null; echo $?").out, b"1\n", path)

    def test_the_home_of_the_host_is_not_there(self):
        with open(os.path.join(self.home, "secret"), "w", encoding="utf-8") as file:
            file.write(SECRET)
        result = self.shell(f"cat {self.home}/secret; ls -A /home /root; cat ~/secret")
        self.assertNotIn(SECRET.encode(), result.out)
        self.assertNotIn(SECRET.encode(), result.err)

    def test_a_secret_of_the_host_cannot_be_reached_in_any_way(self):
        path = os.path.join(self.base, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SECRET)
        os.chmod(path, 0o644)
        for attempt in (f"cat {path}", f"cat ../../../../../..{path}", f"ln -s {path} l; cat l", f"ln {path} h; cat h",
                        f"cat /proc/1/root{path}", f"cat /proc/self/root{path}", f"cat /proc/1/cwd{path}",
                        f"for p in /proc/[0-9]*; do cat $p/root{path}; done", f"cat /proc/self/fd/*/{path}",
                        f"grep -r {SECRET} / --include=token"):
            result = self.shell(attempt + " 2>&1; true")
            self.assertNotIn(SECRET.encode(), result.out, attempt)

    def test_no_shadow_no_users_of_the_host(self):
        self.assertNotEqual(self.shell("cat /etc/shadow").code, 0)
        self.assertEqual(self.shell("cut -d: -f1 /etc/passwd").out, b"root\nagent\nnobody\n")

    def test_other_workspaces_are_not_there(self):
        work = self.directory("other")
        with open(os.path.join(work, "file"), "w", encoding="utf-8") as file:
            file.write(SECRET)
        self.assertNotEqual(self.shell(f"cat {work}/file; ls {work}").code, 0)

    def test_no_device_of_the_machine(self):
        names = self.shell("ls /dev | tr '\\n' ' '").out
        self.assertEqual(names, b"fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ")
        self.assertEqual(self.shell("mknod d b 254 0 2>/dev/null; echo $?").out, b"1\n")

    def test_the_kernel_shows_little(self):
        for name in ("kallsyms", "keys", "timer_list", "interrupts", "slabinfo", "modules", "kmsg", "sched_debug"):
            self.assertEqual(self.shell(f"cat /proc/{name} 2>/dev/null | head -c 100").out, b"", name)
        self.assertEqual(self.shell("echo x > /proc/sys/kernel/core_pattern; echo $?").out, b"1\n")
        self.assertEqual(self.shell("ls /sys 2>/dev/null").out, b"")

    def test_no_file_can_be_made_that_lends_its_owners_rights(self):
        work = self.directory("work")
        code = ("import os\nopen('f', 'w').close()\n"
                "for attempt in (lambda: os.chmod('f', 0o4755), lambda: os.open('g', os.O_CREAT, 0o4755),\n"
                "                lambda: os.mkdir('d', 0o2755), lambda: os.mknod('n', 0o102755)):\n"
                "    try: attempt(); print('made')\n    except OSError as error: print(error.errno)\n")
        self.run_code("-w", work, code)
        # Where files are at once the host's, the bits cannot even be asked for.
        shown = self.directory("shown")
        self.assertEqual(self.run_code("--allow-write", shown, f"import os; os.chdir('{shown}')\n" + code).out,
                         b"1\n1\nmade\n1\n")
        for directory in (work, shown):
            self.assertGreater(len(os.listdir(directory)), 0)
            for name in os.listdir(directory):
                self.assertEqual(os.lstat(os.path.join(directory, name)).st_mode & 0o6000, 0, name)

    def test_mounts_cannot_be_taken_off(self):
        self.assertNotEqual(self.shell("umount /proc/kallsyms; umount -l /usr; mount -t tmpfs x /tmp").code, 0)


class ProcessesTest(harness.SkerryTest):
    def test_only_its_own_processes_are_seen(self):
        pids = self.shell("ls /proc | grep -c '^[0-9]'").out
        self.assertLess(int(pids), 10)

    def test_a_process_of_the_host_cannot_be_killed(self):
        victim = subprocess.Popen(["sleep", "100"])
        self.shell(f"kill -9 {victim.pid}; kill -9 -1; true")
        time.sleep(0.1)
        self.assertIsNone(victim.poll())
        victim.kill()
        victim.wait()

    def test_the_init_cannot_be_looked_into(self):
        code = ("import os\nfor name in ('mem', 'environ', 'maps', 'fd', 'root', 'exe', 'cwd'):\n"
                "    try:\n        path = '/proc/1/' + name\n"
                "        print(name, os.listdir(path) if name in ('fd', 'root', 'cwd') else open(path, 'rb').read(1))\n"
                "    except OSError as error: pass\n")
        self.assertEqual(self.run_code(code).out, b"")

    def test_the_inits_limits_cannot_be_changed(self):
        self.assertEqual(self.run_code("import resource\ntry: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))\n"
                                       "except PermissionError: print('refused')").out, b"refused\n")

    def test_killing_the_init_from_inside_does_nothing(self):
        self.assertEqual(self.shell("kill -9 1; kill -TERM 1; kill -STOP 1; echo alive").out, b"alive\n")


class NetworkTest(harness.SkerryTest):
    def test_a_server_of_the_host_cannot_be_reached(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        port = server.server_address[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass  # positive control: it does answer here
        code = (f"import socket\nfor host in ('127.0.0.1', '::1', 'localhost', '0.0.0.0'):\n"
                f"    try: socket.create_connection((host, {port}), timeout=2); print('reached', host)\n"
                f"    except OSError: pass\n")
        self.assertEqual(self.run_code(code).out, b"")
        server.shutdown()
        server.server_close()

    def test_watchers_are_few(self):
        code = ("import ctypes\nlibc = ctypes.CDLL(None)\nmade = 0\n"
                "while libc.inotify_init1(0) >= 0: made += 1\nprint(made)\n")
        self.assertEqual(self.run_code(code).out, b"16\n")

    def test_terminals_are_few(self):
        code = "import os\nmade = 0\ntry:\n    while made < 500: os.openpty(); made += 1\nexcept OSError: print(made <= 64)\n"
        self.assertEqual(self.run_code(code).out, b"True\n")

    def test_there_is_only_loopback(self):
        result = self.run_code("import socket; print([name for _, name in socket.if_nameindex()])")
        self.assertEqual(result.out, b"['lo']\n")

    def test_abstract_and_named_sockets_of_the_host_are_not_there(self):
        abstract = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        abstract.bind("\0skerry-test-abstract")
        abstract.listen()
        named = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = os.path.join(self.base, "socket")
        named.bind(path)
        os.chmod(path, 0o777)
        named.listen()
        code = (f"import socket\nfor name in ('\\0skerry-test-abstract', {path!r}):\n"
                f"    try: socket.socket(socket.AF_UNIX).connect(name); print('reached')\n    except OSError: pass\n")
        self.assertEqual(self.run_code(code).out, b"")
        abstract.close()
        named.close()
        os.unlink(path)

    def test_programs_can_talk_to_themselves(self):
        code = ("import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\n"
                "threading.Thread(target=lambda: s.accept()[0].sendall(b'hi')).start()\n"
                "print(socket.create_connection(s.getsockname()).recv(2))\n")
        self.assertEqual(self.run_code(code).out, b"b'hi'\n")


class SystemCallTest(harness.SkerryTest):
    def test_dangerous_calls_are_refused(self):
        numbers = {"unshare": (272, 0x10000000), "mount": (165, 0), "ptrace": (101, 0), "bpf": (321, 5),
                   "perf_event_open": (298, 0), "userfaultfd": (323, 0), "keyctl": (250, 0), "setns": (308, 0),
                   "init_module": (175, 0), "kexec_load": (246, 0), "io_uring_setup": (425, 1), "clone3": (435, 0)}
        if os.uname().machine != "x86_64":
            self.skipTest("the numbers are those of x86-64")
        code = ("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                f"for name, (number, argument) in {numbers!r}.items():\n"
                "    result = libc.syscall(number, argument, 0, 0, 0, 0)\n"
                "    print(name, result, ctypes.get_errno())\n")
        for line in self.run_code(code).out.decode().splitlines():
            name, result, error = line.split()
            self.assertEqual(result, "-1", name)
            self.assertEqual(error, "38" if name in ("io_uring_setup", "clone3") else "1", name)

    def test_the_usual_programs_run(self):
        self.assertEqual(self.run_code("import multiprocessing\n"
                                       "print(multiprocessing.get_context('fork').Pool(2).map(abs, [-1, -2]))").out,
                         b"[1, 2]\n")
        self.assertEqual(self.run_code("import asyncio\nasync def f():\n"
                                       "    p = await asyncio.create_subprocess_exec('echo', 'sub', stdout=-1)\n"
                                       "    return (await p.communicate())[0]\nprint(asyncio.run(f()))").out, b"b'sub\\n'\n")
        self.assertEqual(self.run_code("import sqlite3\nc = sqlite3.connect('d.db')\nc.execute('create table t(x)')\n"
                                       "c.commit()\nprint('ok')").out, b"ok\n")
        self.assertEqual(self.run_code("import threading\nt = threading.Thread(target=print, args=('thread',))\n"
                                       "t.start(); t.join()").out, b"thread\n")


if __name__ == "__main__":
    harness.main()
