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

#include "archive/byte_sink.hpp"
#include "archive/byte_source.hpp"
#include "archive/tar_writer.hpp"
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

inline core::SharedPlace PlaceOf(const std::string& path) {
  auto place = std::make_shared<core::HostPlace>();
  place->path = path;
  place->fd.Reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return place;
}

class BackendContractTest : public testing::TestWithParam<BackendMaker> {
 protected:
  void SetUp() override {
    if (const std::string reason = GetParam().unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    std::string name = "/tmp/skerry-contract-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    backend_ = GetParam().make();
    core::SandboxSpec spec;
    // The workspace of a remote backend begins empty.
    if (backend_->Can().workspace != core::WorkspaceKind::kRemote) spec.workspace = PlaceOf(directory_);
    auto sandbox = backend_->Create(spec);
    ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
  }

  void TearDown() override {
    sandbox_.reset();
    if (!directory_.empty()) {
      EXPECT_TRUE(os::RemoveTree(directory_).has_value());
    }
  }

  void Start() { ASSERT_TRUE(sandbox_->Start(base::Deadline::Never(), {}).has_value()); }

  base::Result<core::CommandResult> Execute(core::Arguments arguments,
                                            std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    core::Command command;
    command.program = std::move(arguments);
    command.timeout = timeout;
    command.max_output_bytes = max_output_bytes_;
    command.input = input_;
    return sandbox_->Execute(std::move(command), sink_, stop_.get_token());
  }

  std::string directory_;
  std::unique_ptr<core::Backend> backend_;
  std::unique_ptr<core::Sandbox> sandbox_;
  RecordingSink sink_;
  std::stop_source stop_;
  std::uint64_t max_output_bytes_ = 10U << 20U;
  std::string input_;
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
  ASSERT_TRUE(sandbox_->Stop(base::Deadline::Never()).has_value());
  EXPECT_FALSE(sandbox_->IsRunning());
  EXPECT_TRUE(sandbox_->Stop(base::Deadline::Never()).has_value());
}

// Some backends cannot measure what a sandbox uses.
TEST_P(BackendContractTest, WhatItUsesIsToldWhileItRunsAndThenOnly) {
  const auto unknown = [&] {
    const auto usage = sandbox_->Sample(base::Deadline::Never());
    return !usage && usage.error().code == base::Code::kUnavailable;
  };
  EXPECT_TRUE(unknown());
  Start();
  if (const auto usage = sandbox_->Sample(base::Deadline::Never()); usage) {
    EXPECT_EQ(usage->memory_limit_bytes, core::SandboxLimits{}.memory_mb << 20U);
    EXPECT_EQ(usage->pids_limit, core::SandboxLimits{}.pids);
    ASSERT_TRUE(Execute({"true"}).has_value());
    EXPECT_GE(sandbox_->Sample(base::Deadline::Never())->cpu_time, usage->cpu_time);
  } else {
    EXPECT_TRUE(unknown());
  }
  ASSERT_TRUE(sandbox_->Stop(base::Deadline::Never()).has_value());
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
  input_ = "line\n" + std::string(1000, 'x') + std::string("\0\xff", 2);
  ASSERT_TRUE(Execute({"cat"}).has_value());
  EXPECT_EQ(sink_.out, input_);
}

TEST_P(BackendContractTest, InputMayBeMoreThanAPipeHolds) {
  Start();
  input_ = std::string(1'000'000, 'x') + "end";
  ASSERT_TRUE(Execute({"cat"}).has_value());
  EXPECT_EQ(sink_.out, input_);
}

TEST_P(BackendContractTest, InputMayComeWhileTheCommandRuns) {
  Start();
  core::Command command{.program = core::Arguments{"cat"}, .input = "first ", .input_end = core::InputEnd::kOpen};
  const auto process = sandbox_->Launch(std::move(command), sink_, {});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  base::Result<core::CommandResult> result = base::Err(base::Code::kInternal, "not awaited");
  {
    const std::jthread waiting([&] { result = (*process)->Await({}); });
    const std::string text(300'000, 'y');
    for (std::string_view left = text; !left.empty();) {
      const auto taken = (*process)->Feed(left);
      ASSERT_TRUE(taken.has_value()) << taken.error().message;
      left.remove_prefix(*taken);
      if (!left.empty()) EXPECT_TRUE((*process)->AwaitRoom(base::Deadline::After(std::chrono::seconds(30))));
    }
    EXPECT_TRUE((*process)->CloseInput().has_value());
    EXPECT_FALSE((*process)->Feed("late").has_value());
  }
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(sink_.out, "first " + std::string(300'000, 'y'));
}

TEST_P(BackendContractTest, AProcessThatNobodyAwaitsIsEnded) {
  Start();
  const auto began = std::chrono::steady_clock::now();
  {
    const auto process = sandbox_->Launch({.program = core::Arguments{"sleep", "60"}}, sink_, {});
    ASSERT_TRUE(process.has_value()) << process.error().message;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_TRUE(Execute({"true"}).has_value());
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

// Command::lifetime: for callers that are stopped and cannot keep the timeout.
TEST_P(BackendContractTest, ALifetimeEndsTheSandboxBeforeTheTimeout) {
  Start();
  core::Command command;
  command.program = core::Arguments{"sleep", "60"};
  command.timeout = std::chrono::seconds(40);
  command.lifetime = std::chrono::milliseconds(300);
  const auto start = std::chrono::steady_clock::now();
  const auto result = sandbox_->Execute(std::move(command), sink_, stop_.get_token());
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kLost);
  EXPECT_FALSE(sandbox_->IsRunning());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
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
  EXPECT_EQ(sandbox_->files().Read("made", 0, 10, base::Deadline::Never(), {}).value_or("?"), "");
  // The directory has the file only where programs write to the directory itself.
  EXPECT_EQ(backend_->Can().workspace == core::WorkspaceKind::kInPlace, std::filesystem::exists(directory_ + "/made"));
}

TEST_P(BackendContractTest, WithoutAWorkspaceThereIsAnEmptyOneThatGoesWithTheSandbox) {
  auto own = backend_->Create({});
  ASSERT_TRUE(own.has_value()) << own.error().message;
  sandbox_ = std::move(*own);
  Start();
  ASSERT_EQ(Execute({"touch", "made"})->outcome.exit_code, 0);
  ASSERT_EQ(Execute({"ls"})->outcome.exit_code, 0);
  EXPECT_EQ(sink_.out, "made\n");
  sandbox_.reset();
}

// --- what others see of the workspace

inline std::string Packed(const std::string& name, const std::string& content) {
  archive::MemorySink sink;
  archive::TarWriter writer(sink);
  archive::MemorySource source(content);
  EXPECT_TRUE(writer.AddDirectory({.path = "from", .mode = 0755}).has_value());
  EXPECT_TRUE(writer.AddFile({.path = "from/" + name}, content.size(), source).has_value());
  EXPECT_TRUE(writer.AddLink({.path = "link", .mode = 0777}, "from/" + name).has_value());
  EXPECT_TRUE(writer.Finish().has_value());
  return sink.bytes();
}

inline std::string AllOf(base::ByteSource& source) {
  std::string all(std::size_t{4} << 20U, '\0');
  all.resize(archive::ReadFull(source, all).value_or(0));
  return all;
}

class FilesContractTest : public BackendContractTest {
 protected:
  static base::Deadline Soon() { return base::Deadline::After(std::chrono::seconds(30)); }
  core::SandboxFiles& files() { return sandbox_->files(); }
  core::FileMark Mark() {
    auto mark = files().Mark(Soon(), {});
    EXPECT_TRUE(mark.has_value()) << mark.error().message;
    return mark.value_or(core::FileMark());
  }
  void Import(const std::string& tar) {
    archive::MemorySource source(tar);
    const auto imported = files().Import(source, Soon(), {});
    EXPECT_TRUE(imported.has_value()) << imported.error().message;
  }
};

TEST_P(FilesContractTest, WhatIsImportedIsThereForPrograms) {
  Start();
  Import(Packed("file", "content\n"));
  ASSERT_EQ(Execute({"cat", "from/file"})->outcome.exit_code, 0);
  EXPECT_EQ(sink_.out, "content\n");
  // The imported files belong to the programs.
  EXPECT_EQ(Execute({"touch", "from/file"})->outcome.exit_code, 0);
  EXPECT_EQ(Execute({"touch", "from/other"})->outcome.exit_code, 0);
}

TEST_P(FilesContractTest, AMarkTellsWhatCommandsChangedAndNothingElse) {
  Start();
  Import(Packed("file", "one"));
  const core::FileMark before = Mark();
  EXPECT_TRUE(core::Compare(before, Mark()).changed.empty());
  ASSERT_EQ(Execute({"touch", "new"})->outcome.exit_code, 0);
  ASSERT_EQ(Execute({"rm", "from/file"})->outcome.exit_code, 0);
  const auto changes = files().ChangesSince(before, Soon(), {});
  ASSERT_TRUE(changes.has_value()) << changes.error().message;
  EXPECT_EQ(changes->changed, std::vector<std::string>{"new"});
  EXPECT_EQ(changes->removed, std::vector<std::string>{"from/file"});
}

TEST_P(FilesContractTest, AFileThatIsWrittenToAgainIsAnotherVersion) {
  Start();
  Import(Packed("file", "one"));
  const core::FileMark before = Mark();
  Import(Packed("file", "two"));
  EXPECT_EQ(core::Compare(before, Mark()).changed.front(), "from/file");
  EXPECT_EQ(files().Read("from/file", 1, 10, Soon(), {}).value_or(""), "wo");
}

TEST_P(FilesContractTest, WhatIsExportedCanBeImportedElsewhere) {
  Start();
  Import(Packed("file", "content"));
  const std::vector<std::string> paths = {"from", "from/file", "link", "gone"};
  const auto exported = files().Export(paths, Soon(), {});
  ASSERT_TRUE(exported.has_value()) << exported.error().message;
  const std::string tar = AllOf(**exported);
  ASSERT_TRUE(files().Remove(std::vector<std::string>{"from", "link", "never there"}, Soon(), {}).has_value());
  EXPECT_TRUE(Mark().empty());
  Import(tar);
  EXPECT_EQ(Mark().size(), 3U);
  EXPECT_EQ(Mark().at("link").kind, core::FileState::Kind::kLink);
  EXPECT_EQ(files().Read("from/file", 0, 100, Soon(), {}).value_or(""), "content");
}

TEST_P(FilesContractTest, AnEntryTakesThePlaceOfAnotherKind) {
  Start();
  Import(Packed("file", "content"));
  archive::MemorySink sink;
  archive::TarWriter writer(sink);
  archive::MemorySource source("now a file");
  ASSERT_TRUE(writer.AddFile({.path = "from"}, 10, source).has_value());
  ASSERT_TRUE(writer.AddDirectory({.path = "link", .mode = 0755}).has_value());
  ASSERT_TRUE(writer.Finish().has_value());
  Import(sink.bytes());
  EXPECT_EQ(files().Read("from", 0, 100, Soon(), {}).value_or(""), "now a file");
  EXPECT_EQ(Mark().at("link").kind, core::FileState::Kind::kDirectory);
  EXPECT_EQ(Mark().size(), 2U);
}

TEST_P(FilesContractTest, NoArchiveLeadsOutOfTheWorkspace) {
  Start();
  archive::MemorySink sink;
  archive::TarWriter writer(sink);
  archive::MemorySource source("escaped");
  ASSERT_TRUE(writer.AddFile({.path = "../escaped"}, 7, source).has_value());
  ASSERT_TRUE(writer.Finish().has_value());
  archive::MemorySource tar(sink.bytes());
  EXPECT_FALSE(files().Import(tar, Soon(), {}).has_value());
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/../escaped"));
}

TEST_P(FilesContractTest, WhatTakesTooLongIsGivenUp) {
  Start();
  const auto mark = files().Mark(base::Deadline::After(std::chrono::seconds(-1)), {});
  if (mark) {
    EXPECT_TRUE(mark->empty()) << "an empty workspace may be looked at in no time";
  } else {
    EXPECT_EQ(mark.error().code, base::Code::kTimeout);
  }
}

}  // namespace skerry::support
