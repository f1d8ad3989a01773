#include "policy/texts.hpp"

#include <gtest/gtest.h>

#include "policy/values.hpp"

namespace skerry::policy {
namespace {

const std::string kUnknown(1, kHole);

TEST(TextsTest, EscapesAreRead) {
  EXPECT_EQ(Unescaped("plain"), "plain");
  EXPECT_EQ(Unescaped(R"(\x65v\141l)"), "eval");
  EXPECT_EQ(Unescaped(R"(\u0065\u{76}\U00000061l)"), "eval");
  EXPECT_EQ(Unescaped(R"(a\n\t\\\'b)"), "a\n\t\\'b");
  EXPECT_EQ(Unescaped("ev\\\nal"), "eval");
  EXPECT_EQ(Unescaped(R"(\u00e9)"), "é");
  EXPECT_EQ(Unescaped(R"(\N{LATIN SMALL LETTER E}val)"), kUnknown + "val");
}

TEST(TextsTest, BrokenEscapesDoNotReadBeyondTheText) {
  EXPECT_EQ(Unescaped("\\"), "\\");
  EXPECT_EQ(Unescaped("\\x"), "x");
  EXPECT_EQ(Unescaped("\\x4"), "x4");
  EXPECT_EQ(Unescaped("\\u{65"), "u{65");
  EXPECT_EQ(Unescaped("\\N{"), kUnknown + "{");
}

TEST(TextsTest, FormatsBecomeHoles) {
  EXPECT_EQ(WithHoles("rm %s now", '%'), "rm " + kUnknown + " now");
  EXPECT_EQ(WithHoles("rm {} {x!r:>3}", '{'), "rm " + kUnknown + " " + kUnknown);
  EXPECT_EQ(WithHoles("100%% sure", '%'), "100% sure");
}

TEST(TextsTest, NumbersBecomeCharacters) {
  EXPECT_EQ(CharacterNumbered("101"), "e");
  EXPECT_EQ(CharacterNumbered("0x65"), "e");
  EXPECT_EQ(CharacterNumbered("x"), kUnknown);
  EXPECT_EQ(CharacterNumbered("-1"), kUnknown);
}

TEST(TextsTest, WhatDecodesIsDecoded) {
  EXPECT_EQ(FromBase64("c3lzdGVt"), "system");
  EXPECT_EQ(FromBase64("ZXZhbA=="), "eval");
  EXPECT_EQ(FromHex("6576616c"), "eval");
  EXPECT_EQ(FromHex("65 76 61 6c"), "eval");
}

TEST(TextsTest, WhatDoesNotDecodeIsNotKnown) {
  EXPECT_EQ(FromBase64("a b!"), kUnknown);
  EXPECT_EQ(FromBase64("/////w=="), kUnknown);
  EXPECT_EQ(FromHex("6"), kUnknown);
  EXPECT_EQ(FromHex("zz"), kUnknown);
}

TEST(TextsTest, HolesAreFilled) {
  EXPECT_EQ(Filled("rm " + kUnknown, "${x}"), "rm ${x}");
  EXPECT_EQ(Filled("", "x"), "");
}

}  // namespace
}  // namespace skerry::policy
