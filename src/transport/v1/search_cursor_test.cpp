#include "transport/v1/search_cursor.hpp"

#include <gtest/gtest.h>

#include "transport/kit/cursor.hpp"

namespace skerry::transport::v1 {
namespace {

using workspace::SearchPosition;

TEST(SearchCursorTest, APositionOfASearchComesBack) {
  for (const SearchPosition& position :
       {SearchPosition{"a b/c", 7}, SearchPosition{" \xff", 0}, SearchPosition{"x", SearchPosition::kWholeFile}}) {
    const auto parsed = ParseSearchCursor(SearchCursor(position));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, position);
  }
}

TEST(SearchCursorTest, WhatIsNoPositionIsRefused) {
  for (const char* text : {"", "7", "7 ", " a", "-1 a", "x a", "99999999999999999999 a", "7a b"})
    EXPECT_FALSE(ParseSearchCursor(kit::EncodeCursor(text))) << text;
}

}  // namespace
}  // namespace skerry::transport::v1
