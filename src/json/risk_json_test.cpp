#include "json/risk_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::json {
namespace {

core::RiskAssessment Example() {
  return {.level = core::RiskLevel::kCritical,
          .reason = "why",
          .requires_confirmation = true,
          .requires_isolation = true,
          .suggested_sandbox = core::SuggestedSandbox::kReject,
          .findings = {{.rule = "shell.x",
                        .level = core::RiskLevel::kCritical,
                        .reject = true,
                        .line = 2,
                        .column = 3,
                        .text = "rm \xff",
                        .explanation = "Deletes."}},
          .lowerings = {"rule y is silenced"}};
}

TEST(RiskJsonTest, HasTheNamesOfTheSpecification) {
  const auto object = RiskToJson(Example());
  EXPECT_EQ(object["level"], "critical");
  EXPECT_EQ(object["reason"], "why");
  EXPECT_EQ(object["requires_confirmation"], true);
  EXPECT_EQ(object["requires_isolation"], true);
  EXPECT_EQ(object["suggested_sandbox"], "REJECT");
  EXPECT_EQ(object["detected_patterns"][0], "[CRITICAL] shell.x: Deletes. (line 2)");
  EXPECT_EQ(object["lowerings"][0], "rule y is silenced");
}

TEST(RiskJsonTest, AFindingHasItsPlaceAndItsText) {
  const auto finding = RiskToJson(Example())["findings"][0];
  EXPECT_EQ(finding["rule"], "shell.x");
  EXPECT_EQ(finding["reject"], true);
  EXPECT_EQ(finding["line"], 2);
  EXPECT_EQ(finding["column"], 3);
  EXPECT_EQ(finding["text"], "rm \xef\xbf\xbd");
  EXPECT_EQ(finding["explanation"], "Deletes.");
  EXPECT_NO_THROW((void)RiskToJson(Example()).dump());
}

TEST(RiskJsonTest, TheSummaryLeavesTheFindingsToTheirLines) {
  EXPECT_FALSE(RiskSummaryToJson(Example().Summary()).contains("findings"));
}

}  // namespace
}  // namespace skerry::json
