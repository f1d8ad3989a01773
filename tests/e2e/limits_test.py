"""Time, memory, processes and output end where they should, and the machine stays usable."""
import os
import signal
import subprocess
import time
import unittest

import harness

STUBBORN = """
for i in 1 2 3; do
  setsid bash -c 'trap "" TERM INT HUP QUIT; while :; do sleep 0.2; done' &
done
trap "" TERM INT HUP
echo before
while :; do :; done
"""


class TimeTest(harness.SkerryTest):
    def timed(self, *arguments):
        start = time.monotonic()
        result = self.run_code(*arguments)
        return result, time.monotonic() - start

    def test_an_endless_loop_ends_at_the_timeout(self):
        result, seconds = self.timed("--timeout", "1", "while True: pass")
        self.assertEqual(result.code, 124)
        self.assertGreaterEqual(seconds, 1)
        self.assertLess(seconds, 5)  # a busy machine takes its time

    def test_says_so_and_keeps_what_was_printed(self):
        result, _ = self.timed("--timeout", "1", "print('before', flush=True)\nwhile True: pass")
        self.assertEqual((result.code, result.out), (124, b"before\n"))
        self.assertIn(b"Execution timeout (1s)", result.err)

    def test_children_that_detached_and_ignore_signals_end_too(self):
        result, seconds = self.timed("-l", "shell", "--timeout", "1", STUBBORN)
        self.assertEqual((result.code, result.out), (124, b"before\n"))
        self.assertLess(seconds, 10)

    def test_background_processes_end_with_the_program(self):
        result, seconds = self.timed("-l", "shell", "(setsid sleep 100 &) ; sleep 100 & echo done")
        self.assertEqual((result.code, result.out), (0, b"done\n"))
        self.assertLess(seconds, 10)

    def test_the_subprocess_backend_ends_its_whole_tree_too(self):
        result, _ = self.timed("-l", "shell", "--mode", "permissive", "-s", "subprocess", "--timeout", "1", STUBBORN)
        self.assertEqual((result.code, result.out), (124, b"before\n"))
        left = subprocess.run(["pgrep", "-f", "sleep 0.2"], capture_output=True, check=False).stdout.split()
        self.assertEqual([pid for pid in map(int, left) if harness.is_ours(pid)], [])

    def test_json_has_the_words_of_the_specification(self):
        result, _ = self.timed("--json", "--timeout", "1", "while True: pass")
        self.assertEqual(result.json["error"], "Execution timeout (1s)")
        self.assertEqual((result.json["exit_code"], result.json["outcome"]), (124, "timed_out"))


    def test_a_stopped_skerry_does_not_stop_the_clock(self):
        process = subprocess.Popen(self.command("run", "--timeout", "1", "print('up', flush=True)\nimport time\ntime.sleep(100)"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 10
        while [t for t in harness.traces() - self.before if "skerry-init" in t] and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLess(time.monotonic(), deadline)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(timeout=20), 124)
        process.stdout.close()
        process.stderr.close()


class MemoryTest(harness.SkerryTest):
    def test_one_large_piece(self):
        result = self.run_code("--memory", "64", "x = bytearray(10**9)\nimport time; time.sleep(5)")
        self.assertEqual(result.code, 137, result.err)
        self.assertIn(b"memory", result.err)

    def test_many_small_pieces(self):
        result = self.run_code("--memory", "64", "--json", "x = []\nwhile True: x.append(bytearray(10**5))")
        self.assertEqual(result.json["exit_code"], 137)
        self.assertEqual(result.json["outcome"], "out_of_memory")
        self.assertIn("memory", result.json["error"])
        self.assertIn("64", result.json["error"])

    def test_spread_over_children(self):
        code = ("import os, time\nfor i in range(8):\n"
                "    if os.fork() == 0:\n        x = bytearray(30 * 2**20)\n        time.sleep(20)\n        os._exit(0)\n"
                "x = bytearray(40 * 2**20)\nfor i in range(8): print(os.wait()[1])\n")
        start = time.monotonic()
        result = self.run_code("--memory", "64", "--timeout", "30", code)
        self.assertTrue(result.code == 137 or b"9\n" in result.out, (result.code, result.out, result.err))
        self.assertLess(time.monotonic() - start, 28)

    def test_held_by_a_thread_whose_first_has_ended(self):
        code = ("import ctypes, threading, time\n"
                "def hold():\n    x = bytearray(400 * 2**20)\n    time.sleep(20)\n"
                "threading.Thread(target=hold).start()\nctypes.CDLL(None).syscall(60, 0)\n")  # exit of this thread
        if os.uname().machine == "x86_64":
            self.assertEqual(self.run_code("--memory", "64", "--timeout", "15", code).code, 137)

    def test_enough_is_enough(self):
        self.assertEqual(self.run_code("--memory", "128", "x = bytearray(40 * 2**20); print(len(x))").code, 0)


class ProcessTest(harness.SkerryTest):
    def test_a_fork_bomb_ends_and_the_machine_stays_usable(self):
        result = self.shell(":(){ :|:& };: ; sleep 1; echo survived", "--timeout", "10")
        self.assertIn(result.code, (0, 1, 124, 254))
        self.assertEqual(subprocess.run(["true"], check=False).returncode, 0)

    def test_processes_are_limited(self):
        code = ("import os, time\nmade = 0\ntry:\n    while made < 2000:\n"
                "        if os.fork() == 0: time.sleep(60); os._exit(0)\n        made += 1\n"
                "except OSError as error: print(error.errno)\nprint(made < 400)\n")
        result = self.run_code(code)
        self.assertEqual(result.out, b"11\nTrue\n", result.err)

    def test_open_files_are_limited(self):
        result = self.run_code("files = []\ntry:\n    while len(files) < 10**5: files.append(open('/dev/null'))\n"
                               "except OSError as error: print(error.errno)\n")
        self.assertEqual(result.out, b"24\n")

    def test_temporary_files_are_limited(self):
        result = self.shell("head -c 1G /dev/zero > /tmp/big; stat -c %s /tmp/big")
        self.assertEqual(result.out, b"67108864\n")

    def test_the_disk_is_limited_and_the_limit_is_named(self):
        result = self.run_code("--json", "--disk", "20", "-l", "shell", "head -c 1G /dev/zero > big; stat -c %s big")
        self.assertEqual(result.json["stdout"], "20971520\n")
        self.assertIn({"name": "disk", "limit": 20, "unit": "MB"}, result.json["limits_reached"])
        self.assertIn(b"limit reached: disk (20 MB)", self.shell("head -c 1G /dev/zero > big", "--disk", "20").err)

    def test_the_number_of_files_is_limited_and_named(self):
        code = ("made = 0\ntry:\n    while True: open(f'f{made}', 'w').close(); made += 1\n"
                "except OSError as error: print(error.errno, made > 1000)\n")
        result = self.run_code("--json", code, environment={"SKERRY_SANDBOX__LIMITS__MAX_FILES": "2000"})
        self.assertEqual(result.json["stdout"], "28 True\n")
        self.assertIn({"name": "files", "limit": 2000, "unit": ""}, result.json["limits_reached"])

    def test_the_limit_on_processes_is_named(self):
        code = ("import os, time\nmade = 0\ntry:\n    while made < 2000:\n"
                "        if os.fork() == 0: time.sleep(60); os._exit(0)\n        made += 1\n"
                "except OSError as error: time.sleep(0.3)\n")
        reached = self.run_code("--json", code).json["limits_reached"]
        self.assertIn({"name": "processes", "limit": 256, "unit": ""}, reached)

    def test_a_file_that_grows_too_large_ends_the_program(self):
        result = self.run_code("--json", "-l", "shell", "exec head -c 100M /dev/zero > big",
                               environment={"SKERRY_SANDBOX__LIMITS__MAX_FILE_MB": "10"})
        self.assertEqual(result.json["outcome"], "file_too_large")
        self.assertIn("10 MB", result.json["error"])

    @unittest.skipIf(harness.AS_USER, "no cpu controller for a plain user")
    def test_the_share_of_the_cpu_is_kept(self):
        if "cpu" in " ".join(self.run_code("--json", "--mode", "permissive", "-s", "native", "1").json["degraded"]):
            self.skipTest("no cpu controller")
        code = "import time\nstart = time.monotonic()\nwhile time.process_time() < 0.2: pass\nprint(time.monotonic() - start)"
        result = self.run_code("--json", "--cpu", "20", code)
        self.assertGreater(float(result.json["stdout"]), 0.6)
        self.assertIn({"name": "cpu", "limit": 20, "unit": "%"}, result.json["limits_reached"])

    def test_no_core_files(self):
        self.assertEqual(self.shell("ulimit -c; ulimit -Hc; bash -c 'kill -SEGV $$'; ls -A").out, b"0\n0\n")


class OutputTest(harness.SkerryTest):
    def test_a_flood_is_cut_and_said(self):
        result = self.shell("head -c 20000000 /dev/zero", "--max-output", "3")
        self.assertEqual((result.code, len(result.out)), (0, 3 << 20))
        self.assertIn(b"20000000", result.err)

    def test_memory_of_skerry_stays_flat_in_a_flood(self):
        process = subprocess.Popen(self.command("run", "-l", "shell", "--max-output", "1", "head -c 400M /dev/zero; sleep 1"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment(), cwd=self.home)
        peak = 0
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                    peak = max([peak] + [int(line.split()[1]) for line in file if line.startswith("VmHWM")])
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        self.assertLess(peak, 40_000)


class EndTest(harness.SkerryTest):
    def start(self, code="print('up', flush=True)\nimport time\ntime.sleep(100)", *arguments):
        process = subprocess.Popen(self.command("run", *arguments, code), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def wait_until_nothing_is_left(self, seconds):
        deadline = time.monotonic() + seconds
        while True:
            left = harness.traces() - self.before
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.02)

    def test_interrupt_ends_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start()
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=20), 128 + number)

    def launcher_of(self):
        launchers = [t.split()[1] for t in harness.traces() - self.before if t.endswith(" skerry-launcher")]
        self.assertEqual(len(launchers), 1)
        return int(launchers[0])

    def test_kill_of_skerry_takes_the_sandbox_down(self):
        process = self.start()
        process.kill()
        process.wait()
        self.assertEqual(self.wait_until_nothing_is_left(5), set())

    def test_a_launcher_that_is_asked_to_end_leaves_nothing(self):
        process = self.start()
        os.kill(self.launcher_of(), signal.SIGTERM)
        process.wait(timeout=20)
        self.assertEqual(self.wait_until_nothing_is_left(5), set())

    def test_kill_of_the_launcher_takes_the_sandbox_down_and_the_next_start_sweeps(self):
        process = self.start()
        os.kill(self.launcher_of(), signal.SIGKILL)
        process.wait(timeout=20)
        left = self.wait_until_nothing_is_left(1)
        self.assertEqual([t for t in left if not t.startswith("cgroup")], [])
        self.assertEqual(self.run_code("print(1)").out, b"1\n")
        self.assertEqual(harness.traces() - self.before, set())

    def test_what_a_killed_subprocess_sandbox_left_is_swept_too(self):
        process = self.start("print('up', flush=True)\nimport time\ntime.sleep(100)", "--mode", "permissive",
                             "--sandbox", "subprocess")
        launcher = self.launcher_of()
        process.kill()
        os.kill(launcher, signal.SIGKILL)
        process.wait()
        self.run_code("--mode", "permissive", "--sandbox", "subprocess", "print(1)")
        self.assertEqual(self.wait_until_nothing_is_left(5), set())


if __name__ == "__main__":
    harness.main()
