#include "engine/context_manager.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "backends/fake/fake_backend.hpp"
#include "confirm/session_approvals.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::engine {
namespace {

using core::Language;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class RecordingSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    out.append(bytes);
    return {.accepted = bytes.size()};
  }
  std::string out;
};

// What the sandboxes of a test did, and what they shall do.
struct Stage {
  std::atomic<int> sandboxes = 0;  // that live now
  std::atomic<int> made = 0;
  std::atomic<bool> refuse = false;
  std::string archive = "files";
};

// Cells are words: `wait` waits for a stop, then there are `die` and `fail`; any other text becomes the result, with
// the state that `load` has set.
class FakeContext : public core::Context {
 public:
  base::Result<core::CellResult> Run(const core::Cell& cell, core::OutputSink& sink, std::stop_token stop) override {
    core::CellResult result;
    if (cell.text == "fail") return base::Err(base::Code::kInternal, "failed");
    if (cell.text == "wait") {
      (void)sink.Write(core::Stream::kStdout, "waiting", base::Deadline::Never());
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
      result.outcome = {.kind = core::OutcomeKind::kCancelled, .exit_code = 130};
    }
    alive_ = result.alive = cell.text != "die";
    result.outputs = {{.kind = core::CellOutput::Kind::kResult, .forms = {{"text/plain", loaded_ + cell.text}}}};
    return result;
  }
  base::Result<core::ContextState> Save(std::chrono::milliseconds) override {
    return core::ContextState{.bytes = "state ", .left_out = {"socket"}};
  }
  base::Status Load(const core::ContextState& state, std::chrono::milliseconds) override {
    loaded_ = state.bytes;
    return {};
  }
  [[nodiscard]] bool Alive() const override { return alive_; }
  [[nodiscard]] core::StartKind Started() const override { return core::StartKind::kFork; }

 private:
  bool alive_ = true;
  std::string loaded_;
};

// A process that has ended already.
class DoneProcess : public core::Process {
 public:
  DoneProcess(core::CommandResult result, std::string* fed) : result_(std::move(result)), fed_(fed) {}
  base::Result<std::size_t> Feed(std::string_view bytes) override {
    if (fed_ != nullptr) fed_->append(bytes);
    return bytes.size();
  }
  [[nodiscard]] bool AwaitRoom(base::Deadline) override { return true; }
  base::Status CloseInput() override {
    closed_ = true;
    return {};
  }
  base::Status Signal(int) override { return {}; }
  base::Status Resize(const core::TerminalSize&) override { return {}; }
  base::Result<core::CommandResult> Await(std::stop_token) override {
    while (fed_ != nullptr && !closed_) std::this_thread::sleep_for(1ms);
    return result_;
  }

 private:
  core::CommandResult result_;
  std::string* fed_;
  std::atomic<bool> closed_ = false;
};

class FakeContextSandbox : public core::Sandbox, public core::Contexts {
 public:
  explicit FakeContextSandbox(Stage& stage) : stage_(stage) { ++stage_.sandboxes; }
  ~FakeContextSandbox() override { --stage_.sandboxes; }
  base::Status Start(base::Deadline, const std::stop_token&) override { return {}; }
  base::Result<std::unique_ptr<core::Process>> Launch(core::Command command, core::OutputSink& sink,
                                                      const std::stop_token&) override {
    core::CommandResult result;
    if (command.input_end == core::InputEnd::kOpen) {
      stage_.archive.clear();
      return std::make_unique<DoneProcess>(result, &stage_.archive);
    }
    result.output_truncated = stage_.archive.size() > command.max_output_bytes;
    (void)sink.Write(core::Stream::kStdout, stage_.archive, base::Deadline::Never());
    (void)sink.Write(core::Stream::kStderr, "tar: x: left out\n", base::Deadline::Never());
    stage_.archive.clear();
    return std::make_unique<DoneProcess>(result, nullptr);
  }
  [[nodiscard]] core::SandboxFiles& files() override { std::abort(); }
  [[nodiscard]] core::Contexts* contexts() override { return this; }
  base::Result<std::unique_ptr<core::Context>> OpenContext(const core::NewContext&) override {
    return std::make_unique<FakeContext>();
  }
  base::Status Stop(base::Deadline) override { return {}; }
  [[nodiscard]] bool IsRunning() const override { return true; }
  [[nodiscard]] std::vector<std::string> Degraded() const override { return {"weak"}; }

 private:
  Stage& stage_;
};

class ContextManagerTest : public testing::Test {
 protected:
  ContextOptions Options() {
    return {.make_sandbox = [this](Language) -> base::Result<ContextPlace> {
              if (stage_.refuse) return base::Err(base::Code::kUnavailable, "no sandbox today");
              ++stage_.made;
              return ContextPlace{.sandbox = std::make_shared<FakeContextSandbox>(stage_), .backend = "fake"};
            },
            .max_contexts = 3};
  }

  base::Result<core::CellResult> Run(const std::string& name, const std::string& text,
                                     Language language = Language::kPython) {
    RecordingSink sink;
    auto ran = manager_.Run(name, language, {.text = text}, sink, {});
    if (!ran) return std::unexpected(std::move(ran).error());
    return std::move(ran->result);
  }
  static std::string ValueOf(const base::Result<core::CellResult>& result) {
    return result ? result->outputs.at(0).forms.at(0).data : result.error().message;
  }
  std::jthread Waiting(const std::string& name) {
    std::jthread thread([this, name] { waited_ = Run(name, "wait"); });
    for (int i = 0; i < 5000; ++i) {
      const auto found = manager_.Find(name);
      if (found && found->condition == ContextCondition::kBusy) break;
      std::this_thread::sleep_for(1ms);
    }
    return thread;
  }

  Stage stage_;
  ContextManager manager_{Options()};
  base::Result<core::CellResult> waited_;
};

TEST_F(ContextManagerTest, NamesAreChecked) {
  for (const std::string& good : {std::string("a"), std::string("A.b_c-9"), std::string(64, 'x')})
    EXPECT_TRUE(CheckContextName(good).has_value()) << good;
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a/b"), std::string("ä"),
                                 std::string("a\0b", 3), std::string(65, 'x')}) {
    EXPECT_FALSE(CheckContextName(bad).has_value()) << bad;
    EXPECT_EQ(Run(bad, "x").error().code, base::Code::kInvalidArgument);
  }
  EXPECT_EQ(stage_.made, 0);
}

TEST_F(ContextManagerTest, TheFirstCellMakesTheContextAndTheNextOnesUseIt) {
  EXPECT_EQ(ValueOf(Run("a", "1")), "1");
  EXPECT_EQ(ValueOf(Run("a", "2")), "2");
  EXPECT_EQ(stage_.made, 1);
  const auto summary = manager_.Find("a");
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->cells, 2U);
  EXPECT_EQ(summary->condition, ContextCondition::kIdle);
  EXPECT_EQ(summary->start, core::StartKind::kFork);
  EXPECT_EQ(summary->degraded, std::vector<std::string>{"weak"});
  EXPECT_GE(summary->last_used, summary->created);
}

TEST_F(ContextManagerTest, AContextThatCannotBeMadeIsNotListed) {
  stage_.refuse = true;
  EXPECT_EQ(Run("a", "1").error().message, "no sandbox today");
  EXPECT_TRUE(manager_.List().empty());
}

TEST_F(ContextManagerTest, AnotherLanguageUnderTheNameIsAConflict) {
  ASSERT_TRUE(Run("a", "1").has_value());
  const auto result = Run("a", "1", Language::kShell);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, base::Code::kConflict);
  EXPECT_NE(result.error().message.find("skerry context delete a"), std::string::npos) << result.error().message;
}

TEST_F(ContextManagerTest, ThereAreNoMoreThanTheMost) {
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(Run(name, "1").has_value());
  EXPECT_EQ(Run("d", "1").error().code, base::Code::kUnavailable);
  EXPECT_TRUE(Run("c", "1").has_value());
  ASSERT_TRUE(manager_.Remove("a").has_value());
  EXPECT_TRUE(Run("d", "1").has_value());
}

TEST_F(ContextManagerTest, ABusyContextTakesNothingElse) {
  const auto thread = Waiting("a");
  EXPECT_EQ(manager_.Find("a")->condition, ContextCondition::kBusy);
  EXPECT_EQ(Run("a", "1").error().code, base::Code::kConflict);
  EXPECT_EQ(manager_.Fork("a", "b").error().code, base::Code::kConflict);
  EXPECT_TRUE(Run("b", "1").has_value());
  EXPECT_EQ(manager_.Interrupt("a"), true);
}

TEST_F(ContextManagerTest, AnInterruptFromAnotherThreadEndsTheCell) {
  auto thread = Waiting("a");
  EXPECT_EQ(manager_.Interrupt("a"), true);
  thread.join();
  EXPECT_EQ(waited_->outcome.kind, core::OutcomeKind::kCancelled);
  EXPECT_EQ(manager_.Interrupt("a"), false);
  EXPECT_EQ(ValueOf(Run("a", "2")), "2");
}

TEST_F(ContextManagerTest, TheCallersTokenEndsTheCellToo) {
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  RecordingSink sink;
  const auto result = manager_.Run("a", Language::kPython, {.text = "wait"}, sink, stop.get_token());
  EXPECT_EQ(result->result.outcome.kind, core::OutcomeKind::kCancelled);
  EXPECT_EQ(sink.out, "waiting");
}

TEST_F(ContextManagerTest, ADeadContextIsReportedListedAndRestarted) {
  EXPECT_EQ(Run("a", "die")->alive, false);
  EXPECT_EQ(stage_.sandboxes, 0);
  EXPECT_EQ(manager_.Find("a")->condition, ContextCondition::kDead);
  const auto again = Run("a", "1");
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, base::Code::kNotStarted);
  EXPECT_NE(again.error().message.find("skerry context restart a"), std::string::npos) << again.error().message;
  ASSERT_TRUE(manager_.Restart("a").has_value());
  EXPECT_EQ(manager_.Find("a")->cells, 0U);
  EXPECT_EQ(ValueOf(Run("a", "2")), "2");
}

TEST_F(ContextManagerTest, AnErrorOfTheSandboxCostsTheContextItsLife) {
  EXPECT_EQ(Run("a", "fail").error().code, base::Code::kInternal);
  EXPECT_EQ(manager_.Find("a")->condition, ContextCondition::kDead);
  EXPECT_EQ(stage_.sandboxes, 0);
}

TEST_F(ContextManagerTest, RestartAndRemoveInterruptWhatRuns) {
  {
    const auto thread = Waiting("a");
    EXPECT_TRUE(manager_.Restart("a").has_value());
  }
  EXPECT_EQ(stage_.made, 2);
  {
    const auto thread = Waiting("a");
    EXPECT_TRUE(manager_.Remove("a").has_value());
  }
  EXPECT_TRUE(manager_.List().empty());
  EXPECT_EQ(stage_.sandboxes, 0);
}

TEST_F(ContextManagerTest, ARestartThatFailsLeavesADeadContext) {
  ASSERT_TRUE(Run("a", "1").has_value());
  stage_.refuse = true;
  EXPECT_EQ(manager_.Restart("a").error().code, base::Code::kUnavailable);
  EXPECT_EQ(manager_.Find("a")->condition, ContextCondition::kDead);
  stage_.refuse = false;
  EXPECT_TRUE(manager_.Restart("a").has_value());
}

TEST_F(ContextManagerTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(manager_.Interrupt("a").error().code, base::Code::kNotFound);
  EXPECT_EQ(manager_.Restart("a").error().code, base::Code::kNotFound);
  EXPECT_EQ(manager_.Remove("a").error().code, base::Code::kNotFound);
  EXPECT_EQ(manager_.Fork("a", "b").error().code, base::Code::kNotFound);
}

TEST_F(ContextManagerTest, ABranchHasStateAndFilesAndSaysWhatItLeftOut) {
  ASSERT_TRUE(Run("a", "1").has_value());
  const auto report = manager_.Fork("a", "b");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->variables, std::vector<std::string>{"socket"});
  EXPECT_EQ(report->files, std::vector<std::string>{"tar: x: left out"});
  EXPECT_EQ(stage_.archive, "files");
  EXPECT_EQ(ValueOf(Run("b", "1")), "state 1");
  EXPECT_EQ(ValueOf(Run("a", "1")), "1");
  EXPECT_EQ(manager_.Fork("a", "b").error().code, base::Code::kConflict);
  EXPECT_EQ(manager_.Fork("a", "a/b").error().code, base::Code::kInvalidArgument);
}

TEST_F(ContextManagerTest, ABranchThatFailsLeavesNothing) {
  ContextOptions options = Options();
  options.max_fork_bytes = 3;
  ContextManager manager(std::move(options));
  RecordingSink sink;
  ASSERT_TRUE(manager.Run("a", Language::kPython, {.text = "1"}, sink, {}).has_value());
  EXPECT_EQ(manager.Fork("a", "b").error().code, base::Code::kTooLarge);
  EXPECT_EQ(manager.List().size(), 1U);
  EXPECT_EQ(manager.Find("a")->condition, ContextCondition::kIdle);
  EXPECT_EQ(stage_.sandboxes, 1);
}

TEST_F(ContextManagerTest, SweepRemovesOnlyWhatIsIdleForLong) {
  ContextOptions options = Options();
  options.idle_timeout = 200ms;
  ContextManager manager(std::move(options));
  RecordingSink sink;
  std::stop_source stop;
  std::jthread busy([&] {
    RecordingSink own;
    (void)manager.Run("busy", Language::kPython, {.text = "wait"}, own, stop.get_token());
  });
  ASSERT_TRUE(manager.Run("old", Language::kPython, {.text = "1"}, sink, {}).has_value());
  std::this_thread::sleep_for(300ms);
  ASSERT_TRUE(manager.Run("new", Language::kPython, {.text = "1"}, sink, {}).has_value());
  manager.Sweep();
  EXPECT_FALSE(manager.Find("old").has_value());
  EXPECT_TRUE(manager.Find("new").has_value());
  EXPECT_TRUE(manager.Find("busy").has_value());
  stop.request_stop();
}

TEST_F(ContextManagerTest, ManyThreadsNeverShareAContext) {
  constexpr int kThreads = 8;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 200; ++round) {
        const std::string name(1, static_cast<char>('a' + (round + i) % 3));
        if (round % 10 == 9) {
          (void)manager_.Remove(name);
        } else if (round % 17 == 16) {
          (void)manager_.Restart(name);
        } else {
          (void)Run(name, round % 23 == 22 ? "die" : "1");
        }
        (void)manager_.Interrupt(name);
        (void)manager_.List();
      }
    });
  threads.clear();
  manager_.RemoveAll();
  EXPECT_EQ(stage_.sandboxes, 0);
}

// Approves the first question, for as long as the context lives.
class OneYes : public confirm::ConfirmationService {
 public:
  confirm::Answer Ask(const confirm::Question&, base::Deadline, std::stop_token) override {
    const bool first = !std::exchange(asked_, true);
    return {.decision = first ? confirm::Decision::kApproved : confirm::Decision::kRejected,
            .scope = confirm::Scope::kSession};
  }

 private:
  bool asked_ = false;
};

// Cells of contexts that have a sandbox of their own, run by the SandboxManager.
class ContextCellTest : public ContextManagerTest {
 protected:
  ContextCellTest() {
    EXPECT_TRUE(registry_.Add(std::make_unique<backends::fake::FakeBackend>(
        core::Abilities{.strength = core::Strength::kNamespaces, .contexts = true}, "strong")));
  }

  core::ExecutionResult Execute(SandboxManager& manager, const std::string& context, const std::string& code,
                                std::chrono::seconds timeout = 30s) {
    const core::ExecutionRequest request{.code = code, .timeout = timeout, .session_id = "session", .context = context};
    auto result = manager.ExecuteCell(request, {}, {.contexts = &manager_}, {});
    return result ? *std::move(result) : core::ExecutionResult{.outcome = {.reason = result.error().message}};
  }

  core::BackendRegistry registry_;
};

TEST_F(ContextCellTest, ACellIsAssessedAndNothingRunsAfterANo) {
  SandboxManager manager(registry_, {});
  const auto refused = Execute(manager, "a", "import os");
  EXPECT_EQ(refused.outcome.kind, core::OutcomeKind::kRejected);
  EXPECT_EQ(refused.outcome.exit_code, 126);
  EXPECT_TRUE(refused.risk.assessed);
  EXPECT_EQ(stage_.made, 0);
  EXPECT_TRUE(manager_.List().empty());
}

TEST_F(ContextCellTest, AnApprovalIsForTheCellOfThatContext) {
  OneYes person;
  confirm::SessionApprovals remembered(person);
  SandboxManager manager(
      registry_,
      {.gate = {.confirmation = std::shared_ptr<confirm::ConfirmationService>(std::shared_ptr<void>(), &remembered)}});
  const auto first = Execute(manager, "a", "import os");
  EXPECT_EQ(first.outcome.kind, core::OutcomeKind::kExited) << first.outcome.reason;
  EXPECT_EQ(first.digest.size(), 64U);
  EXPECT_EQ(first.sandbox_type, "strong");
  EXPECT_EQ(Execute(manager, "b", "import os").outcome.kind, core::OutcomeKind::kRejected);
  EXPECT_EQ(Execute(manager, "a", "import os, sys").outcome.kind, core::OutcomeKind::kRejected);
  EXPECT_EQ(Execute(manager, "a", "import os", 31s).outcome.kind, core::OutcomeKind::kRejected);
  EXPECT_EQ(Execute(manager, "a", "import os").outcome.kind, core::OutcomeKind::kExited);
  EXPECT_EQ(stage_.made, 1);
}

}  // namespace
}  // namespace skerry::engine
