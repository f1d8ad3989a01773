#include "policy/identifiers.hpp"

#include <gtest/gtest.h>

#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

TEST(IdentifiersTest, LettersAreFoldedAsPythonFoldsThem) {
  EXPECT_EQ(FoldLookalikes("eval"), "eval");
  EXPECT_EQ(FoldLookalikes("ｅｖａｌ"), "eval");
  EXPECT_EQ(FoldLookalikes("𝐞𝓋𝖆𝚕"), "eval");
  EXPECT_EQ(FoldLookalikes("ℯᵛªˡ"), "eval");
  EXPECT_EQ(FoldLookalikes("ᵒₛ"), "os");
  EXPECT_EQ(FoldLookalikes("ſyﬆem"), "system");
  EXPECT_EQ(FoldLookalikes("ⅽoⅿpⅰⅼe"), "compile");
  EXPECT_EQ(FoldLookalikes("︳＿import﹍﹎"), "__import__");
  EXPECT_EQ(FoldLookalikes("x𝟙"), "x1");
}

TEST(IdentifiersTest, OtherLettersStay) {
  EXPECT_EQ(FoldLookalikes("größe"), "größe");
  EXPECT_EQ(FoldLookalikes("еval"), "еval") << "a Cyrillic letter is another one for Python, too";
  EXPECT_EQ(FoldLookalikes("名前"), "名前");
}

TEST(IdentifiersTest, BrokenUtf8IsKept) {
  EXPECT_EQ(FoldLookalikes("a\xFF"), "a\xFF");
  EXPECT_EQ(FoldLookalikes("a\xF0\x9D"), "a\xF0\x9D");
}

TEST(IdentifiersTest, EscapesAreReadAsJavaScriptReadsThem) {
  EXPECT_EQ(UnescapedIdentifier("\\u0065val"), "eval");
  EXPECT_EQ(UnescapedIdentifier("ev\\u{61}l"), "eval");
}

TEST(SpellingsTest, AnIdentifierInItsUsualSpellingIsItself) {
  Spellings spellings(FoldLookalikes, NewBudget());
  const std::string_view name = "eval";
  EXPECT_EQ(spellings.Normal(name).data(), name.data());
}

TEST(SpellingsTest, WhatWasGivenOutStays) {
  Spellings spellings(FoldLookalikes, NewBudget());
  const std::string_view first = spellings.Normal("ᵒs");
  for (int i = 0; i < 1000; ++i) (void)spellings.Normal("ᵉval");
  EXPECT_EQ(first, "os");
}

}  // namespace
}  // namespace skerry::policy
