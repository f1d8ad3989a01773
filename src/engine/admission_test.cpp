// What stands between a request and its sandbox: nothing runs unassessed, and nothing after a rejection.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/fake/fake_backend.hpp"
#include "confirm/auto_approve.hpp"
#include "engine/sandbox_manager.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using backends::fake::FakeBackend;
using confirm::Decision;
using core::Language;
using core::OutcomeKind;
using core::RiskLevel;

using Conditions = std::vector<std::pair<std::string, std::string>>;

constexpr char kRisky[] = "touch made.txt";  // risky by the rules of this organisation
constexpr char kHarmless[] = "echo hello";
constexpr char kRejected[] = "echo hello; rm -rf /";

// Answers as the test says, and keeps the questions.
class ScriptedPerson : public confirm::ConfirmationService {
 public:
  confirm::Answer Ask(const confirm::Question& question, base::Deadline deadline, std::stop_token) override {
    questions.push_back(question);
    EXPECT_FALSE(deadline.IsNever());
    if (meanwhile) meanwhile();
    return {.decision = decision, .by = "test", .reason = reason};
  }
  Decision decision = Decision::kApproved;
  std::string reason;
  std::function<void()> meanwhile;
  std::vector<confirm::Question> questions;
};

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    auto light = std::make_unique<FakeBackend>(core::Strength::kProcess, "subprocess");
    auto native = std::make_unique<FakeBackend>(core::Strength::kNamespaces, "native");
    light_ = light.get();
    native_ = native.get();
    (void)registry_.Add(std::move(light));
    (void)registry_.Add(std::move(native));
    options_.gate.confirmation = person_;
    options_.gate.policy.extras.commands["touch"] = RiskLevel::kHigh;
    options_.gate.log = [this](const std::string& line) { log_.push_back(line); };
    fs::create_directory(project_);
    request_.language = Language::kShell;
  }

  core::ExecutionResult Execute() {
    SandboxManager manager(registry_, options_);
    auto result = manager.Execute(request_, {}, stop_.get_token());
    // The fake sandbox does not know every command.
    return result.value_or(core::ExecutionResult());
  }
  core::ExecutionResult Execute(std::string code) {
    request_.code = std::move(code);
    return Execute();
  }
  void ExpectNothingRan() const {
    EXPECT_EQ(native_->Created(), 0);
    EXPECT_EQ(light_->Created(), 0);
  }
  void WriteFile(const std::string& name, const std::string& text) const {
    fs::create_directories((project_ / name).parent_path());
    std::ofstream(project_ / name) << text;
  }

  support::TemporaryDirectory directory_;
  fs::path project_ = directory_.path() / "project";
  core::BackendRegistry registry_;
  FakeBackend* light_ = nullptr;
  FakeBackend* native_ = nullptr;
  std::shared_ptr<ScriptedPerson> person_ = std::make_shared<ScriptedPerson>();
  std::vector<std::string> log_;
  ManagerOptions options_;
  core::ExecutionRequest request_;
  std::stop_source stop_;
};

TEST_F(AdmissionTest, HarmlessCodeRunsWithoutAQuestionAndWithItsAssessment) {
  const auto result = Execute(kHarmless);
  EXPECT_EQ(result.standard_output, "hello\n");
  EXPECT_EQ(result.risk.level, RiskLevel::kSafe);
  EXPECT_TRUE(person_->questions.empty());
}

TEST_F(AdmissionTest, MediumIsIsolatedAndNotAskedAbout) {
  const auto result = Execute("sleep 0");
  EXPECT_EQ(result.risk.level, RiskLevel::kMedium);
  EXPECT_TRUE(person_->questions.empty());
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, RiskyCodeRunsOnlyAfterAYes) {
  const auto result = Execute(kRisky);
  EXPECT_EQ(result.risk.level, RiskLevel::kHigh);
  ASSERT_EQ(person_->questions.size(), 1U);
  EXPECT_EQ(person_->questions[0].code, kRisky);
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, ANoLeavesNothingRun) {
  for (const Decision decision : {Decision::kRejected, Decision::kExpired}) {
    person_->decision = decision;
    person_->reason = "not today";
    const auto result = Execute(kRisky);
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
    EXPECT_EQ(result.outcome.exit_code, 126);
    EXPECT_THAT(result.outcome.Explanation(), testing::HasSubstr("not today"));
    EXPECT_EQ(result.risk.level, RiskLevel::kHigh);
    ExpectNothingRan();
  }
}

TEST_F(AdmissionTest, ACancelledQuestionIsACancelledRun) {
  person_->decision = Decision::kCancelled;
  EXPECT_EQ(Execute(kRisky).outcome.kind, OutcomeKind::kCancelled);
  ExpectNothingRan();
}

TEST_F(AdmissionTest, WhereNobodyCanBeAskedNothingRiskyRuns) {
  options_.gate.confirmation = nullptr;
  EXPECT_EQ(Execute(kRisky).outcome.kind, OutcomeKind::kRejected);
  ExpectNothingRan();
  EXPECT_EQ(Execute(kHarmless).standard_output, "hello\n");
}

TEST_F(AdmissionTest, WhatThePolicyRefusesIsNotEvenAskedAbout) {
  const auto result = Execute(kRejected);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
  EXPECT_TRUE(person_->questions.empty());
  ExpectNothingRan();
}

TEST_F(AdmissionTest, TheConfigurationMayTurnARefusalIntoAQuestion) {
  options_.gate.policy.reject_as_confirmation = true;
  options_.gate.policy.confirm = policy::ConfirmFrom::kNever;
  (void)Execute(kRejected);
  EXPECT_EQ(person_->questions.size(), 1U);
  EXPECT_EQ(native_->Created(), 1);
  person_->decision = Decision::kRejected;
  EXPECT_EQ(Execute(kRejected).outcome.kind, OutcomeKind::kRejected);
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, TheLevelThatIsAskedFromIsASetting) {
  options_.gate.policy.confirm = policy::ConfirmFrom::kCritical;
  (void)Execute(kRisky);
  options_.gate.policy.confirm = policy::ConfirmFrom::kNever;
  (void)Execute(kRisky);
  EXPECT_TRUE(person_->questions.empty());
  EXPECT_EQ(native_->Created(), 2);
}

TEST_F(AdmissionTest, AnApprovalIsUsedOnce) {
  (void)Execute(kRisky);
  person_->decision = Decision::kRejected;
  EXPECT_EQ(Execute(kRisky).outcome.kind, OutcomeKind::kRejected);
  ASSERT_EQ(person_->questions.size(), 2U);
  EXPECT_EQ(person_->questions[0].digest, person_->questions[1].digest);
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, AFileThatTheCodeNamesMayNotChangeAfterTheApproval) {
  WriteFile("x.sh", "echo fine");
  request_.workspace = project_.string();
  person_->meanwhile = [this] { WriteFile("x.sh", "rm -rf /"); };
  const auto result = Execute("sudo bash x.sh");
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(result.outcome.reason, testing::HasSubstr("not what was approved"));
  ExpectNothingRan();
}

TEST_F(AdmissionTest, FilesAreNamedInManyWays) {
  for (const char* code : {"sudo ./x.sh", "sudo /workspace/x.sh", "sudo bash 'x.sh'", "sudo sh -c \"cat x.sh | sh\"",
                           "sudo bash dir/../x.sh", "sudo bash y.sh", "sudo bash link.sh"}) {
    WriteFile("x.sh", "echo fine");
    WriteFile("y.sh", "bash x.sh");
    fs::create_directory(project_ / "dir");
    fs::remove(project_ / "link.sh");
    fs::create_symlink("x.sh", project_ / "link.sh");
    request_.workspace = project_.string();
    person_->meanwhile = [this] { WriteFile("x.sh", "echo changed"); };
    EXPECT_EQ(Execute(code).outcome.kind, OutcomeKind::kRejected) << code;
  }
  ExpectNothingRan();
}

TEST_F(AdmissionTest, AModuleOfTheWorkspaceIsNamedByItsImport) {
  request_.language = Language::kPython;
  request_.workspace = project_.string();
  WriteFile("helper.py", "x = 1");
  WriteFile("package/part.py", "x = 1");
  for (const char* changed : {"helper.py", "package/part.py"}) {
    person_->meanwhile = [&] { WriteFile(changed, "x = 2"); };
    EXPECT_EQ(Execute("import os, helper, package.part").outcome.kind, OutcomeKind::kRejected) << changed;
  }
  ExpectNothingRan();
}

TEST_F(AdmissionTest, AFileThatTheCodeDoesNotNameMayChange) {
  WriteFile("x.sh", "echo fine");
  WriteFile("notes.txt", "a");
  request_.workspace = project_.string();
  person_->meanwhile = [this] { WriteFile("notes.txt", "b"); };
  (void)Execute("sudo bash x.sh");
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, AFileThatAppearsUnderANameOfTheCodeIsAChange) {
  request_.workspace = project_.string();
  person_->meanwhile = [this] { WriteFile("later.sh", "echo"); };
  EXPECT_EQ(Execute("sudo bash later.sh").outcome.kind, OutcomeKind::kRejected);
  ExpectNothingRan();
}

TEST_F(AdmissionTest, TheDigestIsAboutEverythingThatDecidesWhatCanHappen) {
  constexpr char kUnknown[] = "eval \"$x\"";  // a question in every language
  using Change = std::function<void(core::ExecutionRequest&, ManagerOptions&)>;
  const std::vector<Change> changes = {
      [](auto& request, auto&) { request.code += " "; },
      [](auto& request, auto&) { request.language = Language::kPython; },
      [](auto& request, auto&) { request.timeout += std::chrono::seconds(1); },
      [](auto& request, auto&) { request.max_memory_mb += 1; },
      [](auto& request, auto&) { request.max_output_mb += 1; },
      [](auto& request, auto&) { request.session_id = "other"; },
      [this](auto& request, auto&) { request.workspace = project_.string(); },
      [](auto&, auto& options) { options.limits.pids += 1; },
      [](auto&, auto& options) { options.limits.disk_mb += 1; },
      [](auto&, auto& options) { options.filesystem.deny_read.emplace_back("secret"); },
      [this](auto&, auto& options) { options.filesystem.allow_read.emplace_back(project_.string()); },
  };
  const core::ExecutionRequest request = request_;
  const ManagerOptions options = options_;
  (void)Execute(kUnknown);
  for (const Change& change : changes) {
    request_ = request;
    request_.code = kUnknown;
    options_ = options;
    change(request_, options_);
    (void)Execute();
  }
  std::set<std::string> digests;
  for (const confirm::Question& question : person_->questions) digests.insert(question.digest);
  EXPECT_EQ(person_->questions.size(), changes.size() + 1);
  EXPECT_EQ(digests.size(), changes.size() + 1);
}

TEST_F(AdmissionTest, ThePersonIsToldUnderWhatConditions) {
  WriteFile("x.sh", "echo");
  request_.workspace = project_.string();
  (void)Execute("sudo bash x.sh");
  ASSERT_EQ(person_->questions.size(), 1U);
  EXPECT_THAT(
      person_->questions[0].conditions,
      testing::IsSupersetOf(Conditions{
          {"sandbox", "native"}, {"network", "none"}, {"workspace", project_.string()}, {"files it names", "x.sh"}}));
}

TEST_F(AdmissionTest, LoweringIsLoggedWithEveryUse) {
  options_.gate.policy.rules["shell.privileges"] = {.level = RiskLevel::kMedium};
  (void)Execute("sudo true");
  (void)Execute("sudo true");
  EXPECT_TRUE(person_->questions.empty());
  ASSERT_EQ(log_.size(), 2U);
  EXPECT_THAT(log_[0], testing::HasSubstr("shell.privileges"));
}

TEST_F(AdmissionTest, PermissiveModeFollowsTheSuggestion) {
  options_.mode = policy::SecurityMode::kPermissive;
  EXPECT_EQ(Execute(kHarmless).sandbox_type, "subprocess");
  EXPECT_EQ(Execute("sleep 0").sandbox_type, "native");
  request_.sandbox_type = "subprocess";
  EXPECT_EQ(Execute("sleep 0").sandbox_type, "subprocess");
}

TEST_F(AdmissionTest, TheSuggestionIsNotFollowedToASandboxThatLacksWhatIsAskedFor) {
  options_.mode = policy::SecurityMode::kPermissive;
  options_.filesystem.deny_read = {"secret"};
  EXPECT_EQ(Execute(kHarmless).sandbox_type, "native");
  options_.filesystem.deny_read.clear();
  options_.limits.cpu_percent = 50;
  EXPECT_EQ(Execute(kHarmless).sandbox_type, "native");
}

TEST_F(AdmissionTest, StrictModeIsolatesWhatLooksHarmless) {
  EXPECT_EQ(Execute(kHarmless).sandbox_type, "native");
  request_.sandbox_type = "subprocess";
  EXPECT_EQ(Execute(kHarmless).sandbox_type, "native");
}

TEST_F(AdmissionTest, WhatCannotBeReadIsNotEvenAskedAbout) {
  WriteFile("big", "");
  fs::resize_file(project_ / "big", std::uintmax_t{1} << 40U);  // one large hole
  request_.workspace = project_;
  const auto result = Execute("touch big");
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(result.outcome.Explanation(), testing::HasSubstr("big"));
  EXPECT_TRUE(person_->questions.empty());
  ExpectNothingRan();
}

TEST_F(AdmissionTest, AYesThatCameWithTheRequestIsForWhatIsFound) {
  WriteFile("big", "");
  fs::resize_file(project_ / "big", std::uintmax_t{1} << 40U);
  request_.workspace = project_;
  options_.gate.confirmation = std::make_shared<confirm::AutoApprove>("--yes");
  Execute("touch big");
  EXPECT_EQ(native_->Created(), 1);
}

TEST_F(AdmissionTest, WhatReadsMoreThanItNamesIsApprovedOnce) {
  WriteFile("Makefile", "all:");
  request_.workspace = project_;
  Execute("touch x; make");
  ASSERT_EQ(person_->questions.size(), 1U);
  EXPECT_TRUE(person_->questions[0].once_only);
  EXPECT_EQ(person_->questions[0].content, "");
}

// What a run asks for before it begins.
class FootingTest : public AdmissionTest {
 protected:
  core::ExecutionResult ExecuteBeside(std::string code) {
    request_.code = std::move(code);
    request_.workspace = project_;
    RunOccasion occasion;
    occasion.asker.begin = [this](Footing footing, const std::stop_token&) -> base::Result<FootingHold> {
      asked_.push_back(footing);
      if (refusal_) return std::unexpected(*refusal_);
      if (begun_) begun_();
      return std::make_shared<int>(0);
    };
    SandboxManager manager(registry_, options_);
    auto result = manager.Execute(request_, {}, occasion, stop_.get_token());
    return result.value_or(core::ExecutionResult());
  }

  std::vector<Footing> asked_;
  std::optional<base::Error> refusal_;
  std::function<void()> begun_;
};

TEST_F(FootingTest, WhatWasShownIsAloneAndOthersAreNot) {
  ExecuteBeside(kHarmless);
  ExecuteBeside(kRisky);
  options_.gate.confirmation = std::make_shared<confirm::AutoApprove>("--yes");
  ExecuteBeside(kRisky);
  EXPECT_THAT(asked_, testing::ElementsAre(Footing::kBesideOthers, Footing::kAlone, Footing::kBesideOthers));
}

TEST_F(FootingTest, TheLastLookComesWhenNobodyElseCanChangeAnything) {
  WriteFile("x.sh", "echo good");
  begun_ = [this] { WriteFile("x.sh", "echo evil"); };
  const auto result = ExecuteBeside("touch x.sh");
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(result.outcome.Explanation(), testing::HasSubstr("changed"));
  ExpectNothingRan();
}

TEST_F(FootingTest, WhatCannotBeAloneIsRejectedWithTheReason) {
  refusal_ = base::Error{base::Code::kConflict, "others are there"};
  const auto result = ExecuteBeside(kRisky);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(result.outcome.Explanation(), testing::HasSubstr("others are there"));
  ExpectNothingRan();
}

// Many looks of one tenant at a time.
class LookTurnTest : public AdmissionTest {
 protected:
  [[nodiscard]] base::Result<Admission> Admit(const Gate& gate) {
    const core::RiskAssessment risk{.requires_confirmation = true};
    return gate.Admit(risk,
                      {.code = kRisky,
                       .look =
                           [this](Sight, const std::stop_token&) {
                             most_ = std::max(most_.load(), ++now_);
                             std::this_thread::sleep_for(std::chrono::milliseconds(5));
                             --now_;
                             return ProposalLook{.digest = "same"};
                           },
                       .asker = {.confirmation = std::make_shared<confirm::AutoApprove>("test"), .tenant = "one"}},
                      stop_.get_token());
  }

  std::shared_ptr<base::Turns> turns_ = std::make_shared<base::Turns>(2);
  std::atomic<int> now_ = 0;
  std::atomic<int> most_ = 0;
};

TEST_F(LookTurnTest, ATenantHasOneAtATime) {
  options_.gate.looks = turns_;
  const Gate gate(options_.gate);
  std::vector<std::jthread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_TRUE(Admit(gate).has_value()); });
  threads.clear();
  EXPECT_EQ(most_, 1);
}

TEST_F(LookTurnTest, WhoGoesAwayWaitsForNone) {
  options_.gate.looks = turns_;
  const Gate gate(options_.gate);
  const auto taken = turns_->Take("one");
  stop_.request_stop();
  const auto admission = Admit(gate);
  ASSERT_TRUE(admission);
  EXPECT_EQ(admission->refused.value_or(core::Outcome()).kind, OutcomeKind::kCancelled);
  EXPECT_EQ(most_, 0);
}

TEST_F(AdmissionTest, TheStreamsAreToldWhenNothingStandsInTheWay) {
  int admitted = 0;
  SandboxManager manager(registry_, options_);
  request_.code = kRisky;
  const RunOccasion occasion{.admitted = [&] { ++admitted; }};
  person_->meanwhile = [&] { EXPECT_EQ(admitted, 0); };
  (void)manager.Execute(request_, {}, occasion, {});
  EXPECT_EQ(admitted, 1);
  person_->meanwhile = nullptr;
  person_->decision = Decision::kRejected;
  (void)manager.Execute(request_, {}, occasion, {});
  EXPECT_EQ(admitted, 1);
}

}  // namespace
}  // namespace skerry::engine
