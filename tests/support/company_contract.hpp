// The part of the contract of core::Sandbox that is about commands and contexts beside each other in one sandbox.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/backend_contract.hpp"

namespace skerry::support {

// The output and the result of one of several commands.
struct Companion {
  base::Result<core::CommandResult> result;
  std::string out;
  std::string err;

  [[nodiscard]] int Code() const { return result ? result->outcome.exit_code : -1; }
  [[nodiscard]] core::OutcomeKind Kind() const {
    return result ? result->outcome.kind : core::OutcomeKind::kOutOfMemory;
  }
};

inline void PrintTo(const Companion& companion, std::ostream* out) {
  *out << (companion.result ? std::to_string(companion.Code()) : companion.result.error().message) << "\n"
       << companion.out << companion.err;
}

// Calls `then` when a text has been written.
class NoticingSink : public RecordingSink {
 public:
  NoticingSink(std::string text, std::function<void()> then) : text_(std::move(text)), then_(std::move(then)) {}
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override {
    const core::SinkAnswer answer = RecordingSink::Write(stream, bytes, deadline);
    if (then_ && out.find(text_) != std::string::npos) std::exchange(then_, nullptr)();
    return answer;
  }

 private:
  std::string text_;
  std::function<void()> then_;
};

class CompanyContractTest : public BackendContractTest {
 protected:
  static constexpr std::chrono::seconds kLong{30};

  static core::Command Beside(std::variant<core::Code, core::Arguments> program,
                              std::chrono::milliseconds timeout = kLong) {
    core::Command command;
    command.program = std::move(program);
    command.timeout = timeout;
    command.ends = core::Reach::kCommand;
    return command;
  }
  static core::Command Shell(const std::string& text, std::chrono::milliseconds timeout = kLong) {
    return Beside(core::Arguments{"bash", "-c", text}, timeout);
  }

  Companion Run(const core::Command& command, std::stop_token stop = {}) {
    RecordingSink sink;
    auto result = sandbox_->Execute(command, sink, std::move(stop));
    return {std::move(result), std::move(sink.out), std::move(sink.err)};
  }
  std::string Shows(const std::string& text) { return Run(Shell(text)).out; }

  // Starts the sandbox. True when it runs real programs.
  [[nodiscard]] bool HasPrograms() {
    Start();
    return Run(Shell("true")).Code() == 0;
  }

  // A program that writes to a file for ever. Gone tells whether it has stopped: not every process can see every other.
  static std::string Beating(const std::string& file) { return "while :; do echo >> " + file + "; sleep 0.05; done"; }
  bool Gone(const std::string& file) {
    return Shows("for i in $(seq 10); do before=$(wc -c < " + file + "); sleep 0.4; [ $before = $(wc -c < " + file +
                 ") ] && { echo gone; break; }; done") == "gone\n";
  }
  // Shell code that waits until the file is there.
  static std::string Until(const std::string& file) { return "until [ -e " + file + " ]; do sleep 0.02; done; "; }

  // The plain text of a cell's result, or its error.
  static std::string Value(core::Context& context, const std::string& text, std::chrono::milliseconds timeout = kLong) {
    RecordingSink sink;
    const auto result = context.Run({.text = text, .timeout = timeout}, sink, {});
    if (!result) return result.error().message;
    if (result->error) return result->error->message;
    return result->outputs.empty() ? "" : result->outputs.back().forms.front().data;
  }
};

#define SKERRY_NEEDS_PROGRAMS() \
  if (!HasPrograms()) GTEST_SKIP() << "this backend runs no real programs"
#define SKERRY_NEEDS_CONTEXTS() \
  SKERRY_NEEDS_PROGRAMS();      \
  if (sandbox_->contexts() == nullptr) GTEST_SKIP() << "this backend has no contexts"
#define SKERRY_NEEDS_PAUSING() \
  SKERRY_NEEDS_PROGRAMS();     \
  if (sandbox_->pausing() == nullptr) GTEST_SKIP() << "this backend cannot be paused"

TEST_P(CompanyContractTest, TwoCommandsRunAtTheSameTime) {
  SKERRY_NEEDS_PROGRAMS();
  Companion one;
  Companion two;
  {
    const std::jthread other([&] { two = Run(Shell("touch two; " + Until("one") + "echo two; echo 2 >&2; exit 2")); });
    one = Run(Shell("touch one; " + Until("two") + "echo one; echo 1 >&2; exit 1"));
  }
  EXPECT_EQ(one.Code(), 1) << testing::PrintToString(one);
  EXPECT_EQ(two.Code(), 2) << testing::PrintToString(two);
  EXPECT_EQ(one.out + one.err + two.out + two.err, "one\n1\ntwo\n2\n");
}

TEST_P(CompanyContractTest, TwentyCommandsFiveTimesEachWithItsOwnOutput) {
  Start();
  for (int round = 0; round < 5; ++round) {
    std::array<Companion, 20> all;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < all.size(); ++i)
        threads.emplace_back([&, i] { all[i] = Run(Beside(core::Arguments{"echo", std::to_string(i), "said"})); });
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].Code(), 0) << testing::PrintToString(all[i]);
      EXPECT_EQ(all[i].out, std::to_string(i) + " said\n");
    }
  }
  EXPECT_TRUE(sandbox_->IsRunning());
}

TEST_P(CompanyContractTest, InterpretersRunBesideEachOtherToo) {
  SKERRY_NEEDS_PROGRAMS();
  std::array<Companion, 6> all;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] {
        all[i] = Run(Beside(core::Code{core::Language::kPython,
                                       "import time\nfor _ in range(5):\n    print(" + std::to_string(i) +
                                           ", flush=True); time.sleep(0.02)\nexit(" + std::to_string(i) + ")"}));
      });
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].Code(), static_cast<int>(i)) << testing::PrintToString(all[i]);
    const std::string line = std::to_string(i) + "\n";
    EXPECT_EQ(all[i].out, line + line + line + line + line);
  }
}

TEST_P(CompanyContractTest, ATimeoutEndsTheCommandWithWhatItStartedAndNobodyElse) {
  SKERRY_NEEDS_PROGRAMS();
  Companion other;
  {
    const std::jthread thread([&] { other = Run(Shell("echo before; " + Until("go") + "echo after; exit 7")); });
    const auto start = std::chrono::steady_clock::now();
    const Companion late = Run(Shell("(" + Beating("member") + ") & setsid bash -c '(" + Beating("far") + ") & " +
                                         Beating("leader") + "' & " + Beating("own"),
                                     std::chrono::seconds(1)));
    EXPECT_EQ(late.Kind(), core::OutcomeKind::kTimedOut) << testing::PrintToString(late);
    EXPECT_EQ(late.Code(), 124);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
    for (const char* file : {"own", "member", "leader", "far"}) EXPECT_TRUE(Gone(file)) << file;
    EXPECT_TRUE(sandbox_->IsRunning());
    EXPECT_EQ(Run(Shell("touch go")).Code(), 0);
  }
  EXPECT_EQ(other.Code(), 7) << testing::PrintToString(other);
  EXPECT_EQ(other.out, "before\nafter\n");
}

TEST_P(CompanyContractTest, ATimeoutOfAnInterpreterEndsNobodyElse) {
  SKERRY_NEEDS_PROGRAMS();
  Companion other;
  {
    const std::jthread thread([&] { other = Run(Shell(Until("go") + "exit 7")); });
    const Companion late = Run(Beside(core::Code{core::Language::kPython,
                                                 "import subprocess, time\n"
                                                 "subprocess.Popen(['bash', '-c', '" +
                                                     Beating("beat") + "'], start_new_session=True)\ntime.sleep(60)"},
                                      std::chrono::seconds(2)));
    EXPECT_EQ(late.Kind(), core::OutcomeKind::kTimedOut) << testing::PrintToString(late);
    EXPECT_TRUE(Gone("beat"));
    EXPECT_EQ(Run(Shell("touch go")).Code(), 0);
  }
  EXPECT_EQ(other.Code(), 7) << testing::PrintToString(other);
}

TEST_P(CompanyContractTest, AStopAndAnUnwillingReaderEndTheirCommandAlone) {
  SKERRY_NEEDS_PROGRAMS();
  Companion other;
  {
    const std::jthread thread([&] { other = Run(Shell(Until("go") + "exit 7")); });
    std::stop_source stop;
    NoticingSink stopper("begun", [&] { stop.request_stop(); });
    const auto stopped = sandbox_->Execute(Shell("echo begun; " + Beating("first")), stopper, stop.get_token());
    ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
    EXPECT_EQ(stopped->outcome.kind, core::OutcomeKind::kCancelled);
    RecordingSink unwilling;
    unwilling.wants_more = false;
    const auto refused = sandbox_->Execute(Shell("echo out; " + Beating("second")), unwilling, {});
    ASSERT_TRUE(refused.has_value()) << refused.error().message;
    EXPECT_EQ(refused->outcome.kind, core::OutcomeKind::kCancelled);
    EXPECT_TRUE(Gone("first"));
    EXPECT_TRUE(Gone("second"));
    EXPECT_EQ(Run(Shell("touch go")).Code(), 0);
  }
  EXPECT_EQ(other.Code(), 7) << testing::PrintToString(other);
}

TEST_P(CompanyContractTest, WhatACommandLeavesRunningGoesOn) {
  SKERRY_NEEDS_PROGRAMS();
  EXPECT_EQ(Run(Shell("(" + Until("go") + "touch done) > /dev/null 2>&1 &")).Code(), 0);
  EXPECT_EQ(Run(Shell("sleep 60", std::chrono::milliseconds(200))).Kind(), core::OutcomeKind::kTimedOut);
  EXPECT_EQ(Run(Shell("touch go; " + Until("done"), std::chrono::seconds(10))).Code(), 0);
}

TEST_P(CompanyContractTest, SignalsReachTheCommandAndItsGroup) {
  SKERRY_NEEDS_PROGRAMS();
  std::unique_ptr<core::Process> process;
  NoticingSink sink("ready", [&] {
    EXPECT_FALSE(process->Signal(0).has_value());
    EXPECT_FALSE(process->Signal(65).has_value());
    EXPECT_TRUE(process->Signal(SIGUSR1).has_value());
  });
  auto launched =
      sandbox_->Launch(Shell("trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done"), sink, {});
  ASSERT_TRUE(launched.has_value()) << launched.error().message;
  process = *std::move(launched);
  const auto result = process->Await({});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outcome.exit_code, 5);
  EXPECT_EQ(sink.out, "ready\ngot\n");
}

TEST_P(CompanyContractTest, ADirectoryIsWhereTheCommandRuns) {
  SKERRY_NEEDS_PROGRAMS();
  ASSERT_EQ(Run(Shell("mkdir -p below/it")).Code(), 0);
  core::Command command = Shell("pwd");
  command.directory = "below/it";
  EXPECT_TRUE(Run(command).out.ends_with("/below/it\n"));
  command.directory = "/usr";
  EXPECT_EQ(Run(command).out, "/usr\n");
  command = Beside(core::Code{core::Language::kPython, "import os; print(os.getcwd())"});
  command.directory = "below";
  EXPECT_TRUE(Run(command).out.ends_with("/below\n"));
}

TEST_P(CompanyContractTest, ADirectoryThatIsNotThereIsAnErrorThatNamesIt) {
  SKERRY_NEEDS_PROGRAMS();
  for (const auto& program : {std::variant<core::Code, core::Arguments>(core::Arguments{"true"}),
                              std::variant<core::Code, core::Arguments>(core::Code{core::Language::kPython, "pass"})}) {
    core::Command command = Beside(program);
    command.directory = "no/such/place";
    const Companion ran = Run(command);
    ASSERT_FALSE(ran.result.has_value());
    EXPECT_EQ(ran.result.error().code, base::Code::kNotFound);
    EXPECT_NE(ran.result.error().message.find("no/such/place"), std::string::npos) << ran.result.error().message;
  }
  core::Command odd = Shell("true");
  odd.directory = std::string("a\0b", 3);
  EXPECT_EQ(Run(odd).result.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(Run(Shell("true")).Code(), 0);
}

TEST_P(CompanyContractTest, TerminalsStandBesidePipes) {
  SKERRY_NEEDS_PROGRAMS();
  std::array<Companion, 8> all;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] {
        core::Command command = Shell("[ -t 1 ] && echo terminal " + std::to_string(i) + " || echo pipe");
        if (i % 2 == 0) command.terminal = core::TerminalSize{};
        all[i] = Run(command);
      });
  }
  if (!all[0].result) GTEST_SKIP() << all[0].result.error().message;
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].out, i % 2 == 0 ? "terminal " + std::to_string(i) + "\r\n" : "pipe\n")
        << testing::PrintToString(all[i]);
}

TEST_P(CompanyContractTest, ContextsKeepTheirOwnVariablesBesideACommand) {
  SKERRY_NEEDS_CONTEXTS();
  auto one = sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  auto two = sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  ASSERT_TRUE(one && two) << (one ? two : one).error().message;
  Companion command;
  {
    const std::jthread beside([&] { command = Run(Shell(Until("one") + Until("two") + "echo both")); });
    const std::jthread second(
        [&] { EXPECT_EQ(Value(**two, "import time\nx = 2\nopen('two', 'w').close()\ntime.sleep(0.3)\nx"), "2"); });
    EXPECT_EQ(Value(**one, "import time\nx = 1\nopen('one', 'w').close()\ntime.sleep(0.3)\nx"), "1");
  }
  EXPECT_EQ(command.out, "both\n");
  EXPECT_EQ(Value(**one, "x") + Value(**two, "x"), "12");
  // A timeout of another command does not affect contexts.
  EXPECT_EQ(Run(Shell("sleep 60", std::chrono::milliseconds(100))).Kind(), core::OutcomeKind::kTimedOut);
  EXPECT_EQ(Value(**one, "x + 1"), "2");
}

TEST_P(CompanyContractTest, AContextThatDoesNotHeedItsInterruptDiesAlone) {
  SKERRY_NEEDS_CONTEXTS();
  auto deaf = sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  auto other = sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  ASSERT_TRUE(deaf && other);
  EXPECT_EQ(Value(**other, "y = 4\ny"), "4");
  Companion command;
  {
    const std::jthread beside([&] { command = Run(Shell(Until("go") + "exit 7")); });
    RecordingSink sink;
    const auto result =
        (*deaf)->Run({.text = "import signal, subprocess\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                              "subprocess.Popen(['bash', '-c', '" +
                              Beating("beat") + "'], start_new_session=True)\nwhile True: pass",
                      .timeout = std::chrono::seconds(1)},
                     sink, {});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kTimedOut);
    EXPECT_FALSE(result->alive);
    EXPECT_FALSE((*deaf)->Alive());
    EXPECT_TRUE(Gone("beat"));
    EXPECT_EQ(Run(Shell("touch go")).Code(), 0);
  }
  EXPECT_EQ(command.Code(), 7);
  EXPECT_EQ(Value(**other, "y"), "4");
}

TEST_P(CompanyContractTest, AContextTakesWhatItStartedWithIt) {
  SKERRY_NEEDS_CONTEXTS();
  for (const core::Language language : {core::Language::kPython, core::Language::kShell}) {
    auto context = sandbox_->contexts()->OpenContext({.language = language, .ends = core::Reach::kCommand});
    ASSERT_TRUE(context.has_value()) << context.error().message;
    (void)Value(**context, language == core::Language::kPython
                               ? "import subprocess\np = subprocess.Popen(['bash', '-c', '" + Beating("beat") + "'])"
                               : "(" + Beating("beat") + ") &");
    EXPECT_EQ(Run(Shell(Until("beat"))).Code(), 0);
    context->reset();
    EXPECT_TRUE(Gone("beat"));
    EXPECT_TRUE(sandbox_->IsRunning());
  }
}

TEST_P(CompanyContractTest, AnInterruptedCellLeavesItsContextAlive) {
  SKERRY_NEEDS_CONTEXTS();
  auto context =
      sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  ASSERT_TRUE(context.has_value()) << context.error().message;
  EXPECT_EQ(Value(**context, "z = 3\nz"), "3");
  RecordingSink sink;
  const auto result =
      (*context)->Run({.text = "import time\ntime.sleep(60)", .timeout = std::chrono::milliseconds(500)}, sink, {});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kTimedOut);
  EXPECT_TRUE(result->alive);
  EXPECT_EQ(Value(**context, "z"), "3");
}

TEST_P(CompanyContractTest, TheSandboxStandsStillWhileTwoCommandsRun) {
  SKERRY_NEEDS_PAUSING();
  std::array<Companion, 2> all;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] {
      const std::string name = std::to_string(i);
      all[i] = Run(Shell("touch begun" + name + "; " + Until("go") + "echo " + name + "; exit " + name));
    });
  ASSERT_EQ(Run(Shell(Until("begun0") + Until("begun1"))).Code(), 0);
  const auto frozen = sandbox_->pausing()->Freeze(base::Deadline::Never());
  const bool unable = !frozen && frozen.error().code == base::Code::kUnavailable;
  if (!unable) {
    EXPECT_TRUE(frozen.has_value()) << frozen.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_TRUE(sandbox_->pausing()->Thaw(base::Deadline::Never()).has_value());
  }
  EXPECT_EQ(Run(Shell("touch go")).Code(), 0);
  threads.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].Code(), static_cast<int>(i)) << testing::PrintToString(all[i]);
    EXPECT_EQ(all[i].out, std::to_string(i) + "\n");
  }
  if (unable) GTEST_SKIP() << frozen.error().message;
}

}  // namespace skerry::support
