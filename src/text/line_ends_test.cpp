#include "text/line_ends.hpp"

#include <random>

#include <gtest/gtest.h>

namespace skerry::text {
namespace {

TEST(LineEndsTest, TheKindsAreTold) {
  EXPECT_EQ(LineEndsOf("ab"), LineEnds::kNone);
  EXPECT_EQ(LineEndsOf("a\rb"), LineEnds::kNone);
  EXPECT_EQ(LineEndsOf("a\rb\n"), LineEnds::kLf);
  EXPECT_EQ(LineEndsOf("\r\n"), LineEnds::kCrLf);
  EXPECT_EQ(LineEndsOf("\n\r\n"), LineEnds::kMixed);
}

TEST(LineEndsTest, ALineEndIsNotDoubled) {
  EXPECT_EQ(WithLineEnds("a\nb\r\nc\r", LineEnds::kCrLf), "a\r\nb\r\nc\r");
  EXPECT_EQ(WithLineEnds("a\nb\r\nc\r", LineEnds::kLf), "a\nb\nc\r");
  EXPECT_EQ(WithLineEnds("a\nb\r\n", LineEnds::kMixed), "a\nb\r\n");
}

TEST(LineEndsTest, LinesAreCounted) {
  EXPECT_EQ(CountLines(""), 0U);
  EXPECT_EQ(CountLines("a"), 1U);
  EXPECT_EQ(CountLines("a\n"), 1U);
  EXPECT_EQ(CountLines("a\n\nb"), 3U);
}

TEST(LineEndsTest, EveryPlaceOfTheNarrowTextIsFoundInTheWideOne) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = random() % 20; i > 0; --i) text += "a\r\n"[random() % 3];
    const std::string plain = WithLineFeeds(text);
    LineEndWalk walk(text);
    for (std::size_t place = 0; place <= plain.size(); place += 1 + random() % 3) {
      ASSERT_EQ(WithLineFeeds(text.substr(0, walk.Seek(place))), plain.substr(0, place))
          << testing::PrintToString(text);
    }
  }
}

TEST(LineEndsTest, TheEndOfTheLineOneStandsInIsTold) {
  LineEndWalk walk("a\nbb\r\nc");
  EXPECT_EQ(walk.EndHere(), LineEnds::kLf);
  walk.Seek(2);
  EXPECT_EQ(walk.EndHere(), LineEnds::kCrLf);
  walk.Seek(6);
  EXPECT_EQ(walk.EndHere(), LineEnds::kCrLf);  // the last line end in the text
  EXPECT_EQ(LineEndWalk("abc").EndHere(), LineEnds::kNone);
}

}  // namespace
}  // namespace skerry::text
