#include "policy/tokens.hpp"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

using enum core::RiskLevel;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array kRows = {
    NameRow{When::kUsed, "own.eval", {"test.eval", kCritical, "Runs text."}},
    NameRow{When::kUsed, "os.system", {"test.system", kCritical, "Runs a command."}},
    NameRow{When::kImported, "os", {"test.import", kHigh, "Imports it."}},
    NameRow{When::kMethod, "write", {"test.write", kHigh, "Writes."}},
    NameRow{When::kMember, "__globals__", {"test.member", kCritical, "Reaches."}},
};

std::vector<std::string> RulesIn(std::string_view text) {
  static const Names names(kRows);
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  ReportTokens(text, 0, {names, "own"}, report);
  std::vector<std::string> rules;
  for (const core::Finding& finding : report.Findings()) rules.push_back(finding.rule);
  return rules;
}

TEST(TokensTest, TheLanguagesOwnNamesAreFound) {
  EXPECT_THAT(RulesIn("= = eval("), ElementsAre("test.eval"));
  EXPECT_THAT(RulesIn("evaluate my_eval eval2"), IsEmpty());
}

TEST(TokensTest, DottedNamesAreFound) {
  EXPECT_THAT(RulesIn("((os . system"), ElementsAre("test.system", "test.import"));
  EXPECT_THAT(RulesIn("x.system"), IsEmpty());
  EXPECT_THAT(RulesIn("x.eval"), IsEmpty());
}

TEST(TokensTest, MethodsCountWhenTheyAreCalled) {
  EXPECT_THAT(RulesIn("f.write (x"), ElementsAre("test.write"));
  EXPECT_THAT(RulesIn("f.write = x"), IsEmpty());
}

TEST(TokensTest, MembersCountWherever) {
  EXPECT_THAT(RulesIn("f.__globals__"), ElementsAre("test.member"));
}

TEST(TokensTest, AFindingStandsWhereItsWordBegins) {
  static const Names names(kRows);
  const std::string text = "é\n  eval(";
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  ReportTokens(std::string_view(text).substr(3), 3, {names, "own"}, report);
  const auto findings = report.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 2U);
  EXPECT_EQ(findings[0].column, 3U);
}

}  // namespace
}  // namespace skerry::policy
