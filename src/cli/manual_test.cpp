#include "cli/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ManualTest, LettersThatRoffReadsOtherwiseAreEscaped) {
  struct Row {
    const char* text;
    const char* escaped;
  };
  for (const Row& row : {Row{"a\\nb", "a\\enb"}, Row{"--json", "\\-\\-json"}, Row{"'x'", "\\(aqx\\(aq"},
                         Row{"\"x\"", "\\(dqx\\(dq"}, Row{"`x`", "\\(gax\\(ga"}, Row{"~/x^", "\\(ti/x\\(ha"},
                         Row{".TH x", "\\&.TH x"}, Row{"a.b", "a.b"}, Row{"a\n.b", "a\n\\&.b"}, Row{"", ""}})
    EXPECT_EQ(RoffEscaped(row.text), row.escaped) << row.text;
}

TEST(ManualTest, LettersBeyondAsciiAreWrittenByNumber) {
  EXPECT_EQ(RoffEscaped("é→岛😀"), "\\[u00E9]\\[u2192]\\[u5C9B]\\[u1F600]");
}

CommandDefinition Run() {
  return {.path = {"skerry", "run"},
          .description = "Run code",
          .footer = "Text of\nits own.\n\nExamples:\n  skerry run 'a\\n'\n  .x\n\nExit codes: 124 timeout.",
          .options = {{.names = {"-f", "--file"},
                       .description = "Read FILE",
                       .value = {.kind = ValueKind::kFile, .name = "FILE", .words = {}}},
                      {.names = {"--json"}, .description = ".", .value = {}}},
          .arguments = {{.description = "The code",
                         .value = {.kind = ValueKind::kText, .name = "CODE|-", .words = {}},
                         .need = Need::kRequired},
                        {.description = "More", .value = {.kind = ValueKind::kText, .name = "MORE", .words = {}}}},
          .commands = {}};
}

CommandDefinition Root() {
  return {.path = {"skerry"},
          .description = "Runs what agents write.",
          .footer = "",
          .options = {},
          .arguments = {},
          .commands = {Run()}};
}

std::string RunPage() {
  const CommandDefinition root = Root();
  return ManualPage(root.commands.front(), root, "1.2");
}

TEST(ManualTest, ThePageBeginsWithNameAndVersion) {
  EXPECT_TRUE(
      RunPage().starts_with(".TH \"SKERRY\\-RUN\" 1 \"\" \"Skerry 1.2\" \"Skerry Manual\"\n"
                            ".SH NAME\nskerry\\-run \\- Run code\n"));
}

TEST(ManualTest, TheSynopsisTellsWhatMayBeLeftOut) {
  EXPECT_THAT(RunPage(), HasSubstr(".SH SYNOPSIS\n\\fBskerry run\\fR [\\fIOPTIONS\\fR] \\fICODE|\\-\\fR "
                                   "[\\fIMORE\\fR]\n"));
}

TEST(ManualTest, OptionsAreListedWithTheirValues) {
  EXPECT_THAT(RunPage(), HasSubstr(".TP\n\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\nRead FILE\n"));
}

TEST(ManualTest, ADescriptionIsNeverARequest) {
  EXPECT_THAT(RunPage(), HasSubstr(".TP\n\\fB\\-\\-json\\fR\n\\&.\n"));
}

TEST(ManualTest, ExamplesAreShownAsTheyAre) {
  EXPECT_THAT(RunPage(), HasSubstr(".SH EXAMPLES\n.nf\nskerry run \\(aqa\\en\\(aq\n\\&.x\n.fi\n"));
}

TEST(ManualTest, ExitCodesHaveASectionOfTheirOwn) {
  EXPECT_THAT(RunPage(), HasSubstr(".SH EXIT STATUS\n124 timeout.\n"));
}

TEST(ManualTest, OtherTextBelongsToTheDescription) {
  EXPECT_THAT(RunPage(), HasSubstr(".SH DESCRIPTION\nRun code.\n.PP\nText of\nits own.\n"));
}

TEST(ManualTest, SectionsThatWouldBeEmptyAreLeftOut) {
  const CommandDefinition root = Root();
  const std::string page = ManualPage(root, root, "1");
  for (const char* section : {".SH OPTIONS", ".SH ARGUMENTS", ".SH EXAMPLES", ".SH EXIT STATUS"})
    EXPECT_THAT(page, Not(HasSubstr(section)));
}

TEST(ManualTest, PagesReferToThoseAboveAndBelow) {
  const CommandDefinition root = Root();
  EXPECT_THAT(RunPage(), HasSubstr(".SH SEE ALSO\n\\fBskerry\\fR(1)\n"));
  EXPECT_THAT(ManualPage(root, root, "1"), HasSubstr(".SH SEE ALSO\n\\fBskerry\\-run\\fR(1)\n"));
}

TEST(ManualTest, TheFileIsCalledAsManLooksForIt) {
  EXPECT_EQ(ManualFileName(Root().commands.front()), "skerry-run.1");
}

}  // namespace
}  // namespace skerry::cli
