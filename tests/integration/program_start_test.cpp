// Programs behave the same whether their interpreter was waiting, was forked or is started for them, and results tell
// which one it was.
#include <signal.h>

#include <set>

#include "integration/observed_sandbox.hpp"
#include "interpreters/worker.hpp"
#include "support/temporary_directory.hpp"

namespace skerry {
namespace {

using namespace support;
using core::OutcomeKind;
using core::Preload;
using core::StartKind;
using Zygotes = NativeBackend::Zygotes;

std::string SkipReason() {
  const auto found = NativeBackend(Programs()).Probe(base::Deadline::Never());
  if (!found.usable) return found.detail;
  return interpreters::PythonZygotes().empty() ? "this machine's python3 is not one to fork from" : "";
}

class ProgramStartTest : public testing::TestWithParam<StartKind> {
 protected:
  void SetUp() override {
    if (const std::string reason = SkipReason(); !reason.empty()) GTEST_SKIP() << reason;
  }

  static core::SandboxSpec SpecFor(StartKind start) {
    return Spec(start == StartKind::kWarm ? Preload::kPython : Preload::kNone);
  }

  Ran RunAlone(const core::Command& command, std::stop_token stop = {}) {
    sandbox_ = Started(backend_, spec_);
    Ran ran = Execute(*sandbox_, command, std::move(stop));
    EXPECT_TRUE(ran.result.has_value()) << ran;
    if (ran.result) {
      EXPECT_EQ(ran.Start(), GetParam()) << ran;
    }
    return ran;
  }
  Ran RunAlone(const std::string& text) { return RunAlone(Python(text)); }

  NativeBackend backend_{Programs(), {}, GetParam() == StartKind::kExec ? Zygotes::kNone : Zygotes::kPython};
  core::SandboxSpec spec_ = SpecFor(GetParam());
  std::unique_ptr<core::Sandbox> sandbox_;
};

INSTANTIATE_TEST_SUITE_P(Starts, ProgramStartTest,
                         testing::Values(StartKind::kWarm, StartKind::kFork, StartKind::kExec),
                         [](const auto& information) { return std::string(core::NameOf(information.param)); });

// ---- How programs end

struct Ending {
  const char* text;
  OutcomeKind kind;
  int code;
  const char* out;
  const char* err;
};

constexpr Ending kEndings[] = {
    {"print('done')", OutcomeKind::kExited, 0, "done\n", ""},
    {"import sys; sys.exit(3)", OutcomeKind::kExited, 3, "", ""},
    {"import sys; sys.exit('x')", OutcomeKind::kExited, 1, "", "x\n"},
    {"raise SystemExit", OutcomeKind::kExited, 0, "", ""},
    {"import sys; sys.exit(-1)", OutcomeKind::kExited, 255, "", ""},
    {"exit(5)", OutcomeKind::kExited, 5, "", ""},
    {"def f():\n    return 1 / 0\nf()", OutcomeKind::kExited, 1, "",
     "Traceback (most recent call last):\n  File \"<code>\", line 3, in <module>\n    f()\n"
     "  File \"<code>\", line 2, in f\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero\n"},
    {"x = (", OutcomeKind::kExited, 1, "",
     "  File \"<code>\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n"},
    {"try:\n    1 / 0\nexcept ValueError:\n    pass\nfinally:\n    print('f')", OutcomeKind::kExited, 1, "f\n",
     "Traceback (most recent call last):\n  File \"<code>\", line 2, in <module>\n    1 / 0\n    ~~^~~\n"
     "ZeroDivisionError: division by zero\n"},
    {"import os; os._exit(7)", OutcomeKind::kExited, 7, "", ""},
    {"import os; os.kill(os.getpid(), 9)", OutcomeKind::kSignalled, 137, "", ""},
    {"import os; os.kill(os.getpid(), 15)", OutcomeKind::kSignalled, 143, "", ""},
    {"import ctypes; ctypes.string_at(0)", OutcomeKind::kSignalled, 139, "", ""},
    {"import os; os.abort()", OutcomeKind::kSignalled, 134, "", ""},
    {"import signal, os; os.kill(os.getpid(), signal.SIGPIPE); print(1)", OutcomeKind::kExited, 0, "1\n", ""},
    {"import atexit; atexit.register(print, 'bye'); print('hi')", OutcomeKind::kExited, 0, "hi\nbye\n", ""},
    {"import atexit, sys; atexit.register(print, 'bye'); sys.exit(4)", OutcomeKind::kExited, 4, "bye\n", ""},
    {"import threading, time\nthreading.Thread(target=lambda: (time.sleep(.2), print('late'))).start()",
     OutcomeKind::kExited, 0, "late\n", ""},
    {"import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(1)",
     OutcomeKind::kExited, 0, "1\n", ""},
    {"import os\npid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n    os.waitpid(pid, 0)\n    print('parent')",
     OutcomeKind::kExited, 0, "child\nparent\n", ""},
    {"import os\nif os.fork() == 0:\n    os._exit(9)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
     OutcomeKind::kExited, 0, "9\n", ""},
    {"import subprocess; print(subprocess.run(['sh', '-c', 'echo in; exit 6'], capture_output=True).returncode)",
     OutcomeKind::kExited, 0, "6\n", ""},
    {"import multiprocessing\nwith multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))",
     OutcomeKind::kExited, 0, "[1, 2]\n", ""},
    {"import sys; print(sys.argv, __name__, sys.path[0] == '', __file__ if '__file__' in globals() else None)",
     OutcomeKind::kExited, 0, "['-c'] __main__ True None\n", ""},
    {"import os; print(os.getcwd(), os.getuid(), os.getgid(), os.umask(0))", OutcomeKind::kExited, 0,
     "/workspace 1000 1000 18\n", ""},
    {"import sys, os\nsys.stdout.write('a'); sys.stdout.flush(); os.write(2, b'b'); os._exit(0)", OutcomeKind::kExited,
     0, "a", "b"},
    {"import sys; sys.stdout.buffer.write(b'\\xff\\x00\\xfe'); print('\\udcff')", OutcomeKind::kExited, 0, nullptr, ""},
    {"import sys; print(sys.getrecursionlimit(), sys.flags.optimize, sys.stdin.encoding)", OutcomeKind::kExited, 0,
     "1000 0 utf-8\n", ""},
    {"import signal\nprint([signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGHUP)] == [signal.SIG_DFL] * 2, "
     "signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.pthread_sigmask(0, []))",
     OutcomeKind::kExited, 0, "True True set()\n", ""},
    {"import gc, threading; print(gc.isenabled(), threading.active_count(), threading.current_thread().name)",
     OutcomeKind::kExited, 0, "True 1 MainThread\n", ""},
};

TEST_P(ProgramStartTest, ProgramsEndAsTheyWouldByThemselves) {
  for (const Ending& ending : kEndings) {
    const Ran ran = RunAlone(ending.text);
    if (!ran.result) continue;
    EXPECT_EQ(ran.Kind(), ending.kind) << ending.text << "\n" << ran;
    EXPECT_EQ(ran.Code(), ending.code) << ending.text;
    if (ending.out != nullptr) {
      EXPECT_EQ(ran.out, ending.out) << ending.text;
    }
    if (ending.err != nullptr) {
      EXPECT_EQ(ran.err, ending.err) << ending.text;
    }
  }
}

// ---- What goes in and comes out

TEST_P(ProgramStartTest, StandardInputIsPassedOn) {
  core::Command command = Python("import sys\nprint(sys.stdin.buffer.readline())\nprint(sys.stdin.buffer.read())");
  command.input = "first\nsecond\n\xff";
  EXPECT_EQ(RunAlone(command).out, "b'first\\n'\nb'second\\n\\xff'\n");
  EXPECT_EQ(RunAlone("import sys; print(repr(sys.stdin.read()))").out, "''\n");
}

TEST_P(ProgramStartTest, EnvironmentIsPassedOn) {
  core::Command command = Python("import os; print(os.environ['A'], os.getenv('TZ'), os.popen('echo $A').read())");
  command.environment = {{"A", "b=c\nd"}, {"TZ", "UTC"}};
  EXPECT_EQ(RunAlone(command).out, "b=c\nd UTC b=c d\n\n");
}

TEST_P(ProgramStartTest, AFileThatWasLeftOpenIsWritten) {
  (void)RunAlone("f = open('left', 'w'); f.write('text'); g = [open('other', 'w')]; g[0].write('more'); g.append(g)");
  EXPECT_EQ(Execute(*sandbox_, Shell("cat left other")).out, "textmore");
}

TEST_P(ProgramStartTest, BothStreamsAreWholeAndInOrder) {
  const Ran ran = RunAlone(
      "import sys\nfor i in range(2000):\n    print(i)\n    print(i, file=sys.stderr)\n    if i % 7 == 0: "
      "sys.stdout.flush()");
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_EQ(ran.out, expected);
  EXPECT_EQ(ran.err, expected);
}

TEST_P(ProgramStartTest, MuchOutputIsCutAtTheLimitAndCounted) {
  constexpr std::uint64_t kAll = 20U << 20U;
  core::Command command = Python("import sys\nfor _ in range(320): sys.stdout.write('x' * 65536)");
  const Ran cut = RunAlone(command);
  EXPECT_EQ(cut.out.size(), command.max_output_bytes);
  EXPECT_TRUE(cut.result->output_truncated);
  EXPECT_EQ(cut.result->output_bytes, kAll);
  EXPECT_EQ(cut.Kind(), OutcomeKind::kExited);
  command.max_output_bytes = 2 * kAll;
  const Ran whole = RunAlone(command);
  EXPECT_EQ(whole.out.size(), kAll);
  EXPECT_FALSE(whole.result->output_truncated);
}

TEST_P(ProgramStartTest, BytesThatAreNoTextArriveAsTheyAre) {
  EXPECT_EQ(RunAlone("import sys; sys.stdout.buffer.write(bytes(range(256)))").out.size(), 256U);
}

TEST_P(ProgramStartTest, AProgramCanBeLong) {
  std::string text = "x = 0\n";
  while (text.size() < (5U << 20U)) text += "x += 1  # " + std::string(1000, 'c') + "\n";
  const auto lines = std::ranges::count(text, '\n');
  EXPECT_EQ(RunAlone(text + "print(x)").out, std::to_string(lines - 1) + "\n");
}

// ---- What ends programs

TEST_P(ProgramStartTest, TimeIsLimited) {
  core::Command command = Python("import time\nprint('on', flush=True)\nwhile True: time.sleep(1)");
  command.timeout = 700ms;
  const auto begin = std::chrono::steady_clock::now();
  const Ran ran = RunAlone(command);
  EXPECT_EQ(ran.Kind(), OutcomeKind::kTimedOut) << ran;
  EXPECT_EQ(ran.out, "on\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(Execute(*sandbox_, Shell("echo again")).out, "again\n");
}

TEST_P(ProgramStartTest, MemoryIsLimited) {
  spec_.limits.memory_mb = 128;
  const Ran ran = RunAlone("x = bytearray()\nwhile True: x += b'x' * (8 << 20)");
  EXPECT_EQ(ran.Kind(), OutcomeKind::kOutOfMemory) << ran;
  EXPECT_EQ(Execute(*sandbox_, Shell("echo again")).out, "again\n");
}

// The processes of the first program and those of the second are each within the limit, and so are both together: they
// share most of their memory.
TEST_P(ProgramStartTest, MemoryThatProcessesShareIsCountedOnce) {
  spec_.limits.memory_mb = 160;
  const char* const children =
      "import os, time\nx = bytearray(b'x') * (8 << 20)\nfor _ in range(7):\n"
      "    if os.fork() == 0:\n        for fd in (0, 1, 2): os.close(fd)\n        time.sleep(30); os._exit(0)\n"
      "time.sleep(.5)\nprint('end')";
  EXPECT_EQ(RunAlone(children).out, "end\n");
  const Ran second = Execute(*sandbox_, Python(children));
  EXPECT_EQ(second.out, "end\n") << second;
}

TEST_P(ProgramStartTest, ProcessesAreLimited) {
  spec_.limits.pids = 32;
  const Ran ran = RunAlone(
      "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
      "        n += 1\nexcept OSError as error:\n    print(n <= 32, error.errno)");
  EXPECT_EQ(ran.out, "True 11\n") << ran;
}

TEST_P(ProgramStartTest, ACallerCanCancel) {
  std::stop_source stop;
  const std::jthread later([&] {
    std::this_thread::sleep_for(500ms);
    stop.request_stop();
  });
  const Ran ran = RunAlone(Python("import time; time.sleep(60)"), stop.get_token());
  EXPECT_EQ(ran.Kind(), OutcomeKind::kCancelled) << ran;
}

TEST_P(ProgramStartTest, AProcessThatWasLeftBehindHoldsNothingUp) {
  const auto begin = std::chrono::steady_clock::now();
  const Ran ran = RunAlone("import subprocess\nsubprocess.Popen(['sleep', '60'], close_fds=False)\nprint('end')");
  EXPECT_EQ(ran.out, "end\n");
  EXPECT_EQ(ran.Code(), 0) << ran;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_P(ProgramStartTest, AProgramThatClosesItsDescriptorsStillEnds) {
  const Ran ran = RunAlone("import os\nprint('x', flush=True)\nos.closerange(3, 2000)\nos._exit(9)");
  EXPECT_EQ(ran.out, "x\n");
  EXPECT_EQ(ran.Code(), 9) << ran;
  EXPECT_EQ(RunAlone("import os\nos.closerange(3, 2000)\nraise SystemExit(8)").Code(), 8);
}

TEST_P(ProgramStartTest, AVirtualEnvironmentWorks) {
  const std::string make =
      "python3 -m venv --without-pip /tmp/v && /tmp/v/bin/python -c 'import sys; print(sys.prefix)'";
  sandbox_ = Started(backend_, spec_);
  const Ran made = Execute(*sandbox_, Shell(make));
  ASSERT_EQ(made.out, "/tmp/v\n") << made;
  core::Command command = Python(
      "import subprocess, sys; print(sys.prefix)\nprint(subprocess.run(['python', '-c', "
      "'import sys; print(sys.prefix)'], capture_output=True, text=True).stdout)");
  command.environment = {{"PATH", "/tmp/v/bin:/usr/bin:/bin"}, {"VIRTUAL_ENV", "/tmp/v"}};
  const Ran ran = Execute(*sandbox_, command);
  EXPECT_EQ(ran.out, "/tmp/v\n/tmp/v\n\n") << ran;
  EXPECT_EQ(ran.Start(), StartKind::kExec);
}

// ---- Which start it was

class StartKindTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = SkipReason(); !reason.empty()) GTEST_SKIP() << reason;
  }
  NativeBackend backend_{Programs(), {}, Zygotes::kPython};
};

TEST_F(StartKindTest, TheFirstProgramFindsAnInterpreterAndTheNextIsForked) {
  const auto sandbox = Started(backend_, Spec(Preload::kPython));
  EXPECT_EQ(Execute(*sandbox, Python("print(1)")).Start(), StartKind::kWarm);
  EXPECT_EQ(Execute(*sandbox, Python("print(2)")).Start(), StartKind::kFork);
  EXPECT_EQ(Execute(*sandbox, Python("print(3)")).Start(), StartKind::kFork);
  EXPECT_EQ(Execute(*sandbox, Shell("echo 4")).Start(), StartKind::kExec);
}

TEST_F(StartKindTest, AnInterpreterWaitsForItsOwnLanguage) {
  const auto sandbox = Started(backend_, Spec(Preload::kPython));
  EXPECT_EQ(Execute(*sandbox, Shell("echo 1")).Start(), StartKind::kExec);
  EXPECT_EQ(Execute(*sandbox, Python("print(2)")).Start(), StartKind::kWarm);
}

TEST_F(StartKindTest, VariablesThatChooseAnInterpreterAreObeyed) {
  for (const char* name : {"PATH", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "LD_PRELOAD"}) {
    const auto sandbox = Started(backend_, Spec(Preload::kPython));
    core::Command command = Python("print(1)");
    command.environment[name] = std::string(name) == "PATH" ? "/usr/bin:/bin" : "0";
    const Ran ran = Execute(*sandbox, command);
    EXPECT_EQ(ran.Start(), StartKind::kExec) << name;
    EXPECT_EQ(ran.out, "1\n") << ran;
  }
}

TEST_F(StartKindTest, ATerminalMeansANewInterpreter) {
  const auto sandbox = Started(backend_, Spec(Preload::kPython));
  core::Command command = Python("import sys; print(sys.stdout.isatty())");
  command.terminal = core::TerminalSize{};
  const Ran ran = Execute(*sandbox, command);
  EXPECT_EQ(ran.Start(), StartKind::kExec);
  EXPECT_EQ(ran.out, "True\r\n");
}

TEST_F(StartKindTest, ASandboxWithMoreOfTheHostExecutes) {
  const TemporaryDirectory shown;
  auto place = std::make_shared<core::HostPlace>();
  place->path = shown.path();
  place->fd.Reset(::open(shown.path().c_str(), O_PATH | O_CLOEXEC));
  core::SandboxSpec spec = Spec();
  spec.binds = {{std::move(place), "/opt/shown", core::BindAccess::kReadOnly}};
  const Ran ran = Execute(*Started(backend_, spec), Python("print(1)"));
  EXPECT_EQ(ran.Start(), StartKind::kExec) << ran;
  EXPECT_EQ(ran.out, "1\n");
}

}  // namespace
}  // namespace skerry
