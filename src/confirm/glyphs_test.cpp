#include "confirm/glyphs.hpp"

#include <gtest/gtest.h>

namespace skerry::confirm {
namespace {

TEST(VisibleTest, LeavesTextAlone) {
  for (const char* text : {"", "plain ~", "grüß", "岛", "🪨", "…", "e\u0301"}) EXPECT_EQ(Visible(text), text);
}

TEST(VisibleTest, EscapesWhatMovesTheTerminalOrReversesText) {
  EXPECT_EQ(Visible("a\x1b[2J\r\n\x7f"), "a\\u001b[2J\\u000d\\u000a\\u007f");
  EXPECT_EQ(Visible("\u009b\u202e\u2066"), "\\u009b\\u202e\\u2066");
  EXPECT_EQ(Visible(std::string("\0", 1)), "\\u0000");
}

TEST(VisibleTest, EscapesWhatCannotBeSeen) {
  EXPECT_EQ(Visible("a\u200bb\u200f\ufeff\u00ad\u3164"), "a\\u200bb\\u200f\\ufeff\\u00ad\\u3164");
  EXPECT_EQ(Visible("x\U000E0041"), "x\\U000e0041");
}

TEST(VisibleTest, EscapesTheThirdAccentOnACharacter) {
  EXPECT_EQ(Visible("e\u0301\u0301\u0301"), "e\u0301\u0301\\u0301");
  EXPECT_EQ(Visible("e\u0301\u0301e\u0301"), "e\u0301\u0301e\u0301");
}

TEST(VisibleTest, ReplacesBrokenBytesAndTabs) {
  EXPECT_EQ(Visible("\tx\xff"), "    x\uFFFD");
}

TEST(WidthOfTest, CountsCells) {
  EXPECT_EQ(WidthOf("abc"), 3U);
  EXPECT_EQ(WidthOf("grüß"), 4U);
  EXPECT_EQ(WidthOf("岛x🙂"), 5U);
  EXPECT_EQ(WidthOf("e\u0301"), 1U);
  EXPECT_EQ(WidthOf("\x1b"), 6U);
  EXPECT_EQ(WidthOf("\U000E0041"), 10U);
}

TEST(GlyphsOfTest, StopsBehindTheWidthAskedFor) {
  EXPECT_EQ(GlyphsOf(std::string(100, 'x'), 10).size(), 11U);
  EXPECT_EQ(GlyphsOf("xx", 10).size(), 2U);
}

}  // namespace
}  // namespace skerry::confirm
