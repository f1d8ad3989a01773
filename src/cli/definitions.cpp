#include "cli/definitions.hpp"

#include <algorithm>
#include <ranges>

namespace skerry::cli {
namespace {

using Path = std::vector<std::string>;

// The names in a list like -f,--file.
std::vector<std::string> NamesIn(std::string_view names) {
  std::vector<std::string> list;
  for (const auto name : std::views::split(names, ',')) list.emplace_back(std::string_view(name));
  return list;
}

Repeat RepeatOf(const ValueTarget& to) {
  return std::holds_alternative<std::vector<std::string>*>(to) ? Repeat::kOften : Repeat::kOnce;
}

OptionDefinition DefinitionOf(const Option& option) {
  return {.names = NamesIn(option.names),
          .description = option.description,
          .value = option.value,
          .repeat = RepeatOf(option.to)};
}

ArgumentDefinition DefinitionOf(const Argument& argument) {
  return {.description = argument.description,
          .value = argument.value,
          .need = argument.need,
          .repeat = RepeatOf(argument.to)};
}

CommandDefinition Walk(const Command& command, Path path) {
  path.push_back(command.name);
  CommandDefinition definition{
      .path = path,
      .description = command.description,
      .footer = command.footer,
      .options = {{.names = NamesIn(kHelpNames), .description = kHelpDescription, .value = {}}},
      .arguments = {},
      .commands = {}};
  for (const Option& option : command.options)
    if (option.visibility == Visibility::kShown) definition.options.push_back(DefinitionOf(option));
  for (const Argument& argument : command.arguments) definition.arguments.push_back(DefinitionOf(argument));
  for (const Command& below : command.commands)
    if (below.visibility == Visibility::kShown) definition.commands.push_back(Walk(below, path));
  return definition;
}

}  // namespace

std::string CommandDefinition::Joined(std::string_view between) const {
  std::string text;
  for (const std::string& word : path) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

CommandDefinition DefinitionsOf(const Command& root) {
  return Walk(root, {});
}

const CommandDefinition* FindCommand(const CommandDefinition& root, std::span<const std::string> words) {
  const CommandDefinition* found = &root;
  for (const std::string& word : words) {
    const auto below = std::ranges::find(found->commands, word, &CommandDefinition::name);
    if (below == found->commands.end()) return nullptr;
    found = &*below;
  }
  return found;
}

std::vector<const CommandDefinition*> AllCommands(const CommandDefinition& root) {
  std::vector<const CommandDefinition*> all = {&root};
  for (const CommandDefinition& each : root.commands) {
    const auto below = AllCommands(each);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace skerry::cli
