#include "transport/kit/cursor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::transport::kit {
namespace {

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

}  // namespace
}  // namespace skerry::transport::kit
