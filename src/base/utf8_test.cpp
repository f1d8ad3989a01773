#include "base/utf8.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

using std::string_view_literals::operator""sv;

TEST(Utf8Test, AcceptsWellFormedText) {
  for (std::string_view text :
       {""sv, "plain"sv, "gr\xC3\xBC\xC3\x9F"sv, "\xE5\xB2\x9B"sv, "\xF0\x9F\xAA\xA8"sv, "a\0b"sv})
    EXPECT_TRUE(IsValidUtf8(text)) << text;
}

TEST(Utf8Test, RefusesMalformedText) {
  for (std::string_view text : {"\xFF"sv, "\xC3"sv, "\xC0\xAE"sv, "\xE0\x80\xAF"sv, "\xED\xA0\x80"sv,
                                "\xF4\x90\x80\x80"sv, "\xF8\x88\x80\x80\x80"sv, "ok\x80"sv})
    EXPECT_FALSE(IsValidUtf8(text)) << testing::PrintToString(std::string(text));
}

TEST(Utf8Test, ReplacesOnlyWhatIsBroken) {
  EXPECT_EQ(ToValidUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ToValidUtf8("\xC3\xBC"), "\xC3\xBC");
  EXPECT_TRUE(IsValidUtf8(ToValidUtf8("\xE5\xB2\xFF\xC0")));
}

TEST(Utf8Test, TheFirstCharacterHasItsPointAndItsLength) {
  const auto expect = [](std::string_view text, char32_t point, std::size_t length) {
    const auto first = FirstUtf8Character(text);
    ASSERT_TRUE(first.has_value()) << text;
    EXPECT_EQ(first->point, point);
    EXPECT_EQ(first->length, length);
  };
  expect("az", U'a', 1);
  expect("\0z"sv, U'\0', 1);
  expect("\xC3\xBCz", U'\u00FC', 2);
  expect("\xE5\xB2\x9Bz", U'\u5C9B', 3);
  expect("\xF0\x9F\xAA\xA8z", U'\U0001FAA8', 4);
}

TEST(Utf8Test, WhatIsNotWellFormedHasNoFirstCharacter) {
  for (std::string_view text :
       {""sv, "\x80"sv, "\xFFz"sv, "\xC3"sv, "\xC0\xAE"sv, "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv})
    EXPECT_FALSE(FirstUtf8Character(text).has_value()) << testing::PrintToString(std::string(text));
}

}  // namespace
}  // namespace skerry::base
