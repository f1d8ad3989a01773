#include "text/text_pattern.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skerry::text {
namespace {

TextPattern Made(std::string_view pattern, PatternKind kind = PatternKind::kRegularExpression) {
  return TextPattern::Make(pattern, kind, LetterCase::kDiffers).value();
}

TEST(TextPatternTest, FindsWhereTheFirstMatchBegins) {
  EXPECT_EQ(Made("a.c").Find("xabc abc"), 1U);
  EXPECT_EQ(Made("a.c", PatternKind::kLiteral).Find("abc a.c"), 4U);
  EXPECT_EQ(Made("a.c", PatternKind::kLiteral).Find("abc"), std::string_view::npos);
  EXPECT_EQ(TextPattern::Make("ABC", PatternKind::kLiteral, LetterCase::kIgnored)->Find("abc"), 0U);
}

TEST(TextPatternTest, ABlockIsRuledOutOnlyWhereItsLinesCanBe) {
  EXPECT_FALSE(Made("b").MayMatchIn("a\nc\n"));
  EXPECT_TRUE(Made("c").MayMatchIn("a\nc\n"));
  EXPECT_TRUE(Made("^c$").MayMatchIn("a\nc\n")) << "the block has no match, its second line has one";
}

TEST(TextPatternTest, RefusesWhatIsNoPattern) {
  for (const std::string& pattern :
       {std::string(), std::string("("), std::string(4097, 'a'), std::string("(a{1000}){1000}")}) {
    const auto made = TextPattern::Make(pattern, PatternKind::kRegularExpression, LetterCase::kDiffers);
    ASSERT_FALSE(made) << pattern.substr(0, 20);
    EXPECT_EQ(made.error().code, base::Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace skerry::text
