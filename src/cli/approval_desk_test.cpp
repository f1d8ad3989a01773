#include "cli/approval_desk.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/risk_json.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(ApprovalDeskTest, TheQuestionIsTheOneThatTheDaemonAsks) {
  core::RiskAssessment risk{.level = core::RiskLevel::kHigh,
                            .reason = "why",
                            .requires_confirmation = true,
                            .suggested_sandbox = core::SuggestedSandbox::kIsolated};
  risk.findings.push_back({.rule = "shell.rm", .level = core::RiskLevel::kHigh, .line = 3, .column = 4, .text = "rm"});
  const Json conditions = Json::array({Json::array({"sandbox", "native"}), Json::array({"network", "none"})});
  const confirm::Question question = QuestionFrom({{"session_id", "s"},
                                                   {"execution_id", "e"},
                                                   {"content_type", "shell"},
                                                   {"code", "rm x"},
                                                   {"digest", "d"},
                                                   {"risk", json::RiskToJson(risk)},
                                                   {"conditions", conditions}});
  EXPECT_EQ(question.session, "s");
  EXPECT_EQ(question.execution, "e");
  EXPECT_EQ(question.content_type, "shell");
  EXPECT_EQ(question.code, "rm x");
  EXPECT_EQ(question.digest, "d");
  EXPECT_EQ(json::RiskToJson(question.risk), json::RiskToJson(risk));
  ASSERT_EQ(question.conditions.size(), 2U);
  EXPECT_EQ(question.conditions[1], std::pair(std::string("network"), std::string("none")));
}

TEST(ApprovalDeskTest, WhatIsOfferedOnceIsOfferedNoLonger) {
  EXPECT_TRUE(QuestionFrom({{"scopes", Json::array({"once"})}}).once_only);
  EXPECT_FALSE(QuestionFrom({{"scopes", Json::array({"once", "session"})}}).once_only);
}

TEST(ApprovalDeskTest, ARiskThatIsNotToldIsTheGravest) {
  EXPECT_EQ(QuestionFrom(Json::object()).risk.level, core::RiskLevel::kCritical);
}

}  // namespace
}  // namespace skerry::cli
