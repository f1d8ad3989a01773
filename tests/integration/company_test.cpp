// Commands and contexts beside each other in a native sandbox: what happens when it is lost, or memory runs out.
#include <array>
#include <thread>
#include <vector>

#include "observed_sandbox.hpp"

namespace skerry {
namespace {

using namespace support;
using core::OutcomeKind;

class CompanyTest : public testing::TestWithParam<NativeBackend::Zygotes> {
 protected:
  void SetUp() override {
    const core::Availability availability = backend_.Probe(base::Deadline::Never());
    if (!availability.usable) GTEST_SKIP() << availability.detail;
    sandbox_ = Started(backend_, spec_);
    ASSERT_NE(sandbox_, nullptr);
  }

  static core::Command Beside(core::Command command, std::chrono::milliseconds timeout = 30s) {
    command.ends = core::Reach::kCommand;
    command.timeout = timeout;
    return command;
  }

  // Runs `kCount` commands in the background until the threads are joined, half of them in an interpreter.
  template <std::size_t kCount>
  std::vector<std::jthread> KeepBusy(std::array<Ran, kCount>& all) {
    std::vector<std::jthread> threads;
    threads.reserve(kCount);
    for (std::size_t i = 0; i < kCount; ++i)
      threads.emplace_back([this, &ran = all[i], i] {
        const std::string mark = "begun" + std::to_string(i);
        ran = Execute(*sandbox_,
                      Beside(i % 2 == 0 ? Shell("touch " + mark + "; sleep 60")
                                        : Python("import time\nopen('" + mark + "', 'w').close()\ntime.sleep(60)")));
      });
    std::string all_begun = "until [ $(ls | grep -c begun) = " + std::to_string(kCount) + " ]; do sleep 0.02; done";
    EXPECT_EQ(Execute(*sandbox_, Beside(Shell(all_begun))).Code(), 0);
    return threads;
  }

  core::SandboxSpec spec_ = [] {
    core::SandboxSpec spec = Spec();
    spec.limits.memory_mb = 256;
    return spec;
  }();
  NativeBackend backend_{Programs(), {}, GetParam()};
  std::unique_ptr<core::Sandbox> sandbox_;
};

INSTANTIATE_TEST_SUITE_P(Starts, CompanyTest,
                         testing::Values(NativeBackend::Zygotes::kPython, NativeBackend::Zygotes::kNone),
                         [](const auto& information) {
                           return information.param == NativeBackend::Zygotes::kPython ? "forked" : "executed";
                         });

TEST_P(CompanyTest, ALostInitIsTheEndOfEveryCommandAndOneNewSandboxFollows) {
  std::array<Ran, 6> all;
  auto threads = KeepBusy(all);
  const pid_t launcher = TheLauncher();
  const auto inits = InitsOf(launcher);
  ASSERT_EQ(inits.size(), 1U);
  ASSERT_TRUE(SignalProcess(inits.front(), SIGKILL));
  threads.clear();
  for (const Ran& ran : all) {
    ASSERT_TRUE(ran.result.has_value()) << ran;
    EXPECT_EQ(ran.Kind(), OutcomeKind::kLost) << ran;
  }
  std::array<Ran, 4> next;
  for (Ran& ran : next)
    threads.emplace_back([this, &ran] { ran = Execute(*sandbox_, Beside(Shell("echo again; sleep 0.2"))); });
  EXPECT_TRUE(Eventually([&] { return InitsOf(launcher).size() == 1; }));
  threads.clear();
  for (const Ran& ran : next) EXPECT_EQ(ran.out, "again\n") << ran;
  EXPECT_EQ(InitsOf(launcher).size(), 1U);
}

TEST_P(CompanyTest, ALostLauncherIsTheEndOfEveryCommand) {
  std::array<Ran, 4> all;
  auto threads = KeepBusy(all);
  ASSERT_TRUE(SignalProcess(TheLauncher(), SIGKILL));
  threads.clear();
  for (const Ran& ran : all) {
    ASSERT_TRUE(ran.result.has_value()) << ran;
    EXPECT_EQ(ran.Kind(), OutcomeKind::kLost) << ran;
  }
  EXPECT_EQ(Execute(*sandbox_, Beside(Shell("echo again"))).out, "again\n");
}

TEST_P(CompanyTest, ALostSandboxIsTheEndOfItsContexts) {
  auto context =
      sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
  ASSERT_TRUE(context.has_value()) << context.error().message;
  std::jthread killer([] {
    std::this_thread::sleep_for(500ms);
    EXPECT_TRUE(SignalProcess(InitsOf(TheLauncher()).at(0), SIGKILL));
  });
  KeepingSink sink;
  const auto cell = (*context)->Run({.text = "import time\ntime.sleep(60)"}, sink, {});
  ASSERT_TRUE(cell.has_value()) << cell.error().message;
  EXPECT_EQ(cell->outcome.kind, OutcomeKind::kLost);
  EXPECT_FALSE((*context)->Alive());
  EXPECT_EQ(Execute(*sandbox_, Beside(Shell("echo again"))).out, "again\n");
}

TEST_P(CompanyTest, OutOfMemoryIsToldToTheOneItHappenedTo) {
  Ran other;
  std::jthread beside(
      [&] { other = Execute(*sandbox_, Beside(Shell("until [ -e go ]; do sleep 0.02; done; exit 3"))); });
  const Ran greedy = Execute(*sandbox_, Beside(Python("x = bytearray(2 << 30)\nx[::4096] = b'x' * len(x[::4096])")));
  ASSERT_TRUE(greedy.result.has_value()) << greedy;
  EXPECT_EQ(greedy.Kind(), OutcomeKind::kOutOfMemory) << greedy;
  if (!sandbox_->IsRunning()) GTEST_SKIP() << "on this machine the launcher keeps the limit, by ending the sandbox";
  EXPECT_EQ(Execute(*sandbox_, Beside(Shell("touch go"))).Code(), 0);
  beside.join();
  ASSERT_TRUE(other.result.has_value()) << other;
  EXPECT_EQ(other.Code(), 3) << other;
  EXPECT_TRUE(other.result->limits_reached.empty());
}

TEST_P(CompanyTest, WhatAChildOfALoneCommandUsedUpIsStillTold) {
  const Ran ran = Execute(
      *sandbox_, Beside(Shell("python3 -c \"x = bytearray(2 << 30); x[::4096] = b'x' * len(x[::4096])\"; exit 0")));
  ASSERT_TRUE(ran.result.has_value()) << ran;
  if (ran.Kind() != OutcomeKind::kExited) GTEST_SKIP() << "on this machine the launcher ends the sandbox for it";
  ASSERT_EQ(ran.result->limits_reached.size(), 1U);
  EXPECT_EQ(ran.result->limits_reached.front().name, "memory");
}

// Commands come and go while contexts open and close, and timeouts happen.
TEST_P(CompanyTest, ALivelySandboxMixesNothingUp) {
  std::vector<std::jthread> threads;
  threads.reserve(6);
  for (int number = 0; number < 6; ++number)
    threads.emplace_back([this, number] {
      for (int round = 0; round < 8; ++round) {
        const std::string word = std::to_string(number) + "-" + std::to_string(round);
        const bool late = (number + round) % 4 == 0;
        const core::Command command =
            number % 2 == 0
                ? Shell("echo " + word + (late ? "; sleep 60" : ""))
                : Python("import time\nprint('" + word + "', flush=True)\n" + (late ? "time.sleep(60)" : ""));
        const Ran ran = Execute(*sandbox_, Beside(command, late ? 1500ms : 30s));
        ASSERT_TRUE(ran.result.has_value()) << ran;
        EXPECT_EQ(ran.Kind(), late ? OutcomeKind::kTimedOut : OutcomeKind::kExited) << ran;
        EXPECT_EQ(ran.out, word + "\n");
      }
    });
  threads.emplace_back([this] {
    for (int round = 0; round < 4; ++round) {
      auto context =
          sandbox_->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kCommand});
      ASSERT_TRUE(context.has_value()) << context.error().message;
      KeepingSink sink;
      const auto cell = (*context)->Run({.text = "print(6 * 7)"}, sink, {});
      ASSERT_TRUE(cell.has_value()) << cell.error().message;
      EXPECT_EQ(sink.out, "42\n");
    }
  });
  threads.clear();
  EXPECT_TRUE(sandbox_->IsRunning());
  const auto inits = InitsOf(TheLauncher());
  ASSERT_EQ(inits.size(), 1U);
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(inits.front()).empty(); })) << "something was left running";
}

}  // namespace
}  // namespace skerry
