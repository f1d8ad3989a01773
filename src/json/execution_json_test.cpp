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

TEST(Base64Test, KnownValues) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace skerry::json
