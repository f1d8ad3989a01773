#include "json/execution_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::json {
namespace {

TEST(ExecutionJsonTest, HasTheNamesOfTheSpecification) {
  core::ExecutionResult result;
  result.standard_output = "hi\n";
  result.sandbox_type = "native";
  result.files_created = {"a.txt"};
  const auto object = nlohmann::json::parse(ToJson(result));
  for (const char* name :
       {"success", "stdout", "stderr", "exit_code", "error", "sandbox_type", "execution_time_ms", "files_created"})
    EXPECT_TRUE(object.contains(name)) << name;
  EXPECT_EQ(object["success"], true);
  EXPECT_EQ(object["error"], nullptr);
  EXPECT_EQ(object["files_created"][0], "a.txt");
}

TEST(ExecutionJsonTest, FilesToReviewAreThereWhenThereAreSome) {
  core::ExecutionResult result;
  EXPECT_FALSE(nlohmann::json::parse(ToJson(result)).contains("files_to_review"));
  result.files_to_review = {{.path = "CLAUDE.md", .reason = "new instructions for agents"}};
  EXPECT_EQ(nlohmann::json::parse(ToJson(result))["files_to_review"][0]["path"], "CLAUDE.md");
}

TEST(ExecutionJsonTest, BytesThatAreNoTextAreReplacedAndKeptBesides) {
  core::ExecutionResult result;
  result.standard_output = std::string("\xFF\0\"\n\x1b", 5);
  const std::string text = ToJson(result);
  const auto object = nlohmann::json::parse(text);
  EXPECT_EQ(object["stdout"].get<std::string>(), std::string("\xEF\xBF\xBD\0\"\n\x1b", 7));
  EXPECT_EQ(object["stdout_base64"], "/wAiChs=");
  EXPECT_FALSE(object.contains("stderr_base64"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(ExecutionJsonTest, ATimeoutIsAnErrorInWords) {
  core::ExecutionResult result;
  result.outcome = {.kind = core::OutcomeKind::kTimedOut, .exit_code = 124, .limit = 2};
  const auto object = nlohmann::json::parse(ToJson(result));
  EXPECT_EQ(object["error"], "Execution timeout (2s)");
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["outcome"], "timed_out");
}

TEST(ExecutionJsonTest, AnErrorHasTheSameShape) {
  const auto object = nlohmann::json::parse(ToJson(base::Error{base::Code::kRejected, "no"}));
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["exit_code"], 126);
  EXPECT_EQ(object["error"], "no");
}

core::ExecutionResult ACell() {
  core::ExecutionResult result;
  result.cell = core::CellDetails{.context = "a", .number = 3};
  return result;
}

core::ExecutionResult AFailedCell() {
  core::ExecutionResult result = ACell();
  result.outcome.exit_code = 1;
  result.cell->error = core::CellError{.name = "ValueError", .message = "no", .traceback = "Traceback\n"};
  return result;
}

TEST(CellJsonTest, HasTheNamesOfAnExecutionAndItsOwn) {
  const auto object = ResultToJson(ACell());
  for (const char* name :
       {"success", "stdout", "stderr", "exit_code", "error", "execution_time_ms", "start", "outcome", "sandbox_type",
        "risk", "files_created", "context", "outputs", "traceback", "alive", "degraded"})
    EXPECT_TRUE(object.contains(name)) << name;
  EXPECT_EQ(object["success"], true);
  EXPECT_EQ(object["error"], nullptr);
  EXPECT_EQ(object["traceback"], nullptr);
  EXPECT_EQ(object["cell"], 3);
  EXPECT_FALSE(ResultToJson({}).contains("context"));
}

TEST(CellJsonTest, AnErrorIsALineAndATraceback) {
  const auto object = ResultToJson(AFailedCell());
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["error"], "ValueError: no");
  EXPECT_EQ(object["error_name"], "ValueError");
  EXPECT_EQ(object["traceback"], "Traceback\n");
}

TEST(CellJsonTest, WhatSkerryDidComesBeforeWhatTheCellSaid) {
  core::ExecutionResult result = AFailedCell();
  result.outcome = {.kind = core::OutcomeKind::kTimedOut, .exit_code = 124, .limit = 2};
  EXPECT_EQ(ResultToJson(result)["error"], "Execution timeout (2s)");
}

TEST(CellJsonTest, ALostContextIsNoSuccess) {
  core::ExecutionResult result = ACell();
  result.cell->alive = false;
  EXPECT_EQ(ResultToJson(result)["success"], false);
}

TEST(CellJsonTest, OutputsAreTypedAndKeepTheirOrder) {
  core::ExecutionResult result = ACell();
  result.cell->outputs = {{core::CellOutput::Kind::kDisplay, {{"image/png", "iVBO"}, {"text/plain", "<Figure>"}}},
                          {core::CellOutput::Kind::kResult, {{"text/plain", "4\xff"}}}};
  const auto outputs = ResultToJson(result)["outputs"];
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0]["kind"], "display");
  EXPECT_EQ(outputs[0]["data"]["image/png"], "iVBO");
  EXPECT_EQ(outputs[1]["kind"], "result");
  EXPECT_EQ(outputs[1]["data"]["text/plain"], "4\xEF\xBF\xBD");
}

TEST(EndJsonTest, AnErrorHasTheShapeOfAResult) {
  const auto object = EndToJson({.error = base::Error{base::Code::kConflict, "busy"}}, "x1");
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["outcome"], "failed");
  EXPECT_EQ(object["execution_id"], "x1");
  EXPECT_EQ(object["stdout"], "");
  EXPECT_FALSE(EndToJson({}, "x1", Streams::kLeftOut).contains("stdout"));
}

}  // namespace
}  // namespace skerry::json
