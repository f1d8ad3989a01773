"""Real programs do their work inside: compilers, git, node, Python, Java, shells, and people at a terminal."""
import fcntl
import hashlib
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest
import zipfile

import harness

SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin"  # where a sandbox looks, and it sees /usr only


def program(name):
    """The path of a program that a sandbox sees too, or nothing."""
    path = shutil.which(name, path=SANDBOX_PATH)
    return path if path and os.path.realpath(path).startswith("/usr/") else None


def needs(*names):
    missing = [name for name in names if not program(name)]
    return unittest.skipIf(missing, f"not below /usr, which is all that a sandbox sees: {' '.join(missing)}")


def has_module(name):
    return program("python3") and subprocess.run([program("python3"), "-c", f"import {name}"], capture_output=True,
                                                 check=False).returncode == 0


class ProgramTest(harness.SkerryTest):
    def project(self, files):
        """A directory of the user who runs skerry, with these files in it."""
        work = self.directory("project")
        for name, text in files.items():
            path = os.path.join(work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        if harness.AS_USER:
            for root, directories, names in os.walk(work):
                for name in directories + names:
                    os.chown(os.path.join(root, name), harness.PLAIN_ID, harness.PLAIN_ID)
        return work

    def works(self, code, expected, *arguments):
        """The shell code succeeds, prints exactly this and complains about nothing."""
        result = self.shell(code, *arguments)
        seen = (result.code, result.out.decode(), result.err.decode(errors="replace"))
        self.assertEqual(seen, (0, expected, ""))

    def works_everywhere(self, files, code, expected, *arguments):
        """The same in a person's directory and in a temporary workspace, which gets the files by the code."""
        with self.subTest("in a person's directory"):
            self.works(code, expected, "--workspace", self.project(files), *arguments)
        with self.subTest("in a temporary workspace"):
            unpack = "".join(f"mkdir -p $(dirname {name})\ncat > {name} <<'END OF FILE'\n{text}\nEND OF FILE\n"
                             for name, text in files.items())
            self.works(unpack + code, expected, *arguments)


CPP_PROJECT = {
    "Makefile": """
OBJECTS = main.o words.o total.o
program: $(OBJECTS)
\t$(CXX) -pthread -o $@ $^
%.o: %.cpp words.hpp
\t$(CXX) -c -O1 -g -o $@ $<
""",
    "words.hpp": """
#pragma once
#include <string>
#include <vector>
std::vector<std::string> Words();
int Total(const std::vector<std::string>& words);
""",
    "words.cpp": """
#include "words.hpp"
#include <stdexcept>
std::vector<std::string> Words() {
  try { throw std::runtime_error("three"); }
  catch (const std::exception& error) { return {"one", "two", error.what()}; }
}
""",
    "total.cpp": """
#include "words.hpp"
#include <atomic>
#include <thread>
int Total(const std::vector<std::string>& words) {
  std::atomic<int> total = 0;
  std::vector<std::thread> threads;
  for (const auto& word : words) threads.emplace_back([&] { total += static_cast<int>(word.size()); });
  for (auto& thread : threads) thread.join();
  return total;
}
""",
    "main.cpp": """
#include "words.hpp"
#include <filesystem>
#include <iostream>
int main() { std::cout << Total(Words()) << " " << std::filesystem::current_path().string() << std::endl; }
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.16)
project(words LANGUAGES CXX)
find_package(Threads REQUIRED)
add_executable(words main.cpp words.cpp total.cpp)
target_link_libraries(words Threads::Threads)
enable_testing()
add_test(NAME words COMMAND words)
""",
}


class CompilerTest(ProgramTest):
    @needs("g++", "make")
    def test_make_builds_a_program_of_several_files(self):
        self.works_everywhere(CPP_PROJECT, "make -s -j2 && ./program", "11 /workspace\n")

    @needs("gcc")
    def test_gcc_builds_a_library_that_is_loaded_at_run_time(self):
        code = """
printf 'int answer(void) { return 42; }' | gcc -shared -fPIC -o libanswer.so -x c -
printf '#include <stdio.h>\\nint answer(void);int main(void) { printf("%%d\\\\n", answer()); }' > main.c
gcc -o main main.c -L. -lanswer -Wl,-rpath,'$ORIGIN' && ./main
gcc -static -o alone main.c -x c - <<<'int answer(void) { return 43; }' && ./alone
mkdir /tmp/built && gcc -o /tmp/built/main main.c libanswer.so && LD_LIBRARY_PATH=. /tmp/built/main
"""
        self.works_everywhere({}, code, "42\n43\n42\n")

    @needs("g++", "cmake", "ninja")
    def test_cmake_and_ninja_build_and_test(self):
        code = "cmake -G Ninja -S . -B out > log && cmake --build out > log && ctest --test-dir out > log && out/words"
        self.works(code, "11 /workspace\n", "--workspace", self.project(CPP_PROJECT))

    @needs("clang++-19")
    def test_clang_builds(self):
        self.works("clang++-19 -O1 -o program main.cpp words.cpp total.cpp -pthread && ./program", "11 /workspace\n",
                   "--workspace", self.project(CPP_PROJECT))


NODE_PROJECT = {
    "package.json": '{"name": "app", "version": "1.0.0", "scripts": {"start": "node main.js", "greet": "greet you"}}',
    "main.js": """
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { exec, fork, spawnSync } = require('child_process');
const http = require('http');
if (process.argv[2] === 'child') {
  process.on('message', (number) => { process.send(number * 2); process.disconnect(); });
} else if (!isMainThread) {
  const cells = new Int32Array(workerData);
  parentPort.postMessage(Atomics.add(cells, 0, 1) >= 0);
} else {
  main();
}

function inWorker(shared) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: shared });
    worker.on('error', reject);
    worker.on('exit', resolve);
  });
}

async function main() {
  const shared = new SharedArrayBuffer(4);
  await Promise.all([1, 2, 3].map(() => inWorker(shared)));
  console.log('workers', new Int32Array(shared)[0]);
  console.log('spawn', spawnSync('cat', { input: 'through a pipe' }).stdout.toString());
  console.log('exec', await new Promise((resolve) => exec('echo $((6 * 7))', (_, out) => resolve(out.trim()))));
  const child = fork(__filename, ['child']);
  child.send(21);
  console.log('fork', await new Promise((resolve) => child.on('message', resolve)));
  const server = http.createServer((request, response) => response.end('at ' + request.url));
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    await new Promise((resolve) => server.listen(0, host, resolve));
    const name = host.includes(':') ? `[${host}]` : host;
    console.log('http', await (await fetch(`http://${name}:${server.address().port}/x`)).text());
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  console.log('wasm', memory.grow(15));
}
""",
    "greet/package.json": '{"name": "greet", "version": "1.0.0", "bin": "cli.js"}',
    "greet/cli.js": "#!/usr/bin/env node\nconsole.log('hello', process.argv[2]);\n",
    "sum.test.mjs": """
import test from 'node:test';
import assert from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
test('a file', async () => { await writeFile('x', 'y'); assert.equal(await readFile('x', 'utf8'), 'y'); });
""",
}
NODE_OUTPUT = ("workers 3\nspawn through a pipe\nexec 42\nfork 42\nhttp at /x\nhttp at /x\nhttp at /x\nwasm 1\n")


@needs("node")
class NodeTest(ProgramTest):
    def test_workers_children_and_a_server(self):
        self.works_everywhere(NODE_PROJECT, "node main.js", NODE_OUTPUT)

    def test_its_own_test_runner(self):
        work = self.project(NODE_PROJECT)
        self.works("node --test --test-reporter=tap sum.test.mjs | grep '^# pass'", "# pass 1\n", "--workspace", work)

    @needs("npm")
    def test_npm_runs_a_script(self):
        self.works("npm run --silent start", NODE_OUTPUT, "--workspace", self.project(NODE_PROJECT))

    @needs("npm")
    def test_npm_installs_a_package_that_the_next_run_uses(self):
        work = self.project(NODE_PROJECT)
        self.works("npm pack --silent ./greet && npm install --silent --offline greet-1.0.0.tgz", "greet-1.0.0.tgz\n",
                   "--workspace", work)
        self.works("npm run --silent greet; npx --offline greet me", "hello you\nhello me\n", "--workspace", work)
        self.works("npm install --silent --offline ./greet", "", "--workspace", work)
        self.works("npm run --silent greet && npm uninstall --silent greet && ls -A node_modules/.bin | wc -l",
                   "hello you\n0\n", "--workspace", work)


GIT_NAMES = "git config --global user.name A; git config --global user.email a@b; git config --global " \
            "init.defaultBranch main\n"


@needs("git")
class GitTest(ProgramTest):
    def test_clone_commit_branch_merge_stash_and_push(self):
        code = GIT_NAMES + """
set -e
git init -q --bare origin.git
git clone -q origin.git first 2>/dev/null && cd first
printf '1\\n2\\n3\\n' > numbers && git add . && git commit -qm one && git push -q origin main
git clone -q ../origin.git ../second
git switch -qc side && sed -i s/2/two/ numbers && git diff --stat | cat && git commit -qam two
git switch -q main && echo x > other && git add . && git commit -qm three && git merge -q -m merged side
echo dirty >> numbers && git stash -q && git status --short && git stash pop -q && git status --short
git commit -qam four && git log --format=%s && git push -q origin main side
cd ../second && git pull -q && git log --oneline | wc -l && git branch -r | wc -l
git mv numbers figures && git commit -qm moved && git show --stat --format=%s -M | head -3
git rebase -q HEAD~1 && git gc -q && git fsck --no-dangling && git grep -c two && git archive HEAD | tar t
"""
        self.works_everywhere({}, code, " numbers | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n M numbers\n"
                              "four\nmerged\nthree\ntwo\none\n5\n3\nmoved\n\n numbers => figures | 0\n"
                              "figures:1\nfigures\nother\n")

    def test_worktrees_and_submodules_within_one_run(self):
        code = GIT_NAMES + """
set -e
git init -q library && cd library && echo 1 > file && git add . && git commit -qm library && cd ..
git init -q app && cd app && git -c protocol.file.allow=always submodule --quiet add ../library sub
git commit -qm app && git worktree add -q ../tree -b side && git -C ../tree log -1 --format=%s
git -C sub log -1 --format=%s && git submodule status | cut -d' ' -f3
"""
        self.works(code, "app\nlibrary\nsub\n")

    def test_a_repository_of_the_host_is_worked_on_and_read_there(self):
        work = self.project({"file": "old\n"})
        trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": work}

        def on_host(*command):
            return subprocess.check_output(command, cwd=work, env=self.environment(trust), text=True)

        on_host("git", "init", "-q")
        on_host("git", "add", ".")
        on_host("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "outside")
        on_host("chown", "-R", "--reference", work, ".")
        self.works(GIT_NAMES + "git status --short; echo new > file; git commit -qam inside; git log --format=%s",
                   "inside\noutside\n", "--workspace", work)
        self.assertEqual(on_host("git", "log", "--format=%s"), "inside\noutside\n")
        self.assertEqual(on_host("git", "status", "--short"), "")


PYTHON_PROCESSES = """
import concurrent.futures, multiprocessing as mp, os, sys
from multiprocessing import shared_memory

def square(n):
    return n * n

def put(queue, name):
    memory = shared_memory.SharedMemory(name)
    memory.buf[0] += 1
    memory.close()
    queue.put(os.getpid())

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = mp.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(square, range(4)))
        memory = shared_memory.SharedMemory(create=True, size=4096)
        queue = context.Queue()
        process = context.Process(target=put, args=(queue, memory.name))
        process.start()
        print(queue.get() == process.pid, process.join(), process.exitcode, memory.buf[0])
        memory.close()
        memory.unlink()
    with mp.Manager() as manager:
        shared = manager.dict(a=1)
        print(dict(shared))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(square, range(10))))
    lock, value = mp.Lock(), mp.Value("i", 5)
    with lock:
        print(value.value)
"""

PYTHON_ASYNCIO = """
import asyncio, signal, os

async def echo(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()

async def ask(reader, writer):
    writer.write(b"hello\\n")
    answer = await reader.read()
    writer.close()
    return answer

async def main():
    process = await asyncio.create_subprocess_exec("sort", "-r", stdin=-1, stdout=-1)
    print((await process.communicate(b"a\\nb\\n"))[0])
    process = await asyncio.create_subprocess_shell("exit 3")
    print(await process.wait())
    async with await asyncio.start_server(echo, "localhost", 0) as server:
        print(await ask(*await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])))
    async with await asyncio.start_unix_server(echo, "socket"):
        print(await ask(*await asyncio.open_unix_connection("socket")))
    came = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, came.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(came.wait(), 5)
    print(await asyncio.to_thread(sum, [1, 2]))
    os.unlink("socket")

asyncio.run(main())
"""

PYTHON_SQLITE = """
import sqlite3, subprocess, sys
for mode in ("delete", "wal"):
    base = sqlite3.connect(mode + ".db")
    print(base.execute("pragma journal_mode=" + mode).fetchone())
    base.execute("create table t(x)")
    base.executemany("insert into t values(?)", [(n,) for n in range(1000)])
    base.commit()
    reader = sqlite3.connect(mode + ".db")
    rows = reader.execute("select x from t")
    rows.fetchone()
    if mode == "wal":
        base.execute("insert into t values(5)")
        base.commit()
    code = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select count(*) from t').fetchone())"
    print(subprocess.check_output([sys.executable, "-c", code, mode + ".db"], text=True).strip())
    print(len(rows.fetchall()), base.execute("pragma integrity_check").fetchone())
"""

PYTHON_LIBRARY = """
import ctypes, fcntl, getpass, locale, mmap, os, pwd, signal, socket, ssl, subprocess, sys, tempfile, threading, time
import http.server, selectors, urllib.request, uuid, zoneinfo, datetime, pty, shutil

with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryDirectory() as directory:
    print(file.name.startswith("/tmp/"), directory.startswith("/tmp/"), tempfile.TemporaryFile().write(b"x"))
total = []
threads = [threading.Thread(target=total.append, args=(n,)) for n in range(50)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(total))
locale.setlocale(locale.LC_ALL, "")
print(locale.getlocale()[1], sys.stdout.encoding, sys.getfilesystemencoding(), "\\u00e9\\u6f22\\U0001f600")
open("na\\u00efve \\u6f22.txt", "w").write("\\u00e9")
print([name for name in os.listdir() if name.startswith("na")])
first = subprocess.Popen(["printf", "b\\\\na\\\\n"], stdout=subprocess.PIPE)
print(subprocess.run(["sort"], stdin=first.stdout, capture_output=True, text=True, check=True).stdout.split())
numbers = (ctypes.c_int * 3)(3, 1, 2)
order = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
ctypes.CDLL(None).qsort(numbers, 3, 4, order(lambda a, b: a[0] - b[0]))
print(list(numbers))
print(ssl.create_default_context().check_hostname, ssl.RAND_status())
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).utcoffset())
os.environ["TZ"] = "America/New_York"
time.tzset()
print(time.localtime(0).tm_hour)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://localhost:{server.server_port}/").status)
with open("mapped", "w+b") as file:
    file.truncate(8192)
    with mmap.mmap(file.fileno(), 0) as mapped: mapped[5000] = 7
    fcntl.lockf(file, fcntl.LOCK_EX)
    print(file.seek(5000), file.read(1))
print(pwd.getpwuid(os.getuid()).pw_name, getpass.getuser(), os.path.expanduser("~"), socket.gethostname())
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
parent, child = pty.openpty()
print(os.isatty(child), os.ttyname(child).startswith("/dev/pts/"), os.cpu_count() > 0, uuid.uuid1().version)
os.rename("mapped", "renamed"), os.link("renamed", "linked"), os.symlink("linked", "symbolic")
print(os.stat("symbolic").st_nlink, shutil.copyfile("renamed", "copy"), shutil.disk_usage(".").free > 0)
"""
PYTHON_LIBRARY_OUTPUT = """True True 1
1225
UTF-8 utf-8 utf-8 \u00e9\u6f22\U0001f600
['na\u00efve \u6f22.txt']
['a', 'b']
[1, 2, 3]
True True
2:00:00
19
200
5000 b'\\x07'
agent agent /home/agent skerry
alarm
True True True 1
2 copy True
"""


class PythonTest(ProgramTest):
    def test_processes_pools_and_shared_memory(self):
        lines = "".join(f"{method} [0, 1, 4, 9]\nTrue None 0 1\n" for method in ("fork", "spawn", "forkserver"))
        self.works_everywhere({"main.py": PYTHON_PROCESSES}, "python3 main.py", lines + "{'a': 1}\n285\n5\n")

    def test_asyncio_children_and_servers(self):
        self.works_everywhere({"main.py": PYTHON_ASYNCIO}, "python3 main.py",
                              "b'b\\na\\n'\n3\nb'HELLO\\n'\nb'HELLO\\n'\n3\n")

    def test_sqlite(self):
        self.works_everywhere({"main.py": PYTHON_SQLITE}, "python3 main.py", "('delete',)\n(1000,)\n999 ('ok',)\n"
                              "('wal',)\n(1001,)\n999 ('ok',)\n")

    @unittest.skipUnless(os.path.isdir("/usr/share/zoneinfo/Europe"), "no time zones on this machine")
    def test_the_standard_library(self):
        self.works_everywhere({"main.py": PYTHON_LIBRARY}, "python3 main.py", PYTHON_LIBRARY_OUTPUT)

    def test_code_that_is_no_file_has_pools_too(self):
        result = self.run_code("import multiprocessing as m, concurrent.futures as c\n"
                               "with m.get_context('spawn').Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
                               "with c.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-3])))\n")
        self.assertEqual((result.code, result.out, result.err), (0, b"[1, 2]\n[3]\n", b""))

    @unittest.skipUnless(has_module("pytest"), "no pytest that a sandbox sees")
    def test_pytest(self):
        files = {"lib.py": "def twice(x):\n    return 2 * x\n",
                 "test_lib.py": "import pytest, lib\n\n@pytest.mark.parametrize('n', [1, 2])\n"
                                "def test_twice(n, tmp_path):\n    (tmp_path / 'x').write_text(str(n))\n"
                                "    assert lib.twice(n) == n + n\n\n"
                                "def test_wrong(capfd):\n    assert lib.twice(1) == 3\n"}
        code = "python3 -m pytest -q 2>&1 | tail -1 | sed 's/ in .*//'; python3 -m pytest -q --lf > log; echo $?"
        self.works_everywhere(files, code, "1 failed, 2 passed\n1\n")


@unittest.skipUnless(has_module("ensurepip"), "no ensurepip that a sandbox sees")
class VirtualEnvironmentTest(ProgramTest):
    def wheel(self, work):
        """A package as pip wants it; built here because a sandbox has no index to get one from."""
        name = os.path.join(work, "greet-1.0-py3-none-any.whl")
        facts = "greet-1.0.dist-info/"
        files = {"greet.py": "def main():\n    print('hello from', __name__)\n",
                 facts + "METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
                 facts + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                 facts + "entry_points.txt": "[console_scripts]\ngreet = greet:main\n"}
        with zipfile.ZipFile(name, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
            archive.writestr(facts + "RECORD", "".join(f"{path},,\n" for path in [*files, facts + "RECORD"]))
        os.chmod(name, 0o644)
        return name

    def test_pip_installs_and_the_next_runs_use_and_change_it(self):
        work = self.directory("project")
        self.wheel(work)
        made = self.shell("python3 -m venv env && env/bin/pip install -q --no-index greet-*.whl && env/bin/greet",
                          "--workspace", work)
        self.assertEqual((made.code, made.out), (0, b"hello from greet\n"))
        # All that is missing is what every Python of the environment would run at its start.
        for line in made.err.decode().splitlines():
            self.assertRegex(line, r"\.pth\b.*start-up file")
        self.works(". env/bin/activate && greet && python -c 'import sys; print(sys.prefix)' && "
                   "pip uninstall -qy greet",
                   "hello from greet\n/workspace/env\n", "--workspace", work)
        # An environment that was there gets packages, and no new programs.
        again = self.shell("env/bin/python -c 'import greet' 2>&1 | tail -1; env/bin/pip install -q --no-index "
                           "--find-links . greet; env/bin/pip list --format=freeze | grep greet; env/bin/greet",
                           "--workspace", work)
        self.assertEqual((again.code, again.out.decode(), again.err.decode()),
                         (0, "ModuleNotFoundError: No module named 'greet'\ngreet==1.0\nhello from greet\n",
                          "skerry: not carried over: env/bin/greet: program of an environment that was there before\n"))
        self.works("env/bin/python -c 'import greet; greet.main()'; ls env/bin | grep greet | wc -l",
                   "hello from greet\n0\n", "--workspace", work)

    def test_a_persons_environment_keeps_its_programs(self):
        work = self.directory("project")
        made = self.shell("python3 -m venv --without-pip env && readlink env/bin/python3", "--workspace", work)
        self.assertEqual((made.code, made.err), (0, b""))
        for change in ("echo evil > env/bin/git", "echo evil >> env/bin/activate", "ln -sf /usr/bin/env env/bin/python3",
                       "echo 'home = /workspace/evil' > env/pyvenv.cfg", "rm env/pyvenv.cfg; echo evil > env/bin/git",
                       "rm -r env/bin; mkdir e; ln -s ../e env/bin", "mv env e; ln -s e env"):
            with self.subTest(change):
                self.assertIn(b"not carried over: env", self.shell(change, "--workspace", work).err)
                self.assertTrue(os.path.isfile(os.path.join(work, "env/pyvenv.cfg")))
                self.assertFalse(os.path.exists(os.path.join(work, "env/bin/git")))
                with open(os.path.join(work, "env/bin/activate"), encoding="utf-8") as file:
                    self.assertNotIn("evil", file.read())
                self.assertEqual(os.readlink(os.path.join(work, "env/bin/python3")), made.out.decode().strip())

    def test_in_a_temporary_workspace(self):
        self.works("python3 -m venv env && env/bin/pip --version | cut -d' ' -f1; env/bin/python -c 'print(1)'",
                   "pip\n1\n")


JAVA_MAIN = """
import java.net.*;
import java.time.*;
import java.util.concurrent.*;

public class Main {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    System.out.println("pool " + pool.submit(() -> 6 * 7).get());
    pool.shutdown();
    Process child = new ProcessBuilder("echo", "child").inheritIO().start();
    System.out.println("exit " + child.waitFor());
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
         var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
      System.out.println("connected " + client.isConnected());
    }
    var zone = ZoneId.of("Europe/Berlin");
    System.out.println(ZonedDateTime.of(2024, 7, 1, 0, 0, 0, 0, zone).getOffset() + " \\u00e9");
    System.out.println(System.getProperty("user.name") + " " + System.getProperty("user.dir"));
  }
}
"""
JAVA_GARBAGE = """
public class Garbage {
  public static void main(String[] arguments) {
    long total = 0;
    for (int i = 0; i < 1000; i++) total += new byte[1 << 20].length;
    System.out.println(total >> 20);
  }
}
"""


@needs("java")
class JavaTest(ProgramTest):
    OUTPUT = "pool 42\nchild\nexit 0\nconnected true\n+02:00 \u00e9\nagent /workspace\n"

    def test_a_source_file_is_compiled_and_run(self):
        self.works_everywhere({"Main.java": JAVA_MAIN}, "java Main.java", self.OUTPUT)

    @needs("javac")
    def test_classes_of_one_run_serve_the_next(self):
        work = self.project({"Main.java": JAVA_MAIN})
        self.works("javac Main.java", "", "--workspace", work)
        self.works("java -cp . Main", self.OUTPUT, "--workspace", work)

    def test_collects_garbage_when_told_how_much_memory_there_is(self):
        # The machine's memory is what Java sees; it lets garbage pile up to a quarter of that.
        self.works("java -XX:MaxRAM=512m Garbage.java", "1000\n", "--workspace",
                   self.project({"Garbage.java": JAVA_GARBAGE}))


class ToolsTest(ProgramTest):
    def test_awk_sed_find_xargs_tar_gzip(self):
        code = """
set -e -o pipefail
mkdir -p a/b && for n in 1 2 3; do echo "line $n" > "a/b/file $n"; done
find a -type f -print0 | sort -z | xargs -0 -n1 -P2 cat | sort | awk '{ s += $2 } END { print s, NR }'
sed -i 's/line/row/' a/b/* && grep -rc row a | sort
tar czf a.tar.gz a && rm -r a && tar xzf a.tar.gz && gzip -t a.tar.gz && cat 'a/b/file 2'
find . -name '*.gz' -newermt 2000-01-01 -exec wc -l {} + > /dev/null
seq 1000 | sort -R | sort -n | tail -n 1; seq 3 | paste -sd+ ; printf 'b\\na\\n' | sort | uniq -c | tr -s ' '
cmp <(sha256sum < a.tar.gz) <(cat a.tar.gz | sha256sum) && echo same
cp -a a c && diff -r a c && mv c d && ln -s d e && cat 'e/b/file 1' && touch -d 2001-02-03 d && date -r d +%F
"""
        self.works_everywhere({}, code, "6 3\na/b/file 1:1\na/b/file 2:1\na/b/file 3:1\nrow 2\n1000\n1+2+3\n"
                              " 1 a\n 1 b\nsame\nrow 1\n2001-02-03\n")

    @needs("perl")
    def test_perl(self):
        code = """
perl -MFile::Temp -MIO::Socket::INET -MPOSIX -MTime::HiRes -e '
my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen $!";
my $pid = fork // die "fork $!";
if (!$pid) {
  my $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $server->sockport);
  print $client "hi\\n"; exit 4
}
print scalar readline($server->accept); waitpid $pid, 0; print $? >> 8, "\\n";
my $file = File::Temp->new; print $file "text"; close $file; print -s "$file", "\\n";
$SIG{ALRM} = sub { print "alarm\\n" }; Time::HiRes::ualarm(10_000); pause; print `echo back`;'
"""
        self.works_everywhere({}, code, "hi\n4\n4\nalarm\nback\n")


SHELL_SCRIPT = """#!/bin/bash
set -u
cleanup() { echo "cleanup $?"; }
trap cleanup EXIT
trap 'echo usr1' USR1
sleep 30 & sleeper=$!
(sleep 0.05; echo slow) & (echo fast)
wait $!
kill -USR1 $$
kill $sleeper; wait $sleeper; echo "killed $?"
cat <<END | tr a-z A-Z
here $((1 + 1)) $(echo nested)
END
cat <<-'END'
	literal $HOME
	END
diff <(printf '1\\n2\\n') <(printf '1\\n3\\n') | grep -c '^[<>]'
echo to-process > >(sed s/to/from/); sleep 0.1
coproc CAT { cat; }; echo through >&"${CAT[1]}"; read -r line <&"${CAT[0]}"; echo "$line"; kill $CAT_PID
mkfifo pipe; (echo fifo > pipe &); cat pipe; rm pipe
exec 5> numbered; echo five >&5; exec 5>&-; cat numbered
[[ -t 0 ]] || echo 'no terminal'
timeout 0.1 sleep 5; echo "timeout $?"
set -m; sleep 0.1 & fg %1 > /dev/null; echo "job $?"
(exit 3); exit
"""


class ShellTest(ProgramTest):
    OUTPUT = ("fast\nslow\nusr1\nkilled 143\nHERE 2 NESTED\nliteral $HOME\n2\nfrom-process\nthrough\nfifo\nfive\n"
              "no terminal\ntimeout 124\njob 0\ncleanup 3\n")

    def test_jobs_traps_here_documents_and_process_substitution(self):
        self.works_everywhere({"script.sh": SHELL_SCRIPT}, "chmod +x script.sh; ./script.sh; echo $?",
                              self.OUTPUT + "3\n")

    def test_the_same_as_the_code_itself(self):
        result = self.shell(SHELL_SCRIPT)
        self.assertEqual((result.code, result.out.decode(), result.err), (3, self.OUTPUT, b""))


class ConsecutiveRunsTest(ProgramTest):
    """What one run leaves in a person's directory, the next one finds and goes on with."""

    @needs("g++", "make")
    def test_make_builds_only_what_changed(self):
        work = self.project(CPP_PROJECT)
        self.works("make -s -j2", "", "--workspace", work)
        self.works("make -q && ./program", "11 /workspace\n", "--workspace", work)
        self.works("sed -i s/three/seven+/ words.cpp; make -n | grep -o '[a-z]*.cpp'; make -s && ./program",
                   "words.cpp\n12 /workspace\n", "--workspace", work)
        self.works("make -q; ./program", "12 /workspace\n", "--workspace", work)

    @needs("git")
    def test_a_repository_grows_over_runs(self):
        work = self.directory("project")
        check = "git fsck --no-dangling && "
        self.works(GIT_NAMES + "git init -q && echo 1 > a && git add a && git commit -qm one", "", "--workspace", work)
        self.works(GIT_NAMES + check + "git status --short; git switch -qc side && echo 2 > b && git add b && "
                   "git commit -qm two && git tag t && echo dirty >> a && git stash -q", "", "--workspace", work)
        self.works(GIT_NAMES + check + "git stash pop -q && git status -sb && git log --format=%s t && "
                   "git repack -qad && git commit -qam three", "## side\n M a\ntwo\none\n", "--workspace", work)
        self.works(check + "git log --format=%s && git status --short", "three\ntwo\none\n", "--workspace", work)

    def test_a_data_base_goes_on(self):
        work = self.directory("project")
        code = """
import os, sqlite3
base = sqlite3.connect("d.db")
print(base.execute("pragma journal_mode=wal").fetchone()[0])
base.execute("create table if not exists t(x)")
base.execute("insert into t values(1)")
base.commit()
print(base.execute("select count(*) from t").fetchone()[0], flush=True)
os._exit(0)
"""
        for count in (1, 2, 3):  # each ends without closing the base: the journal stays for the next
            self.assertEqual(self.run_code("--workspace", work, code).out.decode(), f"wal\n{count}\n")

    def test_names_removed_moved_linked_and_changed(self):
        files = {"gone/deep/file": "x", "moved/file": "moved", "kept": "kept", "replaced/file": "x", "grown": "1\n"}
        work = self.project(files)
        self.works("""set -e
rm -r gone && mv moved elsewhere && ln kept again && ln -s kept symbolic && rm -r replaced && echo file > replaced
echo 2 >> grown && chmod 755 grown && mkdir -p new/empty && : > zero
truncate -s 10M sparse && printf x > 'odd
name'""", "", "--workspace", work)
        self.works("""ls gone moved 2>&1 | wc -l; cat elsewhere/file; cat symbolic replaced grown; echo
stat -c '%a %s' grown new/empty/. zero sparse | cut -d' ' -f1
stat -c %s sparse zero
[[ kept -ef again ]] || cmp kept again && find . | wc -l""",
                   "2\nmovedkeptfile\n1\n2\n\n755\n755\n644\n644\n10485760\n0\n14\n", "--workspace", work)
        self.assertEqual(sorted(os.listdir(work)), ["again", "elsewhere", "grown", "kept", "new", "odd\nname",
                                                    "replaced", "sparse", "symbolic", "zero"])
        with open(os.path.join(work, "grown"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "1\n2\n")

    def test_the_time_of_a_file_stays_what_it_was_set_to(self):
        # make and its kin live by it: a stamp file is touched, never written.
        work = self.project({"stamp": "", "written": "x"})
        self.works("touch -d 2001-02-03T04:05:06.789 stamp; echo y > written; touch -d 2002-01-01 written; "
                   "touch -d 2003-01-01 new", "", "--workspace", work)
        self.works("stat -c %y stamp written new | cut -c1-23", "2001-02-03 04:05:06.789\n2002-01-01 00:00:00.000\n"
                   "2003-01-01 00:00:00.000\n", "--workspace", work)

    def test_directories_of_an_earlier_run_are_moved(self):
        # In one step where the workspace can; where it is an overlay, rename says EXDEV and programs copy.
        work = self.directory("project")
        self.works("mkdir -p a/deep b/deep && echo x | tee a/deep/file > b/deep/file", "", "--workspace", work)
        self.works("""mv a c && python3 -c "
import errno, os, shutil
try: os.rename('b', 'd')
except OSError as error:
    assert error.errno == errno.EXDEV, error
    shutil.move('b', 'd')" && cat c/deep/file d/deep/file""", "x\nx\n", "--workspace", work)
        self.works("find . -type f | sort; ls", "./c/deep/file\n./d/deep/file\nc\nd\n", "--workspace", work)

    def test_pipes_and_sockets_that_are_left_lying_do_no_harm(self):
        work = self.directory("project")
        result = self.shell("mkfifo pipe; echo x > file; "
                            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"",
                            "--workspace", work)
        self.assertEqual((result.code, result.out), (0, b""))  # it may say that they stay behind
        self.works("cat file", "x\n", "--workspace", work)


class Terminal:
    """A person's terminal with skerry running in it."""

    def __init__(self, command, environment, cwd, size=(24, 80)):
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        if harness.AS_USER:
            os.fchown(self.slave, harness.PLAIN_ID, harness.PLAIN_ID)
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        env=environment, cwd=cwd, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def read_more(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.master, 65536)
        return True

    def expect(self, pattern, seconds=20):
        """Waits for a line or a part of one; what came until there is used up and given back."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern.encode(), self.seen)):
            if not self.read_more(max(0.0, deadline - time.monotonic())):
                raise AssertionError(f"no {pattern!r} in {self.seen!r}")
        until, self.seen = self.seen[:match.end()], self.seen[match.end():]
        return until.decode()

    def end(self, seconds=20):
        """Waits for skerry and gives back its exit code and what it printed since the last expect."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            self.read_more(0.05)
            if time.monotonic() > deadline:
                raise AssertionError(f"still running: {self.seen!r}")
        while self.read_more(0.1):
            pass
        return self.process.returncode, self.seen.decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def help_has_tty():
    return b"--tty" in subprocess.run([harness.BINARY, "run", "--help"], capture_output=True, check=False).stdout


@unittest.skipUnless(help_has_tty(), "skerry run has no --tty yet")
class TerminalTest(ProgramTest):
    def terminal(self, code, *arguments, size=(24, 80), term="xterm-256color"):
        terminal = Terminal(self.command("run", "--tty", "-l", "shell", *arguments, code),
                            self.environment({"TERM": term}), self.home, size)
        self.addCleanup(terminal.close)
        return terminal

    def test_all_three_streams_are_one_terminal(self):
        terminal = self.terminal("tty; for n in 0 1 2; do test -t $n && readlink /proc/$$/fd/$n; done\n"
                                 "echo x > /dev/tty")
        code, text = terminal.end()
        lines = text.split("\r\n")
        self.assertEqual(code, 0)
        self.assertRegex(lines[0], "^/dev/pts/[0-9]+$")
        self.assertEqual(lines, [lines[0]] * 4 + ["x", ""])

    def test_size_and_kind_are_the_callers(self):
        code, text = self.terminal("stty size; echo $TERM; tput cols", size=(33, 101), term="vt100").end()
        self.assertEqual((code, text), (0, "33 101\r\nvt100\r\n101\r\n"))

    def test_a_new_size_arrives(self):
        terminal = self.terminal("trap 'stty size; exit 6' WINCH; echo ready; while :; do sleep 0.05; done")
        terminal.expect("ready")
        terminal.resize(40, 120)
        terminal.expect("40 120")
        self.assertEqual(terminal.end()[0], 6)

    def test_the_callers_terminal_is_raw_while_it_runs_and_as_before_afterwards(self):
        terminal = self.terminal("echo ready; read -r line; exit 5")
        terminal.expect("ready")
        during = termios.tcgetattr(terminal.slave)
        self.assertFalse(during[3] & (termios.ICANON | termios.ECHO | termios.ISIG), "local modes")
        self.assertFalse(during[0] & (termios.ICRNL | termios.IXON), "input modes")
        terminal.type("x\r")
        self.assertEqual(terminal.end()[0], 5)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_the_callers_terminal_is_restored_however_it_ends(self):
        with self.subTest("timeout"):
            terminal = self.terminal("echo ready; sleep 100", "--timeout", "1")
            self.assertEqual(terminal.end()[0], 124)
            self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                terminal = self.terminal("echo ready; sleep 100")
                terminal.expect("ready")
                terminal.process.send_signal(number)
                self.assertEqual(terminal.end()[0], 128 + number)
                self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_an_interrupt_reaches_the_program(self):
        terminal = self.terminal("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done")
        terminal.expect("ready")
        terminal.type("\x03")
        terminal.expect("caught")
        self.assertEqual(terminal.end()[0], 7)

    def test_an_interrupt_ends_a_program_that_does_not_care(self):
        terminal = self.terminal("echo ready; exec sleep 100")
        terminal.expect("ready")
        terminal.type("\x03")
        self.assertEqual(terminal.end()[0], 128 + signal.SIGINT)

    def test_what_is_typed_is_echoed_once_and_edited(self):
        terminal = self.terminal("echo ready; read -r line; echo \"<$line>\"")
        terminal.expect("ready\r\n")
        terminal.type("h\u00e9llp\x7fo\r")
        self.assertEqual(terminal.end(), (0, "h\u00e9llp\b \bo\r\n<h\u00e9llo>\r\n"))

    def test_end_of_input_is_typed(self):
        terminal = self.terminal("echo ready; cat; echo end")
        terminal.expect("ready\r\n")
        terminal.type("line\r\x04")
        self.assertEqual(terminal.end(), (0, "line\r\nline\r\nend\r\n"))

    def test_output_ends_complete(self):
        code, text = self.terminal("seq 50000; exit 3").end()
        self.assertEqual(code, 3)
        self.assertEqual(text.split("\r\n"), [*map(str, range(1, 50001)), ""])

    def test_jobs_are_stopped_and_go_on(self):
        # Reads from the terminal only while it is in the foreground, as the kernel sees to.
        job = "trap '' TTIN; echo u''p; until read -r line; do sleep 0.05; done; echo got $line; sleep 100"
        terminal = self.terminal("PS1='%% ' exec bash --norc --noprofile -i", "--workspace", self.project({"job": job}))
        self.assertNotIn("job control", terminal.expect("%% "))
        terminal.type("bash job\r")
        terminal.expect("up\r\n")
        terminal.type("\x1a")
        terminal.expect(r"\[1\]\+ +Stopped +bash job")
        terminal.expect("%% ")
        terminal.type("bg\r")
        terminal.expect(r"\[1\]\+ bash job &")
        terminal.expect("%% ")
        terminal.type("jobs\r")
        terminal.expect(r"\[1\]\+ +Running +bash job &")
        terminal.expect("%% ")
        terminal.type("fg\r")
        terminal.expect("fg\r\n.*bash job\r\n")
        terminal.type("line\r")
        terminal.expect("got line\r\n")
        terminal.type("\x03")
        terminal.expect("%% ")
        terminal.type("echo $?; exit 9\r")
        terminal.expect("130\r\n")
        self.assertEqual(terminal.end()[0], 9)

    def test_lines_are_edited_and_remembered(self):
        terminal = self.terminal("exec python3 -q")
        terminal.expect(">>> ")
        terminal.type("6*8\x7f7\r")
        terminal.expect("42")
        terminal.expect(">>> ")
        terminal.type("\x1b[A\r")  # the line before, from the history
        terminal.expect("42")
        terminal.expect(">>> ")
        terminal.type("\x04")
        self.assertEqual(terminal.end()[0], 0)

    def test_a_password_is_not_shown(self):
        terminal = self.terminal("read -rs -p 'Password: ' word < /dev/tty; echo; echo ${#word}")
        terminal.expect("Password: ")
        terminal.type("secret\r")
        self.assertEqual(terminal.end(), (0, "\r\n6\r\n"))

    def test_a_terminal_that_is_closed_ends_the_run(self):
        terminal = self.terminal("trap '' HUP; echo ready; sleep 100")
        terminal.expect("ready")
        master, terminal.master = terminal.master, os.open("/dev/null", os.O_RDWR)
        os.close(master)
        terminal.process.wait(timeout=20)  # what is left behind is looked for after each test

    def without_terminal(self, code, stdin):
        process = subprocess.run(self.command("run", "--tty", "-l", "shell", code), input=stdin, capture_output=True,
                                 timeout=30, env=self.environment(), cwd=self.home, check=False)
        return process.returncode, process.stdout

    def test_without_a_terminal_of_its_own_the_caller_gives_one_all_the_same(self):
        code, out = self.without_terminal("test -t 0 -a -t 1 -a -t 2 && stty size\n"
                                          "read -r line; echo got $line; exit 4", b"typed\n")
        self.assertEqual(code, 4)
        self.assertIn(b"24 80\r\n", out)
        self.assertTrue(out.endswith(b"got typed\r\n"), out)

    def test_without_a_terminal_the_end_of_input_is_typed_too(self):
        self.assertEqual(self.without_terminal("stty -echo; cat; echo end", b""), (0, b"end\r\n"))

    def test_without_a_terminal_bytes_pass(self):
        process = subprocess.Popen(self.command("run", "--tty", "-l", "shell",
                                                "stty raw -echo; echo ready; head -c 256 | sha256sum; head -c 256"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        every = bytes(range(256))
        out, _ = process.communicate(every * 2, timeout=30)
        self.assertEqual(out, hashlib.sha256(every).hexdigest().encode() + b"  -\n" + every)


if __name__ == "__main__":
    harness.main()
