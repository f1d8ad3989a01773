#include "core/risk.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

TEST(RiskLevelTest, EveryNameIsReadBackAsItsLevel) {
  for (const auto level :
       {RiskLevel::kSafe, RiskLevel::kLow, RiskLevel::kMedium, RiskLevel::kHigh, RiskLevel::kCritical})
    EXPECT_EQ(ParseRiskLevel(NameOf(level)).value(), level);
  EXPECT_EQ(NameOf(RiskLevel::kSafe), "safe");
  EXPECT_EQ(NameOf(RiskLevel::kCritical), "critical");
}

TEST(RiskLevelTest, GraverLevelsCompareGreater) {
  EXPECT_LT(RiskLevel::kSafe, RiskLevel::kLow);
  EXPECT_LT(RiskLevel::kLow, RiskLevel::kMedium);
  EXPECT_LT(RiskLevel::kMedium, RiskLevel::kHigh);
  EXPECT_LT(RiskLevel::kHigh, RiskLevel::kCritical);
}

TEST(RiskLevelTest, AnUnknownNameIsRefusedWithTheNamesThatThereAre) {
  for (const char* name : {"", "HIGH", "severe", " low", "critical "}) {
    const auto level = ParseRiskLevel(name);
    ASSERT_FALSE(level) << name;
    EXPECT_EQ(level.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(level.error().message.find("safe, low, medium, high or critical"), std::string::npos);
  }
}

TEST(SuggestedSandboxTest, EverySandboxHasItsName) {
  EXPECT_EQ(NameOf(SuggestedSandbox::kSubprocess), "subprocess");
  EXPECT_EQ(NameOf(SuggestedSandbox::kIsolated), "isolated");
  EXPECT_EQ(NameOf(SuggestedSandbox::kBrowser), "browser sandbox");
  EXPECT_EQ(NameOf(SuggestedSandbox::kReject), "REJECT");
}

TEST(RiskAssessmentTest, WhatIsNotFilledInIsSafeAndHasNoPatterns) {
  const RiskAssessment assessment;
  EXPECT_EQ(assessment.level, RiskLevel::kSafe);
  EXPECT_FALSE(assessment.requires_confirmation);
  EXPECT_TRUE(assessment.DetectedPatterns().empty());
}

TEST(RiskAssessmentTest, EachFindingIsALineInOrder) {
  const RiskAssessment assessment{
      .findings = {
          {.rule = "python.eval", .level = RiskLevel::kCritical, .line = 3, .explanation = "Runs text as code."},
          {.rule = "python.open", .level = RiskLevel::kMedium, .line = 1, .explanation = "Opens a file."}}};
  EXPECT_EQ(assessment.DetectedPatterns(),
            (std::vector<std::string>{"[CRITICAL] python.eval: Runs text as code. (line 3)",
                                      "[MEDIUM] python.open: Opens a file. (line 1)"}));
}

}  // namespace
}  // namespace skerry::core
