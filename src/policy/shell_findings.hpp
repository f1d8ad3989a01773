// What tests of the shell's analysis ask.
#pragma once

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "policy/report.hpp"
#include "policy/test_budget.hpp"

namespace skerry::policy {

inline const ExtraNames kNoExtras;

inline std::vector<core::Finding> FindingsOf(std::string_view code, const ExtraNames& extras = kNoExtras) {
  Report report(code, extras, NewBudget());
  AnalyseShell(code, report);
  return report.Findings();
}

inline core::RiskLevel LevelOf(const std::vector<core::Finding>& findings) {
  return findings.empty() ? core::RiskLevel::kSafe : findings.front().level;
}

inline void ExpectLevel(core::RiskLevel level, const std::vector<std::string_view>& snippets) {
  for (const std::string_view code : snippets) EXPECT_EQ(LevelOf(FindingsOf(code)), level) << code;
}

}  // namespace skerry::policy
