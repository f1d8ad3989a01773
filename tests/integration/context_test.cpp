// Contexts in the native sandbox, forked from a zygote and started anew: what cells can count on.
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "backends/native/native_backend.hpp"
#include "engine/context_manager.hpp"
#include "interpreters/interpreter.hpp"
#include "interpreters/worker.hpp"
#include "support/open_gate.hpp"

namespace skerry {
namespace {

using backends::native::NativeBackend;
using core::Language;
using core::OutcomeKind;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Clock = std::chrono::steady_clock;

launcher::ProgramPaths Programs() {
  return launcher::ProgramPaths::BesideThisProgram().value();  // tests and programs share one directory
}

// Keeps both streams, each apart and in the order of arrival.
class OrderedSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    (stream == core::Stream::kStdout ? out : err).append(bytes);
    all.append(bytes);
    arrivals.push_back(Clock::now());
    return {.accepted = bytes.size()};
  }
  std::string out;
  std::string err;
  std::string all;
  std::vector<Clock::time_point> arrivals;
};

struct Ran {
  base::Result<core::CellResult> result;
  std::string out;
  std::string err;

  [[nodiscard]] std::string Form(const std::string& mime, std::size_t index = 0) const {
    if (!result || result->outputs.size() <= index) return "";
    for (const core::RichData& form : result->outputs[index].forms)
      if (form.mime == mime) return form.data;
    return "";
  }
  [[nodiscard]] std::string Plain() const {
    if (!result) return result.error().message;
    return result->error ? result->error->name + ": " + result->error->message : Form("text/plain");
  }
  [[nodiscard]] bool Alive() const { return result && result->alive; }
};

class ContextTest : public testing::TestWithParam<NativeBackend::Zygotes> {
 protected:
  void SetUp() override {
    const core::Availability availability = backend_.Probe(base::Deadline::Never());
    if (!availability.usable) GTEST_SKIP() << availability.detail;
  }

  engine::ContextOptions Options() {
    return {.make_sandbox = [this](Language) -> base::Result<engine::ContextPlace> {
      SKERRY_ASSIGN_OR_RETURN(std::shared_ptr<core::Sandbox> sandbox, backend_.Create(spec_));
      SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::Never(), {}));
      return engine::ContextPlace{.sandbox = std::move(sandbox), .backend = "native"};
    }};
  }

  Ran Run(const std::string& text, std::chrono::milliseconds timeout = 30s, const std::string& name = "a",
          Language language = Language::kPython) {
    OrderedSink sink;
    core::Cell cell{.text = text, .timeout = timeout, .max_output_bytes = max_output_bytes_};
    auto ran = manager_.Run(name, language, cell, sink, {});
    base::Result<core::CellResult> result = std::unexpected(ran ? base::Error{} : ran.error());
    if (ran) result = std::move(ran->result);
    return {std::move(result), std::move(sink.out), std::move(sink.err)};
  }
  Ran In(const std::string& name, const std::string& text) { return Run(text, 30s, name); }
  Ran RunAs(Language language, const std::string& text, std::chrono::milliseconds timeout = 30s) {
    return Run(text, timeout, std::string(core::NameOf(language)), language);
  }
  // Interrupts "a" as soon as the cell has printed.
  Ran RunAndInterrupt(const std::string& text) {
    std::jthread later([this](const std::stop_token& ending) {
      std::this_thread::sleep_for(700ms);
      if (!ending.stop_requested()) (void)manager_.Interrupt("a");
    });
    return Run(text);
  }

  static inline const core::SandboxSpec kSpec{.limits = {.memory_mb = 256}, .demand = core::Demand::kWhatIsPossible};
  core::SandboxSpec spec_ = kSpec;
  std::uint64_t max_output_bytes_ = 10U << 20U;
  NativeBackend backend_{Programs(), {}, GetParam()};
  engine::ContextManager manager_{Options()};
};

INSTANTIATE_TEST_SUITE_P(Starts, ContextTest,
                         testing::Values(NativeBackend::Zygotes::kPython, NativeBackend::Zygotes::kNone),
                         [](const auto& information) {
                           return information.param == NativeBackend::Zygotes::kPython ? "forked" : "executed";
                         });

TEST_P(ContextTest, VariablesStayFromCellToCell) {
  EXPECT_EQ(Run("x = 40\ndef f(): return x + 2").Plain(), "");
  EXPECT_EQ(Run("f()").Plain(), "42");
  EXPECT_EQ(manager_.Find("a")->cells, 2U);
  const bool forked = GetParam() == NativeBackend::Zygotes::kPython && !interpreters::PythonZygotes().empty();
  EXPECT_EQ(manager_.Find("a")->start, forked ? core::StartKind::kFork : core::StartKind::kExec);
}

TEST_P(ContextTest, JavaScriptVariablesStay) {
  if (!interpreters::FindInterpreter(Language::kJavaScript)) GTEST_SKIP() << "there is no node";
  const Ran first = RunAs(Language::kJavaScript, "let x = 40; const f = () => x + 2; console.log('hi')");
  EXPECT_EQ(first.out, "hi\n") << first.Plain();
  EXPECT_EQ(RunAs(Language::kJavaScript, "f()").Plain(), "42");
  const Ran failed = RunAs(Language::kJavaScript, "throw new TypeError('no')");
  EXPECT_EQ(failed.Plain(), "TypeError: no");
  EXPECT_EQ(failed.result->outcome.exit_code, 1);
  EXPECT_EQ(RunAs(Language::kJavaScript, "for (;;) {}", 1s).result->outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(RunAs(Language::kJavaScript, "x").Plain(), "40");
  EXPECT_EQ(manager_.Fork("javascript", "b").error().code, base::Code::kUnavailable);
}

TEST_P(ContextTest, ShellVariablesAndDirectoriesStay) {
  EXPECT_EQ(RunAs(Language::kShell, "x=40; f() { echo $((x + 2)); }; cd /tmp").Plain(), "");
  EXPECT_EQ(RunAs(Language::kShell, "f; pwd").out, "42\n/tmp\n");
  const Ran failed = RunAs(Language::kShell, "echo oops >&2; false");
  EXPECT_EQ(failed.err, "oops\n");
  EXPECT_EQ(failed.result->outcome.exit_code, 1);
  EXPECT_EQ(RunAs(Language::kShell, "sleep 60", 1s).result->outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(RunAs(Language::kShell, "echo $x").out, "40\n");
}

TEST_P(ContextTest, OnlyTheLastExpressionIsTheResult) {
  const Ran ran = Run("1\n2\n3");
  ASSERT_TRUE(ran.result.has_value());
  ASSERT_EQ(ran.result->outputs.size(), 1U);
  EXPECT_EQ(ran.result->outputs[0].kind, core::CellOutput::Kind::kResult);
  EXPECT_EQ(ran.Plain(), "3");
  EXPECT_EQ(Run("x = 5").result->outputs.size(), 0U);
}

TEST_P(ContextTest, ResultsComeInRichForms) {
  const Ran ran =
      Run("class Rich:\n"
          "    def _repr_html_(self): return '<b>x</b>'\n"
          "    def _repr_svg_(self): return '<svg/>'\n"
          "    def _repr_png_(self): return b'\\x89PNG'\n"
          "    def _repr_json_(self): return {'a': 1}\n"
          "display(Rich())\n"
          "{'b': [1]}");
  EXPECT_EQ(ran.Form("text/html"), "<b>x</b>") << ran.Plain();
  EXPECT_EQ(ran.Form("image/svg+xml"), "<svg/>");
  EXPECT_EQ(ran.Form("image/png"), "iVBORw==");
  EXPECT_EQ(ran.Form("application/json"), R"({"a": 1})");
  EXPECT_EQ(ran.result->outputs[0].kind, core::CellOutput::Kind::kDisplay);
  EXPECT_EQ(ran.Form("application/json", 1), R"({"b": [1]})");
}

TEST_P(ContextTest, FiguresOfMatplotlibArePictures) {
  if (Run("import matplotlib").Plain() != "") GTEST_SKIP() << "there is no matplotlib";
  const Ran ran = Run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone", 120s);
  EXPECT_EQ(ran.Form("image/png").substr(0, 6), "iVBORw") << ran.Plain();
}

TEST_P(ContextTest, AnErrorIsDataAndTheContextLivesOn) {
  Run("def f():\n    raise ValueError('no')");
  const Ran ran = Run("y = 1\nf()");
  ASSERT_TRUE(ran.result.has_value());
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kExited);
  EXPECT_EQ(ran.result->outcome.exit_code, 1);
  EXPECT_EQ(ran.Plain(), "ValueError: no");
  EXPECT_NE(ran.result->error->traceback.find("line 2, in f"), std::string::npos) << ran.result->error->traceback;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(Run("y").Plain(), "1");
}

TEST_P(ContextTest, AnExitEndsTheCellOnly) {
  const Ran ran = Run("x = 1\nimport sys; sys.exit(3)");
  EXPECT_EQ(ran.Plain(), "SystemExit: 3");
  EXPECT_TRUE(ran.Alive());
  EXPECT_EQ(Run("x").Plain(), "1");
}

TEST_P(ContextTest, AnInterruptEndsABusyLoop) {
  Run("x = 1");
  const auto start = Clock::now();
  const Ran ran = RunAndInterrupt("while True: pass");
  EXPECT_LT(Clock::now() - start, 10s);
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kCancelled) << ran.Plain();
  EXPECT_TRUE(ran.Alive());
  EXPECT_EQ(Run("x").Plain(), "1");
}

TEST_P(ContextTest, AnInterruptEndsASleep) {
  Run("x = 1; import time");
  const Ran ran = RunAndInterrupt("try:\n    time.sleep(60)\nfinally:\n    print('cleaned up')");
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kCancelled);
  EXPECT_EQ(ran.out, "cleaned up\n");
  EXPECT_EQ(Run("x").Plain(), "1");
}

TEST_P(ContextTest, AnInterruptAtAnyMomentCostsNothing) {
  Run("n = 0");
  for (int i = 0; i < 40; ++i) {
    std::jthread later([this, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 150));
      (void)manager_.Interrupt("a");
    });
    const Ran ran = Run("n += 1");
    ASSERT_TRUE(ran.Alive()) << i << " " << ran.Plain();
  }
  EXPECT_NE(Run("n").Plain(), "0");
}

TEST_P(ContextTest, ATimeoutInterruptsAndTheVariablesStay) {
  Run("x = 1");
  const Ran ran = Run("x = 2\nwhile True: pass", 500ms);
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(ran.result->outcome.exit_code, 124);
  EXPECT_TRUE(ran.Alive());
  EXPECT_EQ(Run("x").Plain(), "2");
}

TEST_P(ContextTest, ACellThatIgnoresTheInterruptDies) {
  const auto start = Clock::now();
  const Ran ran = Run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", 500ms);
  EXPECT_GE(Clock::now() - start, 2s);
  EXPECT_LT(Clock::now() - start, 10s);
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kTimedOut) << ran.Plain();
  EXPECT_FALSE(ran.Alive());
  EXPECT_EQ(manager_.Find("a")->condition, engine::ContextCondition::kDead);
  EXPECT_EQ(Run("1").result.error().code, base::Code::kNotStarted);
  ASSERT_TRUE(manager_.Restart("a").has_value());
  EXPECT_EQ(Run("1").Plain(), "1");
}

TEST_P(ContextTest, AnInterpreterThatIsKilledIsReported) {
  const auto start = Clock::now();
  const Ran ran = Run("print('before', flush=True)\nimport os\nos.kill(os.getpid(), 9)");
  EXPECT_LT(Clock::now() - start, 10s);
  ASSERT_TRUE(ran.result.has_value()) << ran.Plain();
  EXPECT_FALSE(ran.Alive());
  EXPECT_NE(ran.result->outcome.kind, OutcomeKind::kExited);
  EXPECT_EQ(ran.result->outcome.exit_code, 137);
  EXPECT_EQ(ran.out, "before\n");
  EXPECT_EQ(Run("1").result.error().code, base::Code::kNotStarted);
}

TEST_P(ContextTest, AnInterpreterThatDiesBetweenCellsIsReported) {
  Run("import os, threading\nthreading.Timer(0.2, lambda: os._exit(3)).start()");
  std::this_thread::sleep_for(600ms);
  const Ran ran = Run("1");
  ASSERT_TRUE(ran.result.has_value()) << ran.Plain();
  EXPECT_FALSE(ran.Alive());
  EXPECT_EQ(Run("1").result.error().code, base::Code::kNotStarted);
}

TEST_P(ContextTest, TheMemoryLimitShowsAsSuch) {
  const Ran ran = Run("x = bytearray(2 << 30)\nx[::4096] = b'x' * len(x[::4096])");
  ASSERT_TRUE(ran.result.has_value()) << ran.Plain();
  EXPECT_EQ(ran.result->outcome.kind, OutcomeKind::kOutOfMemory) << ran.Plain();
  EXPECT_EQ(ran.result->outcome.exit_code, 137);
  EXPECT_EQ(ran.result->outcome.limit, 256U);
  EXPECT_FALSE(ran.Alive());
}

TEST_P(ContextTest, RestartForgetsVariablesAndFiles) {
  Run("x = 1; open('file', 'w').close()");
  ASSERT_TRUE(manager_.Restart("a").has_value());
  EXPECT_EQ(Run("import os; 'x' in globals(), os.listdir('.')").Plain(), "(False, [])");
}

TEST_P(ContextTest, ABranchHasVariablesFunctionsAndClasses) {
  Run("import math, json\nx = [1, 2]; y = x\ndef f(n): return n + len(x)\n"
      "class Point:\n    def __init__(self, a): self.a = a\n    def twice(self): return 2 * self.a\n"
      "p = Point(4)\nimport threading; lock = threading.Lock()");
  const auto report = manager_.Fork("a", "b");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->variables, std::vector<std::string>{"lock"});
  EXPECT_EQ(report->files, std::vector<std::string>{});
  EXPECT_EQ(In("b", "x is y, f(1), p.twice(), Point(1).a, math.floor(2.5)").Plain(), "(True, 3, 8, 1, 2)");
  In("b", "x.append(3); p.a = 0");
  EXPECT_EQ(Run("x, p.a").Plain(), "([1, 2], 4)");
  EXPECT_EQ(In("b", "f(0)").Plain(), "3");
}

TEST_P(ContextTest, ABranchHasFilesOfItsOwn) {
  Run("import os\nos.makedirs('d/e')\nopen('d/e/f', 'w').write('one')\nos.symlink('d', 'link')\n"
      "open('/tmp/t', 'w').write('tmp')\nopen(os.path.expanduser('~/h'), 'w').write('home')\n"
      "os.chmod('d/e/f', 0o640)\nopen('closed', 'w').close()\nos.chmod('closed', 0)\nos.mkfifo('fifo')");
  const auto report = manager_.Fork("a", "b");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->files.size(), 1U) << testing::PrintToString(report->files);
  EXPECT_NE(report->files[0].find("closed"), std::string::npos) << report->files[0];
  EXPECT_EQ(In("b",
               "import os\n[open(n).read() for n in ('link/e/f', '/tmp/t', os.path.expanduser('~/h'))], "
               "oct(os.stat('d/e/f').st_mode)")
                .Plain(),
            "(['one', 'tmp', 'home'], '0o100640')");
  In("b", "open('d/e/f', 'w').write('two'); open('new', 'w').close()");
  Run("os.remove('/tmp/t')");
  EXPECT_EQ(Run("open('d/e/f').read(), os.path.exists('new')").Plain(), "('one', False)");
  EXPECT_EQ(In("b", "open('/tmp/t').read()").Plain(), "'tmp'");
}

TEST_P(ContextTest, ABranchOfTooManyBytesIsRefusedAndTheSourceLives) {
  engine::ContextOptions options = Options();
  options.max_fork_bytes = 1U << 20U;
  engine::ContextManager manager(std::move(options));
  OrderedSink sink;
  const core::Cell cell{.text = "x = 1; open('big', 'wb').write(b'x' * (4 << 20)); None"};
  ASSERT_TRUE(manager.Run("a", Language::kPython, cell, sink, {}).has_value());
  EXPECT_EQ(manager.Fork("a", "b").error().code, base::Code::kTooLarge);
  const auto after = manager.Run("a", Language::kPython, {.text = "x"}, sink, {});
  ASSERT_TRUE(after.has_value()) << after.error().message;
  EXPECT_EQ(after->result.outputs.at(0).forms.at(0).data, "1");
}

TEST_P(ContextTest, TwoHundredCells) {
  Run("n = 0");
  for (int i = 0; i < 200; ++i) {
    const Ran ran = Run("n += 1\nprint(n, end='')");
    ASSERT_EQ(ran.out, std::to_string(i + 1)) << ran.Plain();
  }
  EXPECT_EQ(Run("n").Plain(), "200");
}

TEST_P(ContextTest, OutputBeyondTheLimitIsCountedAndDropped) {
  max_output_bytes_ = 100'000;
  const Ran ran = Run("print('x' * 1_000_000)\n'y' * 500_000");
  ASSERT_TRUE(ran.result.has_value()) << ran.Plain();
  EXPECT_EQ(ran.out.size(), 100'000U);
  EXPECT_TRUE(ran.result->output_truncated);
  EXPECT_EQ(ran.result->output_bytes, 1'000'001U);
  EXPECT_TRUE(ran.result->outputs.empty());
  EXPECT_EQ(Run("1").Plain(), "1");
}

TEST_P(ContextTest, OutputArrivesInOrderWhileTheCellRuns) {
  OrderedSink sink;
  const core::Cell cell{.text =
                            "import sys, time\n"
                            "for i in range(3):\n"
                            "    print(f'o{i}', flush=True); time.sleep(0.2)\n"
                            "    print(f'e{i}', file=sys.stderr, flush=True); time.sleep(0.2)\n"};
  ASSERT_TRUE(manager_.Run("a", Language::kPython, cell, sink, {}).has_value());
  EXPECT_EQ(sink.all, "o0\ne0\no1\ne1\no2\ne2\n");
  EXPECT_GE(sink.arrivals.back() - sink.arrivals.front(), 800ms);
}

TEST_P(ContextTest, ContextsRunBesideEachOther) {
  for (const char* name : {"a", "b"}) In(name, "import time");
  const auto start = Clock::now();
  std::array<Ran, 2> ran;
  {
    std::jthread other([&] { ran[1] = In("b", "time.sleep(3); x = 'b'; x"); });
    ran[0] = In("a", "time.sleep(3); x = 'a'; x");
  }
  EXPECT_LT(Clock::now() - start, 6s);
  EXPECT_EQ(ran[0].Plain() + ran[1].Plain(), "'a''b'");
  EXPECT_EQ(Run("x").Plain(), "'a'");
}

TEST_P(ContextTest, ACellHasNoInputAndNoSecondCellGetsIn) {
  EXPECT_EQ(Run("input()").Plain(), "EOFError: EOF when reading a line");
  std::jthread busy([this] { Run("import time; time.sleep(1)"); });
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(Run("1").result.error().code, base::Code::kConflict);
}

TEST_P(ContextTest, WhatACellLeavesRunningDoesNotHoldTheNextUp) {
  Run("import subprocess; p = subprocess.Popen(['sleep', '60'])");
  const auto start = Clock::now();
  EXPECT_EQ(Run("p.poll() is None").Plain(), "True");
  ASSERT_TRUE(manager_.Remove("a").has_value());
  EXPECT_LT(Clock::now() - start, 5s);
}

}  // namespace
}  // namespace skerry
