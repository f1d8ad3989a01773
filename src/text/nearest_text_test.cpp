#include "text/nearest_text.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kProgram =
    "#include <stdio.h>\n"
    "\n"
    "int main(void) {\n"
    "\tint count = 3;\n"
    "\tfor (int i = 0; i < count; ++i) {\n"
    "\t\tprintf(\"it’s %d\\n\", i);   \n"
    "\t}\n"
    "\treturn 0;\n"
    "}\n";

TEST(NearestTextTest, WhatDiffersIsNamedWhenItIsEasilyOverlooked) {
  struct Row {
    std::string_view wanted;
    std::uint64_t line;
    std::string_view difference;
  };
  const std::vector<Row> rows = {
      {"    int count = 3;\n    for (", 4, "only the indentation differs (the file has tabs)"},
      {"int count  =  3;", 4, "only white space differs"},
      {"int Count = 3;", 4, "only upper and lower case differ"},
      {"printf(\"it's %d\\n\", i);", 6, "only characters that look alike differ"},
      {"\t\tprintf(\"it’s %d\\n\", i);\n\t}\n", 6, "only white space at the ends of lines differs"},
      {"int c\xD0\xBEunt = 3;", 4, "only characters that look alike differ"},
      {"INT COUNT=3;", 4, "only white space and upper and lower case differ"},
      {"int main(void)\n{\n", 3, "only white space differs"},
      {"\treturn 0;\n}\n\n\n", 8, "only white space differs"},
  };
  for (const Row& row : rows) {
    const auto nearest = FindNearest(kProgram, row.wanted);
    ASSERT_TRUE(nearest.has_value()) << row.wanted;
    EXPECT_EQ(nearest->line, row.line) << row.wanted;
    EXPECT_THAT(nearest->difference, HasSubstr(std::string(row.difference))) << row.wanted;
  }
}

TEST(NearestTextTest, ComposedAndDecomposedAccentsLookAlike) {
  const auto nearest = FindNearest("caf\xC3\xA9 au lait\n", "cafe\xCC\x81 au lait");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_THAT(nearest->difference, HasSubstr("look alike"));
}

TEST(NearestTextTest, TheLineWithAMistakeIsFound) {
  const auto nearest = FindNearest(kProgram, "for (int i = 0; i < cuont; i++) {");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 5U);
  EXPECT_EQ(nearest->difference, "");
  EXPECT_EQ(nearest->excerpt, "5| \tfor (int i = 0; i < count; ++i) {");
}

TEST(NearestTextTest, TheFirstLineThatDiffersIsNamed) {
  const auto nearest = FindNearest(kProgram, "int main(void) {\n\tint count = 3;\n\tfor (int k = 0; k < n; ++k) {\n");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 3U);
  EXPECT_EQ(nearest->difference, "the first line that differs is 5");
  EXPECT_THAT(nearest->excerpt, AllOf(HasSubstr("3| int main(void) {\n4| \tint"), HasSubstr("\n5| \tfor")));
}

TEST(NearestTextTest, OldLineEndsAreNamed) {
  const auto nearest = FindNearest("first line\rsecond line\rthird line\r", "second line\nthird line\n");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 2U);
  EXPECT_EQ(nearest->difference, "only the kind of line end differs");
}

TEST(NearestTextTest, WhatHasNothingInCommonIsNotShown) {
  EXPECT_FALSE(FindNearest(kProgram, "SELECT * FROM kangaroos WHERE pouch").has_value());
  EXPECT_FALSE(FindNearest(kProgram, " \n\t ").has_value());
  EXPECT_FALSE(FindNearest("", "x").has_value());
  EXPECT_FALSE(FindNearest("abc", "xyz").has_value());
}

TEST(NearestTextTest, AMistakeAtTheBeginningDoesNotMoveItToTheLineBefore) {
  const auto nearest = FindNearest("alpha;\nbeta;\ngamma = delta;\n", "xyzamma = delta;");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 3U);
}

std::string ManyLines(std::size_t count) {
  std::mt19937 random(5);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "line_" + std::to_string(random() % 100'000) + " = value;\n";
  return text;
}

TEST(NearestTextTest, TheExcerptIsBoundedAndShowsWhereALongTextDiffers) {
  const std::string text = ManyLines(3000);
  std::size_t begin = 0;
  for (int i = 0; i < 1000; ++i) begin = text.find('\n', begin) + 1;
  std::string wanted = text.substr(begin, 20'000);
  wanted.insert(10'000, "<mistake>");
  const auto nearest = FindNearest(text, wanted);
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 1001U);
  const auto line = 1001 + std::ranges::count(wanted.substr(0, 10'000), '\n');
  EXPECT_EQ(nearest->difference, "the first line that differs is " + std::to_string(line));
  EXPECT_THAT(nearest->excerpt, HasSubstr("\n" + std::to_string(line) + "| "));
  EXPECT_LE(std::ranges::count(nearest->excerpt, '\n'), 9);
  EXPECT_LE(nearest->excerpt.size(), 600U);
}

TEST(NearestTextTest, ALongLineIsShownWhereItIsLikeWhatIsWanted) {
  std::string text = ManyLines(5000);
  std::ranges::replace(text, '\n', ' ');
  text.insert(50'000, "function kangaroo(pouch) { return pouch + 1; }");
  const auto nearest = FindNearest(text, "function kangaroo(pouch) { return pouch + 2; }");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->line, 1U);
  EXPECT_THAT(nearest->excerpt, HasSubstr("function kangaroo(pouch) { return pouch + 1; }"));
  EXPECT_LE(nearest->excerpt.size(), 300U);
}

TEST(NearestTextTest, ControlCharactersAreNotPassedOn) {
  const auto nearest = FindNearest("red = \x1b[31mhello world\x1b[0m \xE2\x80\xAE\n", "red = hello world!");
  ASSERT_TRUE(nearest.has_value());
  EXPECT_THAT(nearest->excerpt, AllOf(HasSubstr("\\u001b[31mhello"), HasSubstr("\\u202e"), Not(HasSubstr("\x1b"))));
}

TEST(NearestTextTest, AnyBytesAreTaken) {
  std::mt19937 random(17);
  const auto make = [&](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(random() % 4 == 0 ? random() : 'a' + random() % 4);
    for (std::size_t i = 0; i < size; i += 1 + random() % 9) text[i] = "\r\n\t "[random() % 4];
    return text;
  };
  for (int round = 0; round < 5000; ++round) {
    const auto nearest = FindNearest(make(random() % 80), make(random() % 40));
    if (nearest) EXPECT_FALSE(nearest->excerpt.empty());
  }
}

}  // namespace
}  // namespace skerry::text
