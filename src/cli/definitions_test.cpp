#include "cli/definitions.hpp"

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
    const cli::Command run = {
        .name = "run",
        .description = "Runs code",
        .footer = "Example:\n  skerry run 1",
        .arguments = {{.name = "code",
                       .value = Value::Text("CODE|-"),
                       .description = "The code",
                       .to = &text_,
                       .need = Need::kRequired}},
        .options = {
            {.names = "-f,--file", .value = Value::File(), .description = "A file", .to = &text_},
            {.names = "-l,--language", .value = Value::OneOf("LANGUAGE", {"python", "shell"}), .to = &text_},
            {.names = "--env", .value = Value::Text("NAME=VALUE"), .description = "A variable", .to = &list_},
            {.names = "--secret", .value = Value::Text("TEXT"), .to = &text_, .visibility = Visibility::kHidden},
            {.names = "--json", .description = "As an object", .to = &flag_}}};
    const cli::Command session = {
        .name = "session",
        .description = "Sessions",
        .commands = {{.name = "create", .description = "Makes one"},
                     {.name = "delete",
                      .description = "Ends some",
                      .arguments = {{.name = "sessions", .value = Value::Session("SESSION..."), .to = &list_}}}}};
    root_ = {.name = "skerry",
             .description = "Runs what agents write",
             .commands = {run, session, {.name = "keeper", .visibility = Visibility::kHidden}}};
  }

  [[nodiscard]] CommandDefinition Command(const std::vector<std::string>& words) const {
    const CommandDefinition root = DefinitionsOf(root_);
    const CommandDefinition* found = FindCommand(root, words);
    return found == nullptr ? CommandDefinition{} : *found;
  }
  [[nodiscard]] OptionDefinition Option(const std::vector<std::string>& words, const std::string& name) const {
    for (const OptionDefinition& option : Command(words).options)
      if (option.names.back() == name) return option;
    return {};
  }

  cli::Command root_;
  std::string text_;
  std::vector<std::string> list_;
  bool flag_ = false;
};

TEST_F(DefinitionsTest, CommandsAreFoundAtAnyDepth) {
  EXPECT_EQ(Command({"session", "create"}).Joined("-"), "skerry-session-create");
  EXPECT_EQ(Command({"session", "create"}).description, "Makes one");
}

TEST_F(DefinitionsTest, WhatIsNoCommandIsNotFound) {
  const CommandDefinition root = DefinitionsOf(root_);
  EXPECT_EQ(FindCommand(root, std::vector<std::string>{"session", "nothing"}), nullptr);
}

TEST_F(DefinitionsTest, HiddenCommandsAreLeftOut) {
  std::vector<std::string> names;
  for (const CommandDefinition& command : DefinitionsOf(root_).commands) names.push_back(command.name());
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

TEST_F(DefinitionsTest, TheFooterIsThatOfTheCommand) {
  EXPECT_EQ(Command({"run"}).footer, "Example:\n  skerry run 1");
}

TEST_F(DefinitionsTest, AFlagTakesNoValue) {
  EXPECT_EQ(Option({"run"}, "--json").value.kind, ValueKind::kNone);
}

TEST_F(DefinitionsTest, HelpIsTheFirstOptionOfEveryCommand) {
  EXPECT_THAT(Command({"session", "create"}).options.at(0).names, ElementsAre("-h", "--help"));
  EXPECT_THAT(Command({"run"}).options.at(0).names, ElementsAre("-h", "--help"));
}

TEST_F(DefinitionsTest, ValuesHaveTheirKind) {
  EXPECT_EQ(Option({"run"}, "--file").value.kind, ValueKind::kFile);
  EXPECT_EQ(Command({"session", "delete"}).arguments.at(0).value.kind, ValueKind::kSession);
  EXPECT_EQ(Command({"run"}).arguments.at(0).value.kind, ValueKind::kText);
}

TEST_F(DefinitionsTest, ValuesWithAListHaveTheirWords) {
  EXPECT_THAT(Option({"run"}, "--language").value.words, ElementsAre("python", "shell"));
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
  const CommandDefinition root = DefinitionsOf(root_);
  std::vector<std::string> names;
  for (const CommandDefinition* command : AllCommands(root)) names.push_back(command->Joined());
  EXPECT_THAT(names,
              ElementsAre("skerry", "skerry run", "skerry session", "skerry session create", "skerry session delete"));
}

}  // namespace
}  // namespace skerry::cli
