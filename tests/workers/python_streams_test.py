"""What a Python program prints is on its way when the line is complete, however the program is started and ends."""
import os
import signal
import subprocess
import time
import unittest

import worker
from worker import PYTHON

ENDLESS = "\nwhile True: pass\n"
PATIENCE = worker.PATIENCE
# Ten times what begins the blocks, printed as fast as can be.
MANY = 20_000


class Streams:
    """The rules. Those who inherit start a program that they end with `stop`, and say what it has written by then."""

    def written_before(self, program, size):
        """What was written when `size` bytes had come, or when the patience was at its end; the program is then killed."""
        running = self.begin(program)
        end = time.monotonic() + PATIENCE
        while len(running.out.data) < size and time.monotonic() < end:
            time.sleep(0.002)
        running.kill()
        return running.out_at_end()

    def written(self, program):
        running = self.begin(program)
        self.assertEqual(running.status(), 0, bytes(running.err.data))
        return running.out_at_end()

    def test_a_line_is_written_when_it_is_complete(self):
        self.assertEqual(self.written_before("print('hi')" + ENDLESS, 3), b"hi\n")

    def test_a_line_is_written_before_the_program_kills_itself(self):
        running = self.begin("import os\nprint('hi')\nprint('there')\nos.kill(os.getpid(), 9)")
        self.assertEqual(running.status(), -signal.SIGKILL)
        self.assertEqual(running.out_at_end(), b"hi\nthere\n")

    def test_lines_come_as_they_are_printed(self):
        running = self.begin("import time\nfor i in range(3):\n  print(i)\n  time.sleep(0.5)")
        arrivals, end = [], time.monotonic() + PATIENCE
        while len(arrivals) < 3 and time.monotonic() < end:
            if len(running.out.data) // 2 > len(arrivals):
                arrivals.append(time.monotonic())
            time.sleep(0.001)
        self.assertEqual(running.status(), 0)
        self.assertGreater(arrivals[1] - arrivals[0], 0.2)
        self.assertGreater(arrivals[2] - arrivals[1], 0.2)

    def test_the_last_of_very_many_lines_is_written_while_the_program_goes_on(self):
        expected = b"".join(b"%d\n" % i for i in range(MANY))
        self.assertEqual(self.written_before(f"for i in range({MANY}): print(i)" + ENDLESS, len(expected)), expected)

    def test_lines_are_written_at_once_again_after_very_many(self):
        program = f"for i in range({MANY}): print(i)\nimport time, os\ntime.sleep(1)\nprint('end')\nos.kill(os.getpid(), 9)"
        running = self.begin(program)
        running.status()
        self.assertTrue(running.out_at_end().endswith(b"\n%d\nend\n" % (MANY - 1)))

    def test_nothing_is_lost_or_doubled(self):
        expected = b"".join(b"%d\n" % i for i in range(300_000))
        self.assertEqual(self.written("for i in range(300_000): print(i)"), expected)
        self.assertEqual(self.written("import time\nfor i in range(30):\n  time.sleep(0.01)\n"
                                      "  for k in range(10_000): print(i * 10_000 + k)"), expected)

    def test_very_many_lines_need_few_writes(self):
        """The reason for the blocks; a write for each line would take several times as long."""
        count = "int(next(l for l in open('/proc/self/io') if l.startswith('syscw')).split()[1])"
        running = self.begin(f"import sys\nfor i in range(200_000): print(i)\nprint({count}, file=sys.stderr)")
        self.assertEqual(running.status(), 0)
        running.out_at_end()
        self.assertLess(int(running.err_at_end()), 200_000 / 20)

    def test_children_write_their_lines_once(self):
        program = ("import os\n"
                   f"for i in range({MANY}): print('many')\n"
                   "for child in range(4):\n"
                   "  if os.fork() == 0:\n"
                   f"    for i in range({MANY}): print('child', child)\n"
                   "    os._exit(0) if child % 2 else exit(0)\n"
                   "for child in range(4): os.wait()\n"
                   "print('end')")
        lines = self.written(program).decode().splitlines()
        self.assertEqual(lines[-1], "end")
        self.assertEqual(lines.count("many"), MANY)
        for child in (0, 2):
            self.assertEqual(lines.count(f"child {child}"), MANY)

    def test_threads_write_whole_lines(self):
        # No more: with very many, when a block has to wait, CPython before 3.12.4 mixes them up by itself (gh-119506).
        program = ("import threading\n"
                   "def work(n):\n"
                   f"  for i in range(200): print(f'{{n}} {{i}}\\n', end='')\n"
                   "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
                   "[t.start() for t in threads]; [t.join() for t in threads]")
        lines = self.written(program).decode().splitlines()
        self.assertEqual(sorted(lines), sorted(f"{n} {i}" for n in range(4) for i in range(200)))

    def test_a_program_sees_no_thread_and_no_other_types(self):
        program = (f"import sys, threading\nfor i in range({MANY}): print(i)\n"
                   "print(threading.active_count(), type(sys.stdout), type(sys.stdout.buffer), type(sys.stdout.buffer.raw))")
        last = self.written(program).splitlines()[-1]
        self.assertEqual(last, b"1 <class '_io.TextIOWrapper'> <class '_io.BufferedWriter'> <class '_io.FileIO'>")

    def test_a_program_may_do_with_the_stream_what_it_likes(self):
        many = f"\nfor i in range({MANY}): print(i)\n"
        tail = b"".join(b"%d\n" % i for i in range(MANY))
        for before, after, expected in (
                ("import sys; sys.stdout.reconfigure(encoding='utf-16-le')", "", tail.decode().encode("utf-16-le")),
                ("import sys; sys.stdout.reconfigure(line_buffering=False)", "", tail),
                ("import sys, io; sys.stdout = io.TextIOWrapper(sys.stdout.detach())", "sys.stdout.flush()", tail),
                ("import sys, io; sys.stdout = io.TextIOWrapper(sys.stdout.buffer)", "sys.stdout.flush()", tail),
                ("", "import sys; sys.stdout.close()", tail),
                ("", "import os; os.close(1); os._exit(0)", None)):
            with self.subTest(before + after):
                out = self.written(before + many + after)
                self.assertTrue(expected is None or out == expected, out[:100])

    def test_nobody_reads(self):
        running = self.begin("import sys\nsys.stdin.read(1)\ntry:\n  while True: print('x' * 70)\n"
                             "except BrokenPipeError:\n  sys.stderr.write('broken'); sys.stderr.flush()\nimport os; os._exit(3)",
                             readers=False)
        self.assertEqual(running.status(), 3)


class Running:
    """A program with pipes at 0, 1 and 2."""

    def __init__(self, out, err, stdin, kill, status):
        self.out, self.err, self.stdin = out, err, stdin
        self.kill, self.status = kill, status

    def out_at_end(self):
        self.out.thread.join(PATIENCE)
        return bytes(self.out.data)

    def err_at_end(self):
        self.err.thread.join(PATIENCE)
        return bytes(self.err.data)


class InWorker(Streams):
    def begin(self, program, readers=True):
        if not readers:
            self.skipTest("the pipes of a worker here are always read")
        child = self.worker(self.start())
        child.begin("run", self.directory, self.environment, program)
        return Running(child.out, child.err, child.stdin, lambda: os.kill(child.pid, signal.SIGKILL), child.wait)


    def test_an_interrupted_print_shows_none_of_our_frames(self):
        for program in ("while True: print('x')", f"while True: print('x' * {1 << 20})"):
            child = self.worker(self.start())
            child.begin("cells", self.directory, self.environment)
            child.request("cell", program)
            while len(child.out.data) < 3:
                time.sleep(0.001)
            child.interrupt()
            kind, name, _, trace = child.message()
            self.assertEqual((kind, name), ("error", "KeyboardInterrupt"))
            self.assertEqual(trace.count("File "), 1, trace)
            child.close()


class ExecutedTest(InWorker, worker.WorkerTest):
    def start(self):
        return worker.starter([PYTHON, "-c", worker.python_worker() + "\nserve(3, forked=False)\n"], self.environment)


class ForkedTest(InWorker, worker.WorkerTest):
    @classmethod
    def setUpClass(cls):
        cls.zygote = worker.Zygote(())
        cls.addClassCleanup(cls.zygote.close)

    def start(self):
        return self.zygote.start()


class LoadedTest(Streams, worker.WorkerTest):
    """`python3 -c` with the loader, which reads the program at 3."""

    def begin(self, program, readers=True):
        text = os.memfd_create("text")
        os.write(text, program.encode())
        os.lseek(text, 0, os.SEEK_SET)
        loader = worker.text_of("python_streams.py") + worker.text_of("python_loader.py")
        process = subprocess.Popen([PYTHON, "-c", loader, ""], cwd=self.directory, env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: os.dup2(text, 3),
                                   pass_fds=(3,))
        os.close(text)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for stream in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(stream.close)
        if not readers:
            process.stdout.close()
            process.stdin.close()
        out = worker.Pipe(os.dup(process.stdout.fileno())) if readers else None
        err = worker.Pipe(os.dup(process.stderr.fileno()))
        return Running(out, err, None, process.kill, lambda: process.wait(PATIENCE))

    def test_main_is_clean(self):
        self.assertEqual(self.written("print(sorted(vars()), __doc__)"),
                         b"['__annotations__', '__builtins__', '__doc__', '__loader__', '__name__', '__package__', "
                         b"'__spec__'] None\n")


if __name__ == "__main__":
    unittest.main()
