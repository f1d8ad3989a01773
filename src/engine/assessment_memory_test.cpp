#include "engine/assessment_memory.hpp"

#include <gtest/gtest.h>

#include "engine/gate.hpp"

namespace skerry::engine {
namespace {

using core::Language;

TEST(AssessmentMemoryTest, WhatWasUsedLongestAgoGoes) {
  AssessmentMemory memory(2000);
  const RememberedAssessment assessment{.risk = {.reason = std::string(300, 'x')}};
  for (const char* key : {"a", "b"}) memory.Keep(key, assessment);
  EXPECT_TRUE(memory.Find("a"));
  memory.Keep("c", assessment);
  EXPECT_TRUE(memory.Find("a"));
  EXPECT_FALSE(memory.Find("b"));
  EXPECT_TRUE(memory.Find("c"));
  memory.Keep("large", {.risk = {.reason = std::string(3000, 'x')}});
  EXPECT_FALSE(memory.Find("large"));
}

TEST(AssessmentMemoryTest, ATenantALanguageAndAContentHaveTheirOwn) {
  const std::string key = AssessmentMemory::KeyOf("ann", Language::kPython, "x");
  EXPECT_NE(key, AssessmentMemory::KeyOf("bob", Language::kPython, "x"));
  EXPECT_NE(key, AssessmentMemory::KeyOf("ann", Language::kShell, "x"));
  EXPECT_NE(key, AssessmentMemory::KeyOf("ann", Language::kPython, "y"));
}

TEST(AssessmentMemoryTest, AFileGetsTheSameAnswerAgainForLessWork) {
  std::string code = "import os, helpers\n";
  while (code.size() < 100'000) code += "x = [1, 2, 3]\n";
  // Enough for one analysis: the next one must wait, and has no patience.
  const auto analyses = std::make_shared<Analyses>(
      AnalysesOptions{.work_per_second = 1, .work_saved = 1000, .patience = std::chrono::seconds(0)});
  const Gate gate({.analyses = analyses});
  std::vector<policy::CodeReference> first;
  std::vector<policy::CodeReference> second;
  const auto risk = gate.AssessFile(Language::kPython, code, {"token", "ann"}, {}, first);
  ASSERT_TRUE(risk) << risk.error().message;
  const auto again = gate.AssessFile(Language::kPython, code, {"token", "ann"}, {}, second);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->reason, risk->reason);
  EXPECT_EQ(second, first);
  std::vector<policy::CodeReference> third;
  EXPECT_FALSE(gate.AssessFile(Language::kPython, code, {"token", "bob"}, {}, third)) << "not that of another tenant";
}

}  // namespace
}  // namespace skerry::engine
