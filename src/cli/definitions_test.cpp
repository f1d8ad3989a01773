#include "cli/definitions.hpp"

#include <optional>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A small command line with one of everything.
class DefinitionsTest : public testing::Test {
 protected:
  DefinitionsTest() {
    app_.name("skerry");
    CLI::App* run = app_.add_subcommand("run", "Runs code");
    run->add_option("code", text_, "The code")->required()->option_text("CODE|-");
    run->add_option("-f,--file", text_, "A file")->option_text("FILE");
    run->add_option("-l,--language", text_, "Which")->option_text("LANGUAGE");
    run->add_option("--mode", text_, "How")->option_text("MODE");
    run->add_option("--env", list_, "A variable")->option_text("NAME=VALUE")->allow_extra_args(false);
    run->add_option("--secret", text_, "Refused")->group("");
    run->add_flag("--json", flag_, "As an object");
    run->footer("Example:\n  skerry run 1");
    CLI::App* session = app_.add_subcommand("session", "Sessions");
    CLI::App* create = session->add_subcommand("create", "Makes one");
    create->add_option("--mode", text_, "How")->option_text("MODE");
    session->add_subcommand("delete", "Ends some")->add_option("sessions", list_, "Them")->option_text("SESSION...");
    app_.add_subcommand("keeper", "Not for people")->group("");
  }

  [[nodiscard]] CommandDefinition Command(const std::vector<std::string>& words) const {
    const CommandDefinition root = DefinitionsOf(app_);
    const CommandDefinition* found = FindCommand(root, words);
    return found == nullptr ? CommandDefinition{} : *found;
  }
  [[nodiscard]] OptionDefinition Option(const std::vector<std::string>& words, const std::string& name) const {
    for (const OptionDefinition& option : Command(words).options)
      if (option.names.back() == name) return option;
    return {};
  }

  CLI::App app_{"Runs what agents write"};
  std::string text_;
  std::vector<std::string> list_;
  bool flag_ = false;
};

TEST_F(DefinitionsTest, CommandsAreFoundAtAnyDepth) {
  EXPECT_EQ(Command({"session", "create"}).Joined("-"), "skerry-session-create");
  EXPECT_EQ(Command({"session", "create"}).description, "Makes one");
}

TEST_F(DefinitionsTest, WhatIsNoCommandIsNotFound) {
  const CommandDefinition root = DefinitionsOf(app_);
  EXPECT_EQ(FindCommand(root, std::vector<std::string>{"session", "nothing"}), nullptr);
}

TEST_F(DefinitionsTest, HiddenCommandsAreLeftOut) {
  std::vector<std::string> names;
  for (const CommandDefinition& command : DefinitionsOf(app_).commands) names.push_back(command.name());
  EXPECT_THAT(names, ElementsAre("run", "session"));
}

TEST_F(DefinitionsTest, HiddenOptionsAreLeftOut) {
  EXPECT_THAT(Option({"run"}, "--secret").names, IsEmpty());
}

TEST_F(DefinitionsTest, OptionsHaveTheirNamesAndTexts) {
  const OptionDefinition file = Option({"run"}, "--file");
  EXPECT_THAT(file.names, ElementsAre("-f", "--file"));
  EXPECT_EQ(file.description, "A file");
  EXPECT_EQ(file.value.name, "FILE");
}

TEST_F(DefinitionsTest, AFlagTakesNoValue) {
  EXPECT_EQ(Option({"run"}, "--json").value.kind, ValueKind::kNone);
}

TEST_F(DefinitionsTest, HelpIsAnOptionOfEveryCommand) {
  EXPECT_THAT(Option({"session", "create"}, "--help").names, ElementsAre("-h", "--help"));
}

TEST_F(DefinitionsTest, TheNameOfAValueTellsItsKind) {
  EXPECT_EQ(Option({"run"}, "--file").value.kind, ValueKind::kFile);
  EXPECT_EQ(Command({"session", "delete"}).arguments.at(0).value.kind, ValueKind::kSession);
  EXPECT_EQ(Command({"run"}).arguments.at(0).value.kind, ValueKind::kText);
}

TEST_F(DefinitionsTest, ValuesWithAListHaveTheirWords) {
  EXPECT_THAT(Option({"run"}, "--language").value.words, ElementsAre("python", "javascript", "shell"));
}

TEST_F(DefinitionsTest, TheSameOptionHasOtherWordsInAnotherCommand) {
  EXPECT_THAT(Option({"run"}, "--mode").value.words, ElementsAre("strict", "permissive"));
  EXPECT_THAT(Option({"session", "create"}, "--mode").value.words, ElementsAre("per-session", "shared", "disabled"));
}

TEST_F(DefinitionsTest, WhatMayBeRepeatedIsKnown) {
  EXPECT_EQ(Option({"run"}, "--env").repeat, Repeat::kOften);
  EXPECT_EQ(Option({"run"}, "--file").repeat, Repeat::kOnce);
  EXPECT_EQ(Command({"session", "delete"}).arguments.at(0).repeat, Repeat::kOften);
}

TEST_F(DefinitionsTest, WhatIsRequiredIsKnown) {
  EXPECT_EQ(Command({"run"}).arguments.at(0).need, Need::kRequired);
  EXPECT_EQ(Command({"session", "delete"}).arguments.at(0).need, Need::kOptional);
}

TEST_F(DefinitionsTest, AllCommandsBeginWithThoseAbove) {
  const CommandDefinition root = DefinitionsOf(app_);
  std::vector<std::string> names;
  for (const CommandDefinition* command : AllCommands(root)) names.push_back(command->Joined());
  EXPECT_THAT(names,
              ElementsAre("skerry", "skerry run", "skerry session", "skerry session create", "skerry session delete"));
}

}  // namespace
}  // namespace skerry::cli
