// Definitions: the source of completions and manual pages: the commands that people see, each with its full name and
// with --help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace skerry::cli {

enum class Repeat { kOnce, kOften };

struct OptionDefinition {
  std::vector<std::string> names;  // with their dashes
  std::string description;
  Value value;
  Repeat repeat = Repeat::kOnce;
};

struct ArgumentDefinition {
  std::string description;
  Value value;
  Need need = Need::kOptional;
  Repeat repeat = Repeat::kOnce;
};

struct CommandDefinition {
  std::vector<std::string> path;  // skerry, session, create
  std::string description;
  std::string footer;
  std::vector<OptionDefinition> options;
  std::vector<ArgumentDefinition> arguments;
  std::vector<CommandDefinition> commands;

  [[nodiscard]] const std::string& name() const { return path.back(); }
  // "skerry session create", with `between` between the words.
  [[nodiscard]] std::string Joined(std::string_view between = " ") const;
};

// The whole tree, without what is hidden from --help.
CommandDefinition DefinitionsOf(const Command& root);

// The command that `words` name below `root`; null when there is none.
const CommandDefinition* FindCommand(const CommandDefinition& root, std::span<const std::string> words);

// The command and all commands below it, parents first.
std::vector<const CommandDefinition*> AllCommands(const CommandDefinition& root);

}  // namespace skerry::cli
