#include "cli/cell_text.hpp"

#include <gtest/gtest.h>

#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

TEST(CellTextTest, WhatFitsStaysAndWhatIsCutEndsInAMark) {
  EXPECT_EQ(CutTo("abc", 3), "abc");
  EXPECT_EQ(CutTo("abcd", 3), "ab…");
  EXPECT_EQ(CutTo("abcd", 1), "…");
  EXPECT_EQ(CutTo("abcd", 0), "");
}

TEST(CellTextTest, WideCharactersAreNeverHalfInside) {
  EXPECT_EQ(CutTo("日本語", 6), "日本語");
  EXPECT_EQ(CutTo("日本語", 5), "日本…");
  EXPECT_EQ(CutTo("日本語", 4), "日…");
}

TEST(CellTextTest, NothingHostilePassesHoweverItIsCut) {
  const std::string hostile =
      "\x1b[2J\r\n\xe2\x80\xae"
      "evil\xff\xe2\x80\x8b" +
      std::string(100'000, 'x');
  for (std::size_t cells = 0; cells < 60; ++cells) {
    const std::string cut = CutTo(hostile, cells);
    EXPECT_EQ(cut.find_first_of("\x1b\r\n"), std::string::npos);
    EXPECT_FALSE(cut.contains("\xe2\x80\xae"));
    EXPECT_LE(confirm::WidthOf(cut), cells);
  }
}

TEST(CellTextTest, CellsAreFilledUp) {
  EXPECT_EQ(LeftIn("ab", 4), "ab  ");
  EXPECT_EQ(RightIn("ab", 4), "  ab");
  EXPECT_EQ(LeftIn("日", 4), "日  ");
  EXPECT_EQ(RightIn("abcdef", 4), "abc…");
}

TEST(CellTextTest, NoRowOfForeignTextBeginsAtTheEdge) {
  const std::string rows =
      InRows(std::string(30, 'x') + "\nApprove this? [y]", {.width = 12, .indent = 2, .max_rows = 20});
  for (std::size_t at = 0; at < rows.size(); at = rows.find('\n', at) + 1) EXPECT_EQ(rows.substr(at, 2), "  ") << rows;
  EXPECT_TRUE(rows.contains("\\u000a"));
}

TEST(CellTextTest, RowsThatAreLeftOutAreTold) {
  EXPECT_EQ(InRows(std::string(40, 'x'), {.width = 11, .indent = 1, .max_rows = 2}),
            " xxxxxxxxxx\n xxxxxxxxxx\n … and 20 more characters\n");
}

TEST(CellTextTest, TheFirstLineIsTheFirstThatSaysSomething) {
  EXPECT_EQ(FirstLineOf("\n\n   rm -rf x  \nls"), "rm -rf x");
  EXPECT_EQ(FirstLineOf(" \n "), "");
}

TEST(CellTextTest, FiguresNeedFewCells) {
  EXPECT_EQ(ShortBytes(0), "0");
  EXPECT_EQ(ShortBytes(999), "999");
  EXPECT_EQ(ShortBytes(1536), "1.5K");
  EXPECT_EQ(ShortBytes(std::uint64_t{200} << 20U), "200M");
  EXPECT_EQ(ShortBytes((std::uint64_t{1} << 30U) - 1), "1.0G");
  for (std::uint64_t bytes = 1; bytes != 0; bytes <<= 1U) EXPECT_LE(ShortBytes(bytes - 1).size(), 5U) << bytes;
}

TEST(CellTextTest, TimesHaveTwoParts) {
  using std::chrono::seconds;
  EXPECT_EQ(ShortTime(seconds(-1)), "0s");
  EXPECT_EQ(ShortTime(seconds(59)), "59s");
  EXPECT_EQ(ShortTime(seconds(243)), "4m03s");
  EXPECT_EQ(ShortTime(seconds(7500)), "2h05m");
  EXPECT_EQ(ShortTime(seconds(273'600)), "3d04h");
}

}  // namespace
}  // namespace skerry::cli
