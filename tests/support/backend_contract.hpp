// The contract of core::Sandbox, which every backend passes. A test program instantiates it with its own maker.
#pragma once

#include <fcntl.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "core/backend.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"
#include "os/remove_tree.hpp"

namespace skerry::support {

class RecordingSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    (stream == core::Stream::kStdout ? out : err).append(bytes);
    return {.accepted = bytes.size(), .wants_more = wants_more};
  }
  std::string out;
  std::string err;
  bool wants_more = true;
};

// How a backend under test is made. `unavailable` is the reason to skip, or empty.
struct BackendMaker {
  std::string name;
  std::function<std::unique_ptr<core::Backend>()> make;
  std::function<std::string()> unavailable = [] { return std::string(); };
};

// What GoogleTest prints for a parameter, in place of its bytes.
inline void PrintTo(const BackendMaker& maker, std::ostream* out) {
  *out << maker.name;
}

class BackendContractTest : public testing::TestWithParam<BackendMaker> {
 protected:
  void SetUp() override {
    if (const std::string reason = GetParam().unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    std::string name = "/tmp/skerry-contract-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    backend_ = GetParam().make();
    auto sandbox = backend_->Create({.workspace = directory_});
    ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
  }

  void TearDown() override {
    sandbox_.reset();
    if (!directory_.empty()) {
      EXPECT_TRUE(os::RemoveTree(directory_).has_value());
    }
  }

  void Start() { ASSERT_TRUE(sandbox_->Start().has_value()); }

  base::Result<core::CommandResult> Execute(core::Arguments arguments,
                                            std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    core::Command command;
    command.program = std::move(arguments);
    command.timeout = timeout;
    command.max_output_bytes = max_output_bytes_;
    command.input_fd = input_fd_;
    return sandbox_->Execute(command, sink_, stop_.get_token());
  }

  std::string directory_;
  std::unique_ptr<core::Backend> backend_;
  std::unique_ptr<core::Sandbox> sandbox_;
  RecordingSink sink_;
  std::stop_source stop_;
  std::uint64_t max_output_bytes_ = 10U << 20U;
  int input_fd_ = -1;
};

TEST_P(BackendContractTest, NothingRunsBeforeStart) {
  EXPECT_FALSE(sandbox_->IsRunning());
  const auto result = Execute({"true"});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::kNotStarted);
}

TEST_P(BackendContractTest, RunsUntilStopped) {
  Start();
  EXPECT_TRUE(sandbox_->IsRunning());
  ASSERT_TRUE(sandbox_->Stop().has_value());
  EXPECT_FALSE(sandbox_->IsRunning());
  EXPECT_TRUE(sandbox_->Stop().has_value());
}

// Some cannot tell what they use.
TEST_P(BackendContractTest, WhatItUsesIsToldWhileItRunsAndThenOnly) {
  const auto unknown = [&] {
    const auto usage = sandbox_->Usage();
    return !usage && usage.error().code == base::Code::kUnavailable;
  };
  EXPECT_TRUE(unknown());
  Start();
  if (const auto usage = sandbox_->Usage(); usage) {
    EXPECT_EQ(usage->memory_limit_bytes, core::SandboxLimits{}.memory_mb << 20U);
    EXPECT_EQ(usage->pids_limit, core::SandboxLimits{}.pids);
    ASSERT_TRUE(Execute({"true"}).has_value());
    EXPECT_GE(sandbox_->Usage()->cpu_time, usage->cpu_time);
  } else {
    EXPECT_TRUE(unknown());
  }
  ASSERT_TRUE(sandbox_->Stop().has_value());
  EXPECT_TRUE(unknown());
}

TEST_P(BackendContractTest, OutputGoesToTheSink) {
  Start();
  const auto result = Execute({"echo", "hello", "world"});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(sink_.out, "hello world\n");
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kExited);
  EXPECT_EQ(result->output_bytes, 12U);
}

TEST_P(BackendContractTest, TheExitCodeIsTheProgramsOwn) {
  Start();
  EXPECT_EQ(Execute({"true"})->outcome.exit_code, 0);
  EXPECT_EQ(Execute({"false"})->outcome.exit_code, 1);
}

TEST_P(BackendContractTest, AProgramThatIsNotThereIsAnError) {
  Start();
  const auto result = Execute({"no-such-program-anywhere"});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::kNotFound);
  EXPECT_TRUE(Execute({"true"}).has_value());
}

TEST_P(BackendContractTest, NoCommandIsAnError) {
  Start();
  const auto result = Execute({});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::kInvalidArgument);
}

TEST_P(BackendContractTest, InputIsPassedToItsEnd) {
  Start();
  auto pipe = os::Pipe::Create().value();
  const std::string text = "line\n" + std::string(1000, 'x') + std::string("\0\xff", 2);
  ASSERT_TRUE(os::WriteAll(pipe.write_end.get(), text).has_value());
  pipe.write_end.Reset();
  input_fd_ = pipe.read_end.get();
  ASSERT_TRUE(Execute({"cat"}).has_value());
  EXPECT_EQ(sink_.out, text);
}

TEST_P(BackendContractTest, WithoutInputThereIsTheEndOfIt) {
  Start();
  const auto result = Execute({"cat"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->outcome.exit_code, 0);
}

TEST_P(BackendContractTest, ATimeoutEndsTheCommandAndSaysSo) {
  Start();
  const auto start = std::chrono::steady_clock::now();
  const auto result = Execute({"sleep", "60"}, std::chrono::seconds(1));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kTimedOut);
  EXPECT_EQ(result->outcome.exit_code, 124);
  EXPECT_EQ(result->outcome.limit, 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_P(BackendContractTest, AfterATimeoutTheNextCommandRuns) {
  Start();
  ASSERT_TRUE(Execute({"sleep", "60"}, std::chrono::milliseconds(50)).has_value());
  const auto result = Execute({"echo", "again"});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(sink_.out, "again\n");
}

TEST_P(BackendContractTest, AStopRequestEndsTheCommand) {
  Start();
  std::jthread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop_.request_stop();
  });
  const auto result = Execute({"sleep", "60"});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kCancelled);
}

TEST_P(BackendContractTest, OutputBeyondTheLimitIsCountedAndDropped) {
  Start();
  max_output_bytes_ = 100'000;
  const auto result = Execute({"head", "-c", "1000000", "/dev/zero"});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->output_truncated);
  EXPECT_EQ(sink_.out.size(), 100'000U);
  EXPECT_EQ(result->output_bytes, 1'000'000U);
  EXPECT_EQ(result->outcome.exit_code, 0);
}

TEST_P(BackendContractTest, OutputAtTheLimitIsWhole) {
  Start();
  max_output_bytes_ = 100'000;
  const auto result = Execute({"head", "-c", "100000", "/dev/zero"});
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->output_truncated);
  EXPECT_EQ(sink_.out.size(), 100'000U);
}

TEST_P(BackendContractTest, FilesStayFromOneCommandToTheNext) {
  Start();
  ASSERT_EQ(Execute({"touch", "made"})->outcome.exit_code, 0);
  ASSERT_EQ(Execute({"ls"})->outcome.exit_code, 0);
  EXPECT_EQ(sink_.out, "made\n");
  // Where changes are kept apart, the view has them; else the directory itself.
  const auto view = sandbox_->View();
  EXPECT_TRUE(view ? ::faccessat(view->merged, "made", F_OK, 0) == 0
                   : std::filesystem::exists(sandbox_->Workspace() + "/made"));
  EXPECT_EQ(view.has_value(), !std::filesystem::exists(directory_ + "/made"));
}

TEST_P(BackendContractTest, WithoutAWorkspaceThereIsAnEmptyOneThatGoesWithTheSandbox) {
  auto own = backend_->Create({});
  ASSERT_TRUE(own.has_value()) << own.error().message;
  sandbox_ = std::move(*own);
  Start();
  ASSERT_EQ(Execute({"touch", "made"})->outcome.exit_code, 0);
  ASSERT_EQ(Execute({"ls"})->outcome.exit_code, 0);
  EXPECT_EQ(sink_.out, "made\n");
  const std::string path = sandbox_->Workspace();
  sandbox_.reset();
  EXPECT_TRUE(path.empty() || !std::filesystem::exists(path)) << path;
}

}  // namespace skerry::support
