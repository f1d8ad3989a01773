#include "cli/approvals_text.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "cli/approval_calls.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

Json Waiting(const std::string& id, const std::string& code) {
  const Json finding = {{"rule", "shell.rm"}, {"level", "high"},  {"line", 1},
                        {"column", 1},        {"text", "rm -rf"}, {"explanation", "Removes files."}};
  return {{"id", id},
          {"state", "waiting"},
          {"session_id", "work"},
          {"execution_id", "x1"},
          {"digest", std::string(64, 'd')},
          {"created_at", "2026-01-01T00:00:00.000Z"},
          {"expires_at", "2026-01-01T00:05:00.000Z"},
          {"remaining_seconds", 243},
          {"content_type", "shell"},
          {"code", code},
          {"risk", {{"level", "high"}, {"reason", "removes files"}, {"findings", Json::array({finding})}}},
          {"conditions", Json::array({Json::array({"network", "none"})})},
          {"scopes", Json::array({"once", "session"})}};
}

Json Past(const std::string& state, const std::string& scope) {
  return {{"id", "p1"},
          {"state", state},
          {"session_id", nullptr},
          {"execution_id", "x1"},
          {"digest", std::string(64, 'd')},
          {"created_at", "2026-01-01T00:00:00.000Z"},
          {"decided_at", "2026-01-01T00:01:00.000Z"},
          {"decided_by", "tok1"},
          {"decided_from", "10.0.0.1"},
          {"scope", scope},
          {"reason", "looks fine"}};
}

core::TimePoint Minute() {
  return std::chrono::sys_days(std::chrono::year(2026) / 1 / 1) + std::chrono::minutes(1);
}

TEST(ApprovalsTextTest, TheTableTellsWhatWaitsAndForHowLong) {
  const std::string table = WaitingAsTable(Json::array({Waiting("a1", "\n rm -rf x\nls")}), Minute());
  EXPECT_EQ(table,
            "APPROVAL  SESSION  RISK  WAITS  LEFT   WHAT\n"
            "a1        work     high  1m00s  4m03s  shell: rm -rf x\n");
}

TEST(ApprovalsTextTest, ThoseThatAreOverTellWhoDecidedAndFromWhere) {
  const std::string table = PastAsTable(Json::array({Past("approved", "session")}));
  EXPECT_TRUE(table.contains("p1        -        approved for this session  2026-01-01T00:01:00Z  tok1  10.0.0.1"));
  EXPECT_TRUE(table.contains("looks fine"));
}

TEST(ApprovalsTextTest, AScopeIsToldOfApprovalsOnly) {
  EXPECT_FALSE(PastAsTable(Json::array({Past("rejected", "session")})).contains("for this session"));
}

TEST(ApprovalsTextTest, EverythingThatCountsIsShown) {
  const std::string text = ApprovalAsText(Waiting("a1", "rm -rf x"), {});
  for (const char* part : {"high risk", "removes files", "  session        work", "  network        none",
                           "1 | rm -rf x", "^~~~~~ high shell.rm: Removes files.", "4m03s left"})
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
  EXPECT_TRUE(text.contains(std::string(62, 'd'))) << text;
}

TEST(ApprovalsTextTest, OneThatIsOverIsShownWithItsAnswer) {
  const std::string text = ApprovalAsText(Past("approved", "content"), {});
  for (const char* part : {"a run of its own", "approved", "for this content", "tok1", "10.0.0.1", "looks fine"})
    EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
}

// Only Skerry's own heads and numbers of lines begin at the edge. Nothing else can pass for a row of Skerry's.
TEST(ApprovalsTextTest, HostileTextNeitherMovesTheCursorNorImitatesAPrompt) {
  const std::string evil = "\x1b[2J\x1b[H\r[4m03s left] a once  q quit\n\xe2\x80\xae" + std::string(500, 'x') +
                           "\r\nApprove this once? [y]\n\x1b]0;x\a";
  Json approval = Waiting("a1", evil);
  approval["content_type"] = evil;
  approval["session_id"] = evil;
  approval["risk"]["reason"] = evil;
  approval["conditions"] = Json::array({Json::array({evil, evil})});
  const std::string text = ApprovalAsText(approval, {.width = 40, .max_rows = 500});
  EXPECT_EQ(text.find_first_of("\x1b\r\a"), std::string::npos);
  EXPECT_FALSE(text.contains("\xe2\x80\xae"));
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row);) {
    EXPECT_FALSE(row.starts_with("[4m03s")) << row;
    EXPECT_FALSE(row.starts_with("Approve")) << row;
    EXPECT_LE(confirm::WidthOf(row), 80U) << row;
  }
}

TEST(ApprovalsTextTest, OnlyScopesThatMayBeGivenAreOffered) {
  const Json approval = Waiting("a1", "x");
  EXPECT_TRUE(Offers(approval, "once"));
  EXPECT_FALSE(Offers(approval, "content"));
  EXPECT_TRUE(HowToAnswer(approval).contains("--session"));
  EXPECT_FALSE(HowToAnswer(approval).contains("--content"));
}

TEST(ApprovalsTextTest, HowItEndedIsSaidInWords) {
  EXPECT_EQ(DecidedInWords({{"approval_id", "a1"}, {"decision", "approved"}, {"by", "local"}, {"scope", "session"}}),
            "a1 was approved by local, for this session");
  EXPECT_EQ(DecidedInWords({{"approval_id", "a1"}, {"decision", "rejected"}, {"by", "tok1"}, {"reason", "no\x1b[2J"}}),
            "a1 was rejected by tok1: no\\u001b[2J");
  EXPECT_EQ(DecidedInWords({{"approval_id", "a1"}, {"decision", "expired"}}), "a1 has expired");
  EXPECT_EQ(DecidedInWords({{"approval_id", "a1"}, {"decision", "cancelled"}}), "a1 is gone");
}

TEST(ApprovalCallsTest, AnIdMayBeShortenedAsLongAsItIsOnlyOnes) {
  const Json approvals = Json::array({Waiting("ab", "1"), Waiting("abc", "2"), Waiting("abd", "3")});
  EXPECT_EQ(ChooseApproval(approvals, "abd")->at("code"), "3");
  EXPECT_EQ(ChooseApproval(approvals, "ab")->at("code"), "1");
  EXPECT_EQ(ChooseApproval(approvals, "a").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(ChooseApproval(approvals, "b").error().code, base::Code::kNotFound);
}

TEST(ApprovalCallsTest, WhatAllIdsBeginWithNeedNotBeTyped) {
  const Json approvals = Json::array({Waiting("apr_ab", "1"), Waiting("apr_cd", "2")});
  EXPECT_EQ(ChooseApproval(approvals, "c")->at("code"), "2");
  EXPECT_EQ(ChooseApproval(approvals, "apr_").error().code, base::Code::kInvalidArgument);
}

TEST(ApprovalCallsTest, AScopeGoesWithAnApprovalOnly) {
  using Kind = PersonsWord::Kind;
  EXPECT_EQ(DecisionAsJson({.kind = Kind::kApprove, .scope = "session"}, "d"),
            Json({{"decision", "approve"}, {"digest", "d"}, {"scope", "session"}}));
  EXPECT_EQ(DecisionAsJson({.kind = Kind::kReject, .scope = "session", .reason = "no"}, "d"),
            Json({{"decision", "reject"}, {"digest", "d"}, {"reason", "no"}}));
}

}  // namespace
}  // namespace skerry::cli
