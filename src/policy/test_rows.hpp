// Tables of code for the tests of an analysis. A row is a piece of code, the level of the whole, and the rule that it
// breaks; no rule where nothing is to be found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/risk_policy.hpp"

namespace skerry::policy {

struct Row {
  std::string_view code;
  core::RiskLevel level;
  std::string_view rule = "";
};

inline void CheckRows(core::Language language, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.code));
    const core::RiskAssessment assessment = RiskPolicy().Assess(language, row.code);
    EXPECT_EQ(NameOf(assessment.level), NameOf(row.level)) << assessment.reason;
    if (row.rule.empty()) {
      EXPECT_TRUE(assessment.findings.empty()) << assessment.reason;
    } else {
      EXPECT_THAT(assessment.findings,
                  ::testing::Contains(::testing::Field("rule", &core::Finding::rule, std::string(row.rule))));
    }
  }
}

}  // namespace skerry::policy
