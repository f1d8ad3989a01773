#include "policy/report.hpp"

#include <string>

#include <gtest/gtest.h>

#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

using enum core::RiskLevel;

constexpr Rule kGrave{"test.grave", kCritical, "Grave."};
constexpr Rule kLight{"test.light", kMedium, "Light."};

TEST(ReportTest, TheGravestComeFirstThenByPlace) {
  const ExtraNames extras;
  Report report("abcdef", extras, NewBudget());
  report.Add(kLight, "abcdef", 0, 1);
  report.Add(kGrave, "abcdef", 4, 5);
  report.Add(kGrave, "abcdef", 2, 3);
  const auto findings = report.Findings();
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].text, "c");
  EXPECT_EQ(findings[1].text, "e");
  EXPECT_EQ(findings[2].rule, "test.light");
}

TEST(ReportTest, ColumnsCountCharacters) {
  const std::string text = "x\nаб🙂eval";
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  const auto at = static_cast<std::uint32_t>(text.find("eval"));
  report.Add(kGrave, text, at, at + 4);
  const auto findings = report.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 2U);
  EXPECT_EQ(findings[0].column, 4U);
  EXPECT_EQ(findings[0].text, "eval");
}

TEST(ReportTest, ThePlaceOfARuleCountsOnce) {
  const ExtraNames extras;
  Report report("ab", extras, NewBudget());
  report.Add(kGrave, "ab", 0, 1);
  report.Add(kGrave, "ab", 0, 2);
  EXPECT_EQ(report.Findings().size(), 1U);
}

TEST(ReportTest, OfOneRuleFiftyPlacesAreKept) {
  const std::string text(200, 'x');
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  for (std::uint32_t at = 0; at < 200; ++at) report.Add(kLight, text, at, at + 1);
  report.Add(kGrave, text, 199, 200);
  EXPECT_EQ(report.Findings().size(), 51U);
}

TEST(ReportTest, AFindingInNestedCodeStandsWhereThatCodeStands) {
  const std::string text = "first\nsecond";
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  report.Nest(core::Language::kPython, "x = 1\ny = 2\neval(x)", 6);
  const auto findings = report.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "python.eval");
  EXPECT_EQ(findings[0].line, 2U);
  EXPECT_EQ(findings[0].column, 1U);
}

TEST(ReportTest, CodeThatIsNestedTooDeeplyIsNotAnalysed) {
  std::string code = "print(1)";
  for (int depth = 0; depth < 12; ++depth) {
    std::string escaped;
    for (const char c : code) escaped += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    code = "eval('" + escaped + "')";
    if (code.size() > 100'000) break;
  }
  const ExtraNames extras;
  Report report(code, extras, NewBudget());
  AnalysePython(code, report);
  bool told = false;
  for (const core::Finding& finding : report.Findings()) told |= finding.rule == "code.not-analysed";
  EXPECT_TRUE(told);
}

TEST(ReportTest, TheTextOfAFindingIsShortAndValid) {
  const std::string text = std::string(500, 'a') + "\xFF";
  const ExtraNames extras;
  Report report(text, extras, NewBudget());
  report.Add(kGrave, text, 0, 501);
  report.Add(kLight, text, 500, 501);
  const auto findings = report.Findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_LE(findings[0].text.size(), 100U);
  EXPECT_EQ(findings[1].text.find('\xFF'), std::string::npos);
}

}  // namespace
}  // namespace skerry::policy
