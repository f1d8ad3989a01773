#include "json/context_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/execution_json.hpp"

namespace skerry::json {
namespace {

CellReport Failed() {
  CellReport report{.context = "a", .cell = 3};
  report.result.outcome.exit_code = 1;
  report.result.error = {.name = "ValueError", .message = "no", .traceback = "Traceback\n"};
  return report;
}

TEST(ContextJsonTest, HasTheNamesOfAnExecutionAndItsOwn) {
  const auto object = nlohmann::json::parse(ToJson(CellReport{.context = "a"}));
  for (const char* name : {"success", "stdout", "stderr", "exit_code", "error", "execution_time_ms", "start", "outcome",
                           "context", "outputs", "traceback", "alive", "degraded"})
    EXPECT_TRUE(object.contains(name)) << name;
  EXPECT_EQ(object["success"], true);
  EXPECT_EQ(object["error"], nullptr);
  EXPECT_EQ(object["traceback"], nullptr);
}

TEST(ContextJsonTest, AnErrorIsALineAndATraceback) {
  const auto object = nlohmann::json::parse(ToJson(Failed()));
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["error"], "ValueError: no");
  EXPECT_EQ(object["error_name"], "ValueError");
  EXPECT_EQ(object["traceback"], "Traceback\n");
}

TEST(ContextJsonTest, WhatSkerryDidComesBeforeWhatTheCellSaid) {
  CellReport report = Failed();
  report.result.outcome = {.kind = core::OutcomeKind::kTimedOut, .exit_code = 124, .limit = 2};
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["error"], "Execution timeout (2s)");
}

TEST(ContextJsonTest, ALostContextIsNoSuccess) {
  CellReport report;
  report.result.alive = false;
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["success"], false);
}

TEST(ContextJsonTest, OutputsAreTypedAndKeepTheirOrder) {
  CellReport report;
  report.result.outputs = {{core::CellOutput::Kind::kDisplay, {{"image/png", "iVBO"}, {"text/plain", "<Figure>"}}},
                           {core::CellOutput::Kind::kResult, {{"text/plain", "4\xff"}}}};
  const auto outputs = nlohmann::json::parse(ToJson(report))["outputs"];
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0]["kind"], "display");
  EXPECT_EQ(outputs[0]["data"]["image/png"], "iVBO");
  EXPECT_EQ(outputs[1]["kind"], "result");
  EXPECT_EQ(outputs[1]["data"]["text/plain"], "4\xEF\xBF\xBD");
}

TEST(ContextJsonTest, StreamsCanBePutInLater) {
  const std::string text = WithStreams(ToJson(Failed()), "out", "\xff");
  const auto object = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(object["stdout"], "out");
  EXPECT_EQ(object["stderr_base64"], "/w==");
  EXPECT_FALSE(object.contains("stdout_base64"));
  EXPECT_EQ(object["error"], "ValueError: no");
  EXPECT_EQ(text.find("\"success\""), 1U);
  EXPECT_EQ(WithStreams("not json", "a", "b"), "not json");
}

TEST(FromBase64Test, ReadsWhatBase64Writes) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"), std::string("\0\xff\x80\n", 4)})
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
  EXPECT_EQ(FromBase64("Zm9v\nYmFy\n"), "foobar");
}

TEST(FromBase64Test, RefusesWhatIsNone) {
  for (const char* text : {"Zg=a", "Z", "Zm9v*", "Z m9v"}) EXPECT_EQ(FromBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace skerry::json
