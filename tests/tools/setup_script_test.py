"""./skerry and ./test: what they install, when they build, what they pass on."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from script_tree import ROOT, ScriptTreeTest


class RequirementsTest(ScriptTreeTest):
    def test_nothing_missing_calls_no_apt(self):
        done = self.skerry()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([], self.calls("apt-get"))

    def test_what_is_missing_is_named_with_its_reason_and_installed(self):
        self.take_away("cmake", "libcli11-dev")
        (self.bin / "sudo").symlink_to(self.depot / "sudo")
        done = self.skerry()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"cmake +configures the build\n +libcli11-dev +reads the command line\n")
        update, install = self.calls("apt-get")
        self.assertRegex(update, r" update$")
        self.assertRegex(install, r" install -y --no-install-recommends cmake libcli11-dev$")
        self.assertEqual(f"program in {self.base}\n", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_needs_no_sudo(self):
        self.take_away("ninja-build")
        done = self.skerry(user=0)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(2, len(self.calls("apt-get")))

    def test_a_half_installed_system_is_repaired_first(self):
        self.take_away("cmake")
        (self.bin / "sudo").symlink_to(self.depot / "sudo")
        self.skerry()
        self.assertEqual(["dpkg --configure -a"], self.calls("dpkg"))

    def test_without_root_and_sudo_it_prints_the_command_and_stops(self):
        self.take_away("cmake", "libc6-dev")
        done = self.skerry()
        self.assertEqual(125, done.returncode)
        self.assertEqual("", done.stdout)
        self.assertIn("\n  apt-get update && apt-get install -y --no-install-recommends cmake libc6-dev\n", done.stderr)
        self.assertEqual([], self.calls("apt-get") + self.calls("ninja"))

    def test_a_password_that_nobody_can_type_is_like_no_sudo(self):
        self.take_away("cmake")
        self.set("sudo_asks")
        (self.bin / "sudo").symlink_to(self.depot / "sudo")
        done = self.skerry()
        self.assertEqual(125, done.returncode)
        self.assertIn("  sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake\n", done.stderr)
        self.assertEqual([], self.calls("apt-get"))

    def test_a_failed_installation_shows_the_log_and_the_command(self):
        self.take_away("cmake")
        self.set("apt_fails")
        (self.bin / "sudo").symlink_to(self.depot / "sudo")
        done = self.skerry()
        self.assertEqual(125, done.returncode)
        self.assertIn("E: the mirror is on holiday", done.stderr)
        self.assertIn("  sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake\n", done.stderr)
        self.assertEqual([], self.calls("ninja"))

    def test_without_apt_it_names_the_packages(self):
        self.take_away("cmake")
        (self.bin / "apt-get").unlink()
        done = self.skerry()
        self.assertEqual(125, done.returncode)
        self.assertRegex(done.stderr, r"cmake +configures the build")
        self.assertIn("no apt-get", done.stderr)

    @unittest.skipUnless(os.path.exists("/usr/include/CLI/CLI.hpp"), "needs the headers of the build")
    def test_without_dpkg_and_apt_the_files_count(self):
        for name in ("apt-get", "dpkg", "dpkg-query"):
            (self.bin / name).unlink()
        done = self.skerry()
        self.assertEqual(0, done.returncode, done.stderr)

    def test_an_interpreter_in_a_home_does_not_count(self):
        rows = (self.tree / "tools/packages.txt").read_text()
        home = self.base / "python3"
        home.symlink_to(self.depot / "cmake")
        (self.tree / "tools/packages.txt").write_text(re.sub(r"file:/usr/local/bin/node,file:/usr/bin/node", f"file:{home}", rows))
        done = self.skerry()
        self.assertEqual(125, done.returncode)
        self.assertIn("--no-install-recommends nodejs\n", done.stderr)

    def test_only_the_tests_need_the_test_packages(self):
        self.take_away("libgtest-dev", "strace")
        self.assertEqual(0, self.skerry().returncode)
        done = self.run_script("test")
        self.assertEqual(125, done.returncode)
        self.assertIn("--no-install-recommends libgtest-dev strace\n", done.stderr)


class PassingOnTest(ScriptTreeTest):
    def test_stdout_has_only_what_the_program_prints(self):
        done = self.skerry()
        self.assertEqual(f"program in {self.base}\n", done.stdout)
        self.assertIn("building release", done.stderr)

    def test_when_built_nothing_is_said(self):
        self.skerry()
        self.assertEqual("", self.skerry().stderr)
        self.assertEqual(1, len(self.calls("ninja")))

    def test_arguments_arrive_as_they_were_given(self):
        arguments = ["run", "print('a  b')", "", '"quoted"', "*", "$HOME", "-n", "--", "line\nline", "\\", "--help"]
        for _ in ("first", "built"):
            self.skerry(*arguments)
            self.assertEqual(arguments, (self.state / "arguments").read_text().split("\0")[:-1])

    def test_the_exit_code_is_the_programs(self):
        self.set("exit", 42)
        self.assertEqual([42, 42], [self.skerry().returncode for _ in ("first", "built")])

    def test_the_build_leaves_stdin_to_the_program(self):
        self.assertEqual(f"program in {self.base}\nprint(1)\n", self.skerry(given="print(1)\n").stdout)

    def test_the_working_directory_stays(self):
        self.assertEqual(f"program in {self.state}\n", self.skerry(cwd=self.state).stdout)

    def test_it_works_through_symbolic_links(self):
        (self.base / "one").symlink_to("the tree/skerry")
        (self.base / "two").symlink_to(self.base / "one")
        (self.base / "folder").symlink_to("the tree")
        for path in ("two", "folder/skerry"):
            self.assertEqual(0, self.skerry(path=self.base / path).returncode)
        self.assertEqual(0, self.skerry(path="./skerry", cwd=self.tree).returncode)
        self.assertEqual(1, len(self.calls("ninja")))

    def test_no_lock_is_left_to_the_program(self):
        self.skerry()
        self.assertNotIn(".lock", (self.state / "fds").read_text())

    def test_it_adds_less_than_20_ms(self):
        self.skerry()

        def fastest(path):
            times = []
            for _ in range(30):
                begin = time.monotonic()
                self.skerry("version", path=path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                times.append(time.monotonic() - begin)
            return min(times)

        added = fastest(self.tree / "skerry") - fastest(self.tree / "build/release/bin/skerry")
        self.assertLess(added, 0.020)


class BuildTest(ScriptTreeTest):
    def assert_builds_again(self):
        self.assertEqual(0, self.skerry().returncode)
        self.assertEqual(2, len(self.calls("ninja")))
        self.skerry()
        self.assertEqual(2, len(self.calls("ninja")))

    def setUp(self):
        super().setUp()
        old = time.time() - 3600
        for path in [*self.tree.rglob("*")]:
            os.utime(path, (old, old))

    def test_an_edited_source_is_built(self):
        self.skerry()
        self.source.write_text("edited")
        self.assert_builds_again()

    def test_a_new_preset_is_built_and_configured(self):
        self.skerry()
        (self.tree / "CMakePresets.json").touch()
        self.assert_builds_again()
        self.assertEqual(2, len(self.calls("cmake")))

    def test_a_deleted_source_is_built(self):
        self.skerry()
        self.source.unlink()
        self.assert_builds_again()

    def test_an_edit_during_the_build_is_not_lost(self):
        self.set("ninja_edits", self.source)
        self.skerry()
        self.unset("ninja_edits")
        self.assert_builds_again()

    def test_a_binary_that_is_gone_is_built(self):
        self.skerry()
        (self.tree / "build/release/bin/skerry").unlink()
        self.assert_builds_again()

    def test_a_failed_build_shows_the_compilers_words(self):
        self.set("ninja_fails")
        done = self.skerry()
        self.assertEqual((125, ""), (done.returncode, done.stdout))
        self.assertIn("main.cpp:1:1: error: no such word\n", done.stderr)
        self.assertIn("build/release/build.log", done.stderr)
        self.assertNotIn("-a-long-line", done.stderr)
        self.unset("ninja_fails")
        self.assert_builds_again()

    def test_two_at_once_build_once(self):
        self.set("ninja_sleeps")
        both = [self.start("skerry") for _ in range(2)]
        ends = [process.communicate(timeout=30) for process in both]
        self.assertEqual([0, 0], [process.returncode for process in both])
        self.assertEqual([f"program in {self.base}\n"] * 2, [out for out, _ in ends])
        self.assertEqual(1, len(self.calls("ninja")))
        self.assertEqual(1, sum("waiting" in err for _, err in ends))

    def test_a_moved_tree_is_built_from_nothing(self):
        self.skerry()
        old = self.tree / "build/release/left over"
        old.touch()
        self.tree = self.tree.rename(self.base / "moved")
        (self.tree / "src/base/ids.cpp").touch()
        done = self.skerry()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("another place", done.stderr)
        self.assertFalse((self.tree / "build/release/left over").exists())

    def test_somebody_elses_tree_is_run_as_it_is(self):
        self.skerry()
        self.source.touch()
        if os.geteuid() == 0:
            self.give(0)
        for path in (self.tree, self.tree / "build", self.tree / "build/release"):
            path.chmod(0o555)
            self.addCleanup(path.chmod, 0o755)
        self.state.chmod(0o777)
        self.set("fds")
        (self.state / "fds").chmod(0o666)
        done = self.skerry()
        self.assertEqual((0, f"program in {self.base}\n", ""), (done.returncode, done.stdout, done.stderr))
        self.assertEqual(1, len(self.calls("ninja")))


# After ninja's first line (a pipe at stdin; the first that begins with a bracket), once the build is said to have
# started, TERM precedes the next wait.
SIGNAL_BEFORE_WAITING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

static char first = 0;  // of the line that is being read
static enum { kBefore, kArmed, kDone } state = kBefore;

static int IsPipe(int fd) {
  struct stat facts;
  return fd == 0 && fstat(fd, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

static void SignalOnce(int fd) {
  if (state != kArmed || !IsPipe(fd)) return;
  state = kDone;
  for (int i = 0; i < 5000 && access("@STARTED@", F_OK) != 0; ++i) usleep(1000);
  kill(getpid(), SIGTERM);
}

ssize_t read(int fd, void* bytes, size_t size) {
  SignalOnce(fd);
  ssize_t got = ((ssize_t (*)(int, void*, size_t))dlsym(RTLD_NEXT, "read"))(fd, bytes, size);
  if (got != 1 || !IsPipe(fd)) return got;  // bash reads a pipe byte by byte
  const char byte = *(char*)bytes;
  if (byte == '\n' && first == '[' && state == kBefore) state = kArmed;
  first = byte == '\n' ? 0 : first ? first : byte;
  return got;
}

int pselect(int count, fd_set* in, fd_set* out, fd_set* bad, const struct timespec* time, const sigset_t* mask) {
  SignalOnce(count - 1);
  return ((int (*)(int, fd_set*, fd_set*, fd_set*, const struct timespec*, const sigset_t*))dlsym(RTLD_NEXT, "pselect"))(
      count, in, out, bad, time, mask);
}
"""


class InterruptionTest(ScriptTreeTest):
    def interrupt(self, stop):
        self.set("ninja_waits")
        process = self.start("skerry")
        self.addCleanup(self.end, process)
        while not (self.state / "ninja_started").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        stop(process)
        process.communicate(timeout=10)
        self.unset("ninja_waits")
        self.environment.pop("LD_PRELOAD", None)
        done = self.skerry()
        self.assertEqual((0, f"program in {self.base}\n"), (done.returncode, done.stdout), done.stderr)
        return process.returncode

    def test_term_ends_the_build_and_the_next_run_recovers(self):
        self.assertEqual(143, self.interrupt(lambda process: process.terminate()))

    def test_the_interrupt_key_does_too(self):
        self.assertEqual(130, self.interrupt(lambda process: os.killpg(process.pid, signal.SIGINT)))

    def test_kill_leaves_nothing_in_the_way(self):
        self.assertEqual(-9, self.interrupt(lambda process: os.killpg(process.pid, signal.SIGKILL)))

    @unittest.skipUnless(shutil.which("clang-19"), "needs the compiler of the build")
    def test_term_just_before_the_shell_waits_for_output_is_not_lost(self):
        """No test can hit that moment by its clock: a library makes the shell signal itself there."""
        source, library = self.base / "late.c", self.base / "late.so"
        source.write_text(SIGNAL_BEFORE_WAITING.replace("@STARTED@", str(self.state / "ninja_started")))
        subprocess.run(["clang-19", "-shared", "-fPIC", "-o", library, source], check=True)
        library.chmod(0o755)
        self.environment["LD_PRELOAD"] = str(library)
        self.assertEqual(143, self.interrupt(lambda process: None))


class TestCommandTest(ScriptTreeTest):
    def test_it_builds_dev_and_ends_on_the_summary(self):
        done = self.run_script("test")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("soak= in dev\n100% tests passed, 0 tests failed out of 1\n", done.stdout)
        self.assertEqual(["cmake --preset dev"], self.calls("cmake"))

    def test_other_arguments_go_to_ctest(self):
        self.run_script("test", "-R", "a b", "--preset", "asan", "-V")
        self.assertEqual(["cmake --preset asan"], self.calls("cmake"))
        self.assertEqual(["ctest --output-on-failure --no-tests=error -j2 -R a b -V"], self.calls("ctest"))

    def test_sanitizers_run_what_they_are_for_unless_told_otherwise(self):
        self.run_script("test", "--preset", "asan")
        self.assertEqual(
            ["ctest --output-on-failure --no-tests=error -j2 -LE ^(e2e|attack|fuzz|docs|tools|workers)$"], self.calls("ctest")
        )

    def test_the_exit_code_is_ctests(self):
        self.set("exit", 8)
        self.assertEqual(8, self.run_script("test").returncode)

    def test_soak_is_said_to_the_tests(self):
        self.assertIn("soak=1 in tsan\n", self.run_script("test", "--soak", "--preset=tsan").stdout)

    def test_gcc_is_compiled_and_not_run(self):
        done = self.run_script("test", "--preset", "gcc")
        self.assertEqual((0, []), (done.returncode, self.calls("ctest")))
        self.assertIn("no test was run", done.stderr)

    def test_setup_only_builds_nothing(self):
        self.assertEqual(0, self.run_script("test", "--setup-only").returncode)
        self.assertEqual([], self.calls("cmake") + self.calls("ninja") + self.calls("ctest"))

    def test_an_unknown_preset_is_refused(self):
        for preset in ("release", "nonsense", ""):
            self.assertEqual(2, self.run_script("test", "--preset", preset).returncode)
        self.assertEqual(2, self.run_script("test", "--preset").returncode)

    def test_a_failed_build_runs_no_test(self):
        self.set("ninja_fails")
        self.assertEqual(125, self.run_script("test").returncode)
        self.assertEqual([], self.calls("ctest"))

    def test_help_builds_nothing(self):
        done = self.run_script("test", "--help")
        self.assertEqual(0, done.returncode)
        self.assertIn("--preset", done.stdout)
        self.assertEqual([], self.calls("ninja"))

    def test_no_lock_is_left_to_the_tests(self):
        self.run_script("test")
        self.assertNotIn(".lock", (self.state / "ctest_fds").read_text())


@unittest.skipUnless(shutil.which("clang++-19") and shutil.which("ninja"), "needs the tools of the build")
class RealToolsTest(unittest.TestCase):
    """The same with the real cmake, ninja and compiler, on a program of one file."""

    def test_build_edit_break_and_move(self):
        with tempfile.TemporaryDirectory() as temporary:
            tree = pathlib.Path(temporary, "a tree")
            for folder in ("src", "tools"):
                (tree / folder).mkdir(parents=True)
            for name in ("skerry", "tools/setup.sh", "CMakePresets.json"):
                shutil.copy(ROOT / name, tree / name)
            (tree / "tools/packages.txt").write_text("build cmake command:cmake configures\n")
            (tree / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES CXX)\n"
                "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_executable(skerry src/main.cpp)\n"
            )
            source = tree / "src/main.cpp"

            def run(text=None):
                if text:
                    source.write_text(text)
                environment = {"PATH": os.environ["PATH"]}
                return subprocess.run([tree / "skerry"], env=environment, capture_output=True, text=True, timeout=100)

            program = '#include <cstdio>\nint main() { std::puts("%s"); }\n'
            self.assertEqual("one\n", run(program % "one").stdout)
            self.assertEqual("two\n", run(program % "two").stdout)
            broken = run("int main() { return nonsense; }\n")
            self.assertEqual((125, ""), (broken.returncode, broken.stdout))
            self.assertIn("use of undeclared identifier 'nonsense'", broken.stderr)
            tree = tree.rename(tree.with_name("moved"))
            source = tree / "src/main.cpp"
            self.assertEqual("three\n", run(program % "three").stdout)


if __name__ == "__main__":
    unittest.main()
