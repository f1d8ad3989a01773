#include "core/text_form.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

ExecutionResult Result(std::string out, std::string err, int exit_code) {
  ExecutionResult result;
  result.standard_output = std::move(out);
  result.standard_error = std::move(err);
  result.outcome.exit_code = exit_code;
  return result;
}

TEST(TextFormTest, ShowsWhatThereIsInOrder) {
  EXPECT_EQ(TextForm(Result("", "", 0)), "(no output)");
  EXPECT_EQ(TextForm(Result("a\n", "", 0)), "a\n");
  EXPECT_EQ(TextForm(Result("a", "b", 3)), "a\nSTDERR:\nb\nExit code: 3");
  EXPECT_EQ(TextForm(Result("", "b\n", 0)), "STDERR:\nb\n");
  EXPECT_EQ(TextForm(Result("", "", 1)), "Exit code: 1");
}

TEST(TextFormTest, CutsAfterTenThousandCharactersAndCountsTheRest) {
  EXPECT_EQ(TextForm(Result(std::string(10'000, 'x'), "", 0)), std::string(10'000, 'x'));
  EXPECT_EQ(TextForm(Result(std::string(10'007, 'x'), "", 0)),
            std::string(10'000, 'x') + "... (truncated, 7 more chars)");
}

TEST(TextFormTest, CountsCharactersAndNotBytes) {
  std::string text;
  for (int i = 0; i < 10'001; ++i) text += "\xC3\xBC";
  EXPECT_EQ(TextForm(Result(text, "", 0)), text.substr(0, 20'000) + "... (truncated, 1 more chars)");
}

}  // namespace
}  // namespace skerry::core
