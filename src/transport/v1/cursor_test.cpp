#include "transport/v1/cursor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::transport::v1 {
namespace {

using workspace::SearchPosition;

TEST(CursorTest, AnyNameComesBackAndNeedsNoEscapesInAnAddress) {
  const std::vector<std::string> names = {
      "", "a", "ab", "abc", "a/b c+d", "\xff\xfe\xfb", std::string("x\0y", 3), std::string(255, '\x7f')};
  for (const std::string& name : names) {
    const std::string cursor = EncodeCursor(name);
    EXPECT_TRUE(std::ranges::all_of(cursor, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; }))
        << cursor;
    const auto decoded = DecodeCursor(cursor);
    ASSERT_TRUE(decoded) << cursor;
    EXPECT_EQ(*decoded, name);
  }
}

TEST(CursorTest, WhatWasNotGivenOutIsRefused) {
  for (const std::string& text :
       {std::string("a"), std::string("YQ=="), std::string("YR"), std::string("Y Q"), std::string("Y\nQ"),
        std::string("%%"), std::string("//"), std::string(kLongestCursor + 4, 'A')}) {
    const auto decoded = DecodeCursor(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code, base::Code::kInvalidArgument);
  }
}

TEST(CursorTest, APositionOfASearchComesBack) {
  for (const SearchPosition& position :
       {SearchPosition{"a b/c", 7}, SearchPosition{" \xff", 0}, SearchPosition{"x", SearchPosition::kWholeFile}}) {
    const auto parsed = ParseSearchCursor(SearchCursor(position));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, position);
  }
}

TEST(CursorTest, WhatIsNoPositionIsRefused) {
  for (const char* text : {"", "7", "7 ", " a", "-1 a", "x a", "99999999999999999999 a", "7a b"})
    EXPECT_FALSE(ParseSearchCursor(EncodeCursor(text))) << text;
}

}  // namespace
}  // namespace skerry::transport::v1
