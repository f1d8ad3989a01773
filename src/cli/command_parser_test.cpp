#include "cli/command_parser.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kRefused = 125;

// The outcome of a command line.
struct Ended {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Ended RunLine(const Command& root, std::vector<const char*> words) {
  words.insert(words.begin(), "skerry");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ended ended{.exit_code = RunCommandLine(root, static_cast<int>(words.size()), words.data())};
  ended.out = testing::internal::GetCapturedStdout();
  ended.err = testing::internal::GetCapturedStderr();
  return ended;
}

// A command with one option or argument of every kind.
class CommandParserTest : public testing::Test {
 protected:
  CommandParserTest() {
    run_ = {.name = "run",
            .description = "Runs it",
            .footer = "The end.",
            .arguments = {{.name = "first", .value = Value::Text("FIRST"), .to = &first_},
                          {.name = "second", .value = Value::Text("SECOND"), .to = &second_}},
            .options = {{.names = "-q,--quiet", .description = "Says less", .to = &flag_},
                        {.names = "-t,--text", .value = Value::Text("TEXT"), .to = &text_},
                        {.names = "--maybe", .value = Value::Text("TEXT"), .to = &maybe_},
                        {.names = "--number", .value = Value::Text("N"), .to = &number_},
                        {.names = "--count", .value = Value::Text("N"), .to = &count_, .bounds = Positive{}},
                        {.names = "--share", .value = Value::Text("N"), .to = &share_, .bounds = Range{0.5, 2.0}},
                        {.names = "--level", .value = Value::Text("N"), .to = &level_, .bounds = Range{1, 9}},
                        {.names = "--env", .value = Value::Text("NAME"), .to = &one_each_},
                        {.names = "--two", .to = &two_, .following = Following::kUpToTwo},
                        {.names = "-f,--file", .to = &any_, .following = Following::kAny},
                        {.names = "--secret", .to = &text_, .visibility = Visibility::kHidden}},
            .action = [this] { return ++runs_, exit_code_; }};
  }

  // The command is called run.
  Ended Run(std::vector<const char*> words) {
    words.insert(words.begin(), "run");
    runs_ = 0;
    return RunLine({.name = "skerry", .description = "All of it", .commands = {run_}}, std::move(words));
  }
  // The line has to be read without complaint.
  void Read(std::vector<const char*> words) {
    const Ended ended = Run(std::move(words));
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.err, "");
    EXPECT_EQ(runs_, 1);
  }
  // The line on stderr for a command line that is refused.
  std::string Refused(std::vector<const char*> words) {
    const Ended ended = Run(std::move(words));
    EXPECT_EQ(ended.exit_code, kRefused);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(runs_, 0);
    return ended.err;
  }

  Command run_;
  std::string first_;
  std::optional<std::string> second_;
  bool flag_ = false;
  std::string text_ = "as it was";
  std::optional<std::string> maybe_;
  std::uint64_t number_ = 7;
  std::optional<std::uint64_t> count_;
  double share_ = 1;
  unsigned level_ = 1;
  std::vector<std::string> one_each_;
  std::vector<std::string> two_;
  std::vector<std::string> any_;
  base::Result<int> exit_code_ = 0;
  int runs_ = 0;
};

TEST_F(CommandParserTest, WhatIsNotGivenStaysAsItWas) {
  Read({});
  EXPECT_FALSE(flag_);
  EXPECT_EQ(text_, "as it was");
  EXPECT_EQ(maybe_, std::nullopt);
  EXPECT_EQ(number_, 7U);
  EXPECT_EQ(count_, std::nullopt);
  EXPECT_THAT(one_each_, IsEmpty());
}

TEST_F(CommandParserTest, ValuesGoWhereTheyShall) {
  Read({"-q", "-t", "a", "--maybe=b", "--number", "8", "--count", "9", "--share", "1.5", "--level", "3", "c"});
  EXPECT_TRUE(flag_);
  EXPECT_EQ(text_, "a");
  EXPECT_EQ(maybe_, "b");
  EXPECT_EQ(number_, 8U);
  EXPECT_EQ(count_, 9U);
  EXPECT_EQ(share_, 1.5);
  EXPECT_EQ(level_, 3U);
  EXPECT_EQ(first_, "c");
}

TEST_F(CommandParserTest, AnEmptyTextIsAText) {
  Read({"--text", "", "--maybe", "", "a", ""});
  EXPECT_EQ(text_, "");
  EXPECT_EQ(maybe_, "");
  EXPECT_EQ(second_, "");
}

TEST_F(CommandParserTest, AListTakesOneValueForEachMention) {
  Read({"--env", "a", "b", "--env", "c"});
  EXPECT_THAT(one_each_, ElementsAre("a", "c"));
  EXPECT_EQ(first_, "b");
}

TEST_F(CommandParserTest, AListMayTakeAllThatFollow) {
  Read({"-f", "a", "b", "c", "-f", "d"});
  EXPECT_THAT(any_, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(first_, "");
}

TEST_F(CommandParserTest, AListMayTakeTwo) {
  Read({"--two", "a", "--two", "b"});
  EXPECT_THAT(two_, ElementsAre("a", "b"));
  EXPECT_THAT(Refused({"--two", "a", "b", "c"}), HasSubstr("--two: At Most 2 required but received 3"));
}

TEST_F(CommandParserTest, BehindTwoDashesNothingIsAnOption) {
  Read({"--", "-q"});
  EXPECT_FALSE(flag_);
  EXPECT_EQ(first_, "-q");
}

TEST_F(CommandParserTest, HiddenOptionsWorkAndAreNotShown) {
  Read({"--secret", "a"});
  EXPECT_EQ(text_, "a");
  EXPECT_THAT(Run({"--help"}).out, Not(HasSubstr("--secret")));
}

TEST_F(CommandParserTest, HelpIsPrintedAndNothingRuns) {
  const Ended ended = Run({"--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, StartsWith("Runs it\nUsage: skerry run [OPTIONS] [first] [second]\n"));
  EXPECT_THAT(ended.out, HasSubstr("  -h,--help                   Print this help message and exit\n"
                                   "  -q,--quiet                  Says less\n"
                                   "  -t,--text TEXT"));
  EXPECT_THAT(ended.out, HasSubstr("\nThe end.\n"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandParserTest, WhatCannotBeReadIsOneLineThatSaysWhereToReadMore) {
  EXPECT_EQ(Refused({"--nothing"}), "skerry: there is no option --nothing; see skerry run --help\n");
}

TEST_F(CommandParserTest, ASlipIsToldWithWhatWasMeant) {
  EXPECT_EQ(Refused({"--txt", "5", "a", "b"}),
            "skerry: there is no option --txt (did you mean --text?); see skerry run --help\n");
  EXPECT_EQ(Refused({"--txt=5"}), "skerry: there is no option --txt=5 (did you mean --text?); see skerry run --help\n");
  EXPECT_EQ(Refused({"-z"}), "skerry: there is no option -z; see skerry run --help\n");
  run_.arguments.front().need = Need::kRequired;
  EXPECT_THAT(Refused({"--quite"}), HasSubstr("there is no option --quite (did you mean --quiet?)"));
  std::vector<std::string> rest;
  run_.rest = &rest;
  EXPECT_THAT(Refused({"a", "b", "--quite", "--", "c"}),
              HasSubstr("--quite (did you mean --quiet?); what is not for skerry comes behind --; see"));
}

TEST_F(CommandParserTest, LinesThatMakeNoSenseAreRefused) {
  struct Row {
    std::vector<const char*> words;
    const char* told;
  };
  for (const Row& row :
       {Row{{"a", "b", "c"}, "not expected: c"}, Row{{"-t"}, "1 required"},
        Row{{"--number", "x"}, "Could not convert: --number = x"},
        Row{{"--count", "0"}, "--count: Value 0 not in range"},
        Row{{"--share", "0.4"}, "--share: Value 0.4 not in range 0.5"},
        Row{{"--level", "10"}, "--level: Value 10 not in range 1 to 9"},
        Row{{"--level", "1.5"}, "--level: Value 1.5 not in range 1 to 9"}, Row{{"-t", "a", "-t", "b"}, "--text"}})
    EXPECT_THAT(Refused(row.words), HasSubstr(row.told));
}

TEST_F(CommandParserTest, WhatIsRequiredHasToBeThere) {
  run_.arguments.front().need = Need::kRequired;
  EXPECT_THAT(Refused({}), HasSubstr("first is required"));
}

TEST_F(CommandParserTest, TheExitCodeIsThatOfTheAction) {
  exit_code_ = 3;
  EXPECT_EQ(Run({}).exit_code, 3);
}

TEST_F(CommandParserTest, AnErrorOfTheActionIsToldOnStderr) {
  exit_code_ = base::Err(base::Code::kNotFound, "there is none");
  const Ended ended = Run({"-q"});
  EXPECT_EQ(ended.exit_code, kRefused);
  EXPECT_EQ(ended.err, "skerry: there is none\n");
  EXPECT_EQ(ended.out, "");
}

TEST_F(CommandParserTest, ProgramsGetAnErrorAsAnObjectWhenTheyAskedForIt) {
  exit_code_ = base::Err(base::Code::kNotFound, "there is none");
  run_.errors_as_json = &flag_;
  EXPECT_EQ(Run({}).out, "");
  EXPECT_THAT(Run({"-q"}).out, StartsWith(R"({"success":false,"error":"there is none")"));
}

TEST_F(CommandParserTest, WhatALibraryThrowsIsAnError) {
  run_.action = []() -> base::Result<int> { throw std::runtime_error("too much"); };
  EXPECT_EQ(Run({}).err, "skerry: too much\n");
}

TEST_F(CommandParserTest, TheRestIsLeftToTheCommand) {
  std::vector<std::string> rest;
  run_.rest = &rest;
  Read({"a", "--", "b", "-q", "[c,d]"});
  EXPECT_FALSE(flag_);
  EXPECT_EQ(second_, "b");
  EXPECT_THAT(rest, ElementsAre("--", "-q", "[c,d]"));
}

// A command with an action and a command below it, and one that has only commands.
class CommandsBelowTest : public testing::Test {
 protected:
  CommandsBelowTest() {
    const auto saying = [this](const char* name) { return [this, name] { return said_.emplace_back(name), 0; }; };
    root_ = {.name = "skerry",
             .commands = {{.name = "history",
                           .options = {{.names = "--json", .to = &json_}},
                           .commands = {{.name = "file", .action = saying("file")}},
                           .action = saying("history")},
                          {.name = "session", .commands = {{.name = "list", .action = saying("list")}}},
                          {.name = "keeper", .action = saying("keeper"), .visibility = Visibility::kHidden}}};
  }

  Command root_;
  bool json_ = false;
  std::vector<std::string> said_;
};

TEST_F(CommandsBelowTest, OneWithoutAnActionNeedsOne) {
  EXPECT_EQ(RunLine(root_, {}).err, "skerry: A subcommand is required; see skerry --help\n");
  EXPECT_EQ(RunLine(root_, {"session"}).err, "skerry: A subcommand is required; see skerry session --help\n");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(CommandsBelowTest, AMistypedOneIsToldWithTheNearest) {
  EXPECT_EQ(RunLine(root_, {"sesion", "list"}).err,
            "skerry: there is no command sesion (did you mean session?); see skerry --help\n");
  EXPECT_EQ(RunLine(root_, {"session", "lsit"}).err,
            "skerry: there is no command lsit (did you mean list?); see skerry session --help\n");
  EXPECT_EQ(RunLine(root_, {"history", "fil"}).err,
            "skerry: there is no command fil (did you mean file?); see skerry history --help\n");
  EXPECT_EQ(RunLine(root_, {"keepr"}).err, "skerry: there is no command keepr; see skerry --help\n");
}

TEST_F(CommandsBelowTest, OneWithAnActionCanDoWithout) {
  EXPECT_EQ(RunLine(root_, {"history"}).exit_code, 0);
  EXPECT_THAT(said_, ElementsAre("history"));
}

TEST_F(CommandsBelowTest, TheActionAboveIsNotForLinesThatNameOneBelow) {
  EXPECT_EQ(RunLine(root_, {"history", "--json", "file"}).exit_code, 0);
  EXPECT_TRUE(json_);
  EXPECT_THAT(said_, ElementsAre("file"));
}

TEST_F(CommandsBelowTest, HiddenOnesWorkAndAreNotShown) {
  EXPECT_THAT(RunLine(root_, {"--help"}).out, Not(HasSubstr("keeper")));
  RunLine(root_, {"keeper"});
  EXPECT_THAT(said_, ElementsAre("keeper"));
}

}  // namespace
}  // namespace skerry::cli
