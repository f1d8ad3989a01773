#include "cli/answer.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "json/history_json.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

TEST(AnswerTest, WhatIsMissingOrOfAnotherKindIsEmpty) {
  for (const Json& object : {Json(nullptr), Json::array({1}), Json("x"), Json{{"a", 1.5}}, Json{{"a", nullptr}}}) {
    EXPECT_EQ(TextIn(object, "a"), "");
    EXPECT_EQ(BytesIn(object, "a"), "");
    EXPECT_EQ(NumberIn(object, "a"), 0U);
    EXPECT_FALSE(FlagIn(object, "a"));
    EXPECT_TRUE(ListIn(object, "a").empty());
    EXPECT_TRUE(ObjectIn(object, "a").empty());
    EXPECT_FALSE(TimeIn(object, "a"));
  }
}

TEST(AnswerTest, TheExactBytesGoBeforeTheText) {
  EXPECT_EQ(BytesIn({{"path", "a\xEF\xBF\xBD"}, {"path_base64", "Yf8="}}, "path"), "a\xff");
  EXPECT_EQ(BytesIn({{"path", "plain"}}, "path"), "plain");
  EXPECT_EQ(BytesIn({{"path", "plain"}, {"path_base64", "no base64!"}}, "path"), "plain");
}

TEST(AnswerTest, TimesComeBackToTheMillisecond) {
  for (const auto time : {core::TimePoint(1'700'000'000s), core::TimePoint(1'700'000'000s + 123ms),
                          core::TimePoint(1'709'164'799s + 999ms)})
    EXPECT_EQ(TimeIn({{"at", json::Rfc3339(time)}}, "at"), time);
  for (const char* wrong : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01"})
    EXPECT_FALSE(TimeIn({{"at", wrong}}, "at")) << wrong;
}

TEST(AnswerTest, AChangeOfAFile) {
  const core::FileChange change = ChangeFrom(
      {{"path", "a/b"}, {"action", "created"}, {"kind", "link"}, {"size", 5U}, {"mode", "0750"}, {"sha256", "ab"}});
  EXPECT_EQ(change, (core::FileChange{.path = "a/b",
                                      .action = core::FileAction::kCreated,
                                      .kind = core::FileKind::kLink,
                                      .size = 5,
                                      .mode = 0750,
                                      .sha256 = "ab"}));
  const core::FileChange removed = ChangeFrom({{"path", "x"},
                                               {"action", "removed"},
                                               {"kind", "file"},
                                               {"size", nullptr},
                                               {"mode", nullptr},
                                               {"sha256", nullptr}});
  EXPECT_EQ(removed, (core::FileChange{.path = "x", .action = core::FileAction::kRemoved}));
}

}  // namespace
}  // namespace skerry::cli
