#include "base/printable.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(PrintableTest, LeavesTextAlone) {
  for (const char* text : {"", "plain", "grüß", "岛", "🪨", "…"}) EXPECT_EQ(Printable(text), text);
}

TEST(PrintableTest, EscapesWhatMovesTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2J\n\x7f"), "a\\u001b[2J\\u000a\\u007f");
  EXPECT_EQ(Printable("\u009b"), "\\u009b");
  EXPECT_EQ(Printable("\u2028\u202e\u2066"), "\\u2028\\u202e\\u2066");
}

TEST(PrintableTest, ReplacesBrokenBytes) {
  EXPECT_EQ(Printable("a\x9b\xff"), "a\uFFFD\uFFFD");
}

TEST(ExcerptTest, CutsLongTextAtACharacter) {
  EXPECT_EQ(Excerpt(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(Excerpt(std::string(81, 'x')), std::string(80, 'x') + "…");
  EXPECT_EQ(Excerpt(std::string(79, 'x') + "üü"), std::string(79, 'x') + "…");
}

}  // namespace
}  // namespace skerry::base
