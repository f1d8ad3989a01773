// tests/e2e/comfort_test.py tests the scripts with real shells.
#include "cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using testing::HasSubstr;

CommandDefinition Root() {
  const CommandDefinition command{
      .path = {"skerry", "run"},
      .description = "Don't: run",
      .footer = "",
      .options = {{.names = {"-l", "--language"},
                   .description = "It's [one]: of $(these)",
                   .value = {.kind = ValueKind::kWords, .name = "LANGUAGE", .words = {"python", "shell"}}},
                  {.names = {"--env"},
                   .description = "",
                   .value = {.kind = ValueKind::kText, .name = "NAME", .words = {}},
                   .repeat = Repeat::kOften}},
      .arguments = {{.description = "", .value = {.kind = ValueKind::kSession, .name = "SESSION", .words = {}}}},
      .commands = {}};
  return {.path = {"skerry"}, .description = "", .footer = "", .options = {}, .arguments = {}, .commands = {command}};
}

TEST(CompletionTest, QuotedTextStaysInsideOfItsQuotes) {
  EXPECT_EQ(ShellQuoted("it's $(x)"), R"('it'\''s $(x)')");
}

TEST(CompletionTest, OnlyNamesOfTheDaemonAreAskedFor) {
  EXPECT_EQ(NamesAskedFor(ValueKind::kSession), "sessions");
  EXPECT_EQ(NamesAskedFor(ValueKind::kApproval), "approvals");
  EXPECT_EQ(NamesAskedFor(ValueKind::kFile), "");
}

TEST(CompletionTest, BashKnowsWhatAnOptionTakes) {
  EXPECT_THAT(BashCompletion(Root()),
              HasSubstr("'skerry run -l' | 'skerry run --language') wanted='words python shell' ;;"));
}

TEST(CompletionTest, BashKnowsWhatStandsInAPlace) {
  EXPECT_THAT(BashCompletion(Root()), HasSubstr("'skerry run 0') wanted='sessions' ;;"));
}

TEST(CompletionTest, ZshDescriptionsAreEscaped) {
  EXPECT_THAT(ZshCompletion(Root()),
              HasSubstr(R"('(-l --language)--language=[It'\''s \[one\]\: of \$(these)]:LANGUAGE:(python shell)')"));
}

TEST(CompletionTest, ZshOffersAgainWhatMayBeRepeated) {
  EXPECT_THAT(ZshCompletion(Root()), HasSubstr("'*--env=[]:NAME: '"));
}

TEST(CompletionTest, FishDescriptionsAreEscaped) {
  EXPECT_THAT(FishCompletion(Root()),
              HasSubstr(R"( -s l -l language -x -a 'python shell' -d 'It\'s [one]: of $(these)')"));
}

TEST(CompletionTest, FishOffersACommandInItsPlaceOnly) {
  EXPECT_THAT(FishCompletion(Root()),
              HasSubstr(R"(complete -c skerry -n '__skerry_at "skerry" 0' -a run -d 'Don\'t: run')"));
}

}  // namespace
}  // namespace skerry::cli
