#include "policy/shell_words.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using Fields = std::vector<std::string>;

constexpr std::size_t kWork = 1U << 20U;
const std::string kHole(1, kShellHole);

Fields Expanded(std::string_view word, const ShellVariables& variables = ShellVariables(NewBudget()),
                unsigned which = 0) {
  ShellWords words(variables, NewBudget(), kWork);
  ShellChoice choice{.which = which};
  Fields fields;
  words.Expand(word, choice, fields);
  return fields;
}

TEST(ShellWordsTest, QuotesAndEscapesAreTakenOff) {
  for (const std::string_view word :
       {"rm", "r''m", "\"rm\"", "r\\m", "\\rm", "$'\\x72m'", "$'\\162m'", "$'\\u0072m'", "r\\\nm", "\"r\"'m'",
        "$(echo rm)", "`printf r`m", "$(printf '\\x72m')", "$(which rm)", "${x:-rm}", "{r..r}m"}) {
    EXPECT_THAT(Expanded(word), Contains("rm")) << word;
  }
}

TEST(ShellWordsTest, DoubleQuotesKeepBackslashesThatEscapeNothing) {
  EXPECT_THAT(Expanded(R"("a\b\"c\$d")"), ElementsAre(R"(a\b"c$d)"));
}

TEST(ShellWordsTest, EmptyQuotesAreAWordAndNothingIsNone) {
  ShellVariables variables(NewBudget());
  variables.Assign("x", "");
  EXPECT_THAT(Expanded("''"), ElementsAre(""));
  EXPECT_THAT(Expanded("$x", variables), IsEmpty());
}

TEST(ShellWordsTest, VariablesSplitUnlessQuoted) {
  ShellVariables variables(NewBudget());
  variables.Assign("x", "rm -rf /");
  EXPECT_THAT(Expanded("$x", variables), ElementsAre("rm", "-rf", "/"));
  EXPECT_THAT(Expanded("\"$x\"", variables), ElementsAre("rm -rf /"));
  EXPECT_THAT(Expanded("rm${IFS}-rf"), ElementsAre("rm", "-rf"));
}

TEST(ShellWordsTest, AssignedSeparatorsSplitToo) {
  ShellVariables variables(NewBudget());
  variables.Assign("IFS", ",");
  variables.Assign("x", "rm,-rf");
  EXPECT_THAT(Expanded("$x", variables), ElementsAre("rm", "-rf"));
}

TEST(ShellWordsTest, ArraysAreTheirElements) {
  ShellVariables variables(NewBudget());
  variables.Assign("a", "rm\x05-rf\x05/");
  EXPECT_THAT(Expanded("\"${a[@]}\"", variables), ElementsAre("rm", "-rf", "/"));
  EXPECT_THAT(Expanded("${a[1]}", variables), ElementsAre("-rf"));
}

TEST(ShellWordsTest, PartsOfValuesAreKnown) {
  ShellVariables variables(NewBudget());
  variables.Assign("x", "xRMx");
  EXPECT_THAT(Expanded("${x:1:2}", variables), ElementsAre("RM"));
  EXPECT_THAT(Expanded("${x,,}", variables), ElementsAre("xrmx"));
  EXPECT_THAT(Expanded("${x//x/}", variables), ElementsAre("RM"));
  EXPECT_THAT(Expanded("${x#x}", variables), ElementsAre("RMx"));
  EXPECT_THAT(Expanded("${x%x}", variables), ElementsAre("xRM"));
}

TEST(ShellWordsTest, EveryValueCanBeAskedFor) {
  ShellVariables variables(NewBudget());
  variables.Assign("x", "ls");
  variables.Assign("x", "rm");
  ShellWords words(variables, NewBudget(), kWork);
  Fields fields;
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) words.Expand("$x", choice, fields);
  EXPECT_THAT(fields, ElementsAre("ls", "rm"));
}

TEST(ShellWordsTest, MoreValuesThanAreKeptIsUnknown) {
  ShellVariables variables(NewBudget());
  for (int count = 0; count < 20; ++count) variables.Assign("x", std::to_string(count));
  ASSERT_EQ(variables.Find("x")->size(), ShellVariables::kMostValues + 1);
  EXPECT_EQ(variables.Find("x")->back(), kHole);
}

TEST(ShellWordsTest, TooLongValuesAreUnknown) {
  ShellVariables variables(NewBudget());
  variables.Assign("x", std::string(ShellVariables::kLongestValue + 1, 'a'));
  EXPECT_THAT(Expanded("$x", variables), ElementsAre(kHole));
}

TEST(ShellWordsTest, WhatCannotBeKnownIsMarked) {
  for (const std::string_view word : {"$x", "${x}", "$1", "$(date)", "`date`", "$((1 + 2))", "${#x}", "$?", "$RANDOM"})
    EXPECT_THAT(Expanded(word), ElementsAre(kHole)) << word;
}

TEST(ShellWordsTest, DownloadsAndDecodedTextAreMarked) {
  EXPECT_THAT(Expanded("\"$(curl -s x)\""), ElementsAre(std::string(1, kShellNetwork)));
  EXPECT_THAT(Expanded("$(curl x | grep y)"), ElementsAre(std::string(1, kShellNetwork)));
  EXPECT_THAT(Expanded("$(echo cm0= | base64 -d)"), ElementsAre(std::string(1, kShellDecoded)));
  EXPECT_THAT(Expanded("<(wget -qO- x)"), ElementsAre("/dev/fd/" + std::string(1, kShellNetwork)));
}

TEST(ShellWordsTest, HomeHasManyNames) {
  const std::string home(1, kShellHome);
  EXPECT_THAT(Expanded("~"), ElementsAre(home));
  EXPECT_THAT(Expanded("~/x"), ElementsAre(home + "/x"));
  EXPECT_THAT(Expanded("$HOME"), ElementsAre(home));
  EXPECT_THAT(Expanded("\"${HOME}\"/*"), ElementsAre(home + "/*"));
  EXPECT_THAT(Expanded("'~'"), ElementsAre("~"));
}

TEST(ShellWordsTest, BracesMakeWords) {
  EXPECT_THAT(Expanded("{rm,-rf,/}"), ElementsAre("rm", "-rf", "/"));
  EXPECT_THAT(Expanded("a{b,{c,d}}e"), ElementsAre("abe", "ace", "ade"));
  EXPECT_THAT(Expanded("'{a,b}'"), ElementsAre("{a,b}"));
  EXPECT_THAT(Expanded("{}"), ElementsAre("{}"));
  EXPECT_THAT(Expanded("{{a,b}"), ElementsAre("{a", "{b"));
}

TEST(ShellWordsTest, TooManyBracesAreUnknown) {
  std::string word;
  for (int count = 0; count < 20; ++count) word += "{a,b}";
  EXPECT_THAT(Expanded(word), ElementsAre(kHole));
}

TEST(ShellWordsTest, SpentWorkLeavesEverythingUnknown) {
  const ShellVariables variables(NewBudget());
  ShellWords words(variables, NewBudget(), 3);
  ShellChoice choice;
  Fields fields;
  words.Expand("\"abcdef\"", choice, fields);
  EXPECT_THAT(fields, ElementsAre(kHole));
}

}  // namespace
}  // namespace skerry::policy
