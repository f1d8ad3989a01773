#include "core/execution.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

ExecutionRequest Request(std::string code) {
  ExecutionRequest request;
  request.code = std::move(code);
  return request;
}

TEST(ExecutionRequestTest, DefaultsAreThoseOfTheSpecification) {
  const ExecutionRequest request;
  EXPECT_EQ(request.language, Language::kPython);
  EXPECT_EQ(request.timeout.count(), 30);
  EXPECT_EQ(request.sandbox_type, "auto");
  EXPECT_EQ(request.max_memory_mb, 512U);
  EXPECT_EQ(request.max_output_mb, 10U);
}

TEST(ExecutionRequestTest, CodeMustBeThereAndBeText) {
  EXPECT_TRUE(Validate(Request("print(1)")).has_value());
  for (const std::string& code : {std::string(), std::string(" \n\t"), std::string("\xFF"), std::string("a\0b", 3)})
    EXPECT_FALSE(Validate(Request(code)).has_value()) << testing::PrintToString(code);
}

TEST(ExecutionRequestTest, ValuesStayInTheirRanges) {
  for (const long timeout : {-1L, 0L, 301L, 1'000'000'000'000L}) {
    ExecutionRequest request = Request("x");
    request.timeout = std::chrono::seconds(timeout);
    EXPECT_FALSE(Validate(request).has_value()) << timeout;
  }
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{15}, ~std::uint64_t{0}}) {
    ExecutionRequest request = Request("x");
    request.max_memory_mb = memory;
    EXPECT_FALSE(Validate(request).has_value()) << memory;
  }
}

TEST(LanguageTest, NamesAreReadAndWritten) {
  for (const Language language : {Language::kPython, Language::kJavaScript, Language::kShell})
    EXPECT_EQ(ParseLanguage(NameOf(language)).value(), language);
  EXPECT_EQ(ParseLanguage("bash").value(), Language::kShell);
  const auto unknown = ParseLanguage("cobol");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("cobol"), std::string::npos);
}

TEST(OutcomeTest, ExplainsTheLimitThatEndedTheRun) {
  EXPECT_EQ((Outcome{.kind = OutcomeKind::kTimedOut, .limit = 1}).Explanation(), "Execution timeout (1s)");
  EXPECT_NE((Outcome{.kind = OutcomeKind::kOutOfMemory, .limit = 64}).Explanation().find("memory"), std::string::npos);
  EXPECT_EQ(Outcome{}.Explanation(), "");
}

TEST(ExecutionResultTest, SuccessIsExitZeroAndNothingElse) {
  ExecutionResult result;
  EXPECT_TRUE(result.Success());
  result.outcome.exit_code = 1;
  EXPECT_FALSE(result.Success());
  result.outcome = {.kind = OutcomeKind::kTimedOut};
  EXPECT_FALSE(result.Success());
}

}  // namespace
}  // namespace skerry::core
