// Zsh gets one function for each command, with the specifications of _arguments.
#include <algorithm>

#include "cli/completion.hpp"

namespace skerry::cli {
namespace {

constexpr std::string_view kBegin = R"zsh(#compdef skerry
# zsh completion for skerry; skerry completion zsh made it.

# Names that the daemon knows: the last argument says which, those before it are for compadd.
_skerry_names() {
  local -a names
  names=(${(f)"$(timeout 1 skerry completion names ${@[-1]} 2>/dev/null </dev/null)"})
  compadd "${@[1,-2]}" -a names
}
)zsh";

constexpr std::string_view kEnd = R"zsh(
# Read from a directory of $fpath it is called; read by source it is made known.
if [[ $funcstack[1] == _skerry ]]; then
  _skerry "$@"
else
  compdef _skerry skerry
fi
)zsh";

// Escapes text for the inside of a specification.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (std::string_view("\\[]:$`").contains(letter)) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string ActionOf(const Value& value) {
  switch (value.kind) {
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kDirectory:
      return "_files -/";
    case ValueKind::kSession:
    case ValueKind::kApproval:
      return "_skerry_names " + std::string(NamesAskedFor(value.kind));
    case ValueKind::kWords: {
      std::string words;
      for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + word;
      return "(" + words + ")";
    }
    case ValueKind::kNone:
    case ValueKind::kText:
      break;
  }
  return " ";  // the message alone
}

// Each name of an option has a specification of its own; a name that was given excludes the others.
std::string OptionSpecifications(const OptionDefinition& option) {
  std::string excluded;
  for (const std::string& name : option.names) excluded += (excluded.empty() ? "" : " ") + name;
  const std::string before = option.repeat == Repeat::kOften ? "*" : "(" + excluded + ")";
  const bool takes = option.value.kind != ValueKind::kNone;
  std::string text;
  for (const std::string& name : option.names) {
    const std::string sign = !takes ? "" : name.starts_with("--") ? "=" : "+";
    std::string specification = before;
    specification.append(name).append(sign).append("[" + Escaped(option.description) + "]");
    if (takes) specification += ":" + Escaped(option.value.name) + ":" + ActionOf(option.value);
    text += "    " + ShellQuoted(specification) + " \\\n";
  }
  return text;
}

std::string ArgumentSpecifications(const CommandDefinition& command) {
  std::string text;
  std::size_t place = 0;
  for (const ArgumentDefinition& argument : command.arguments) {
    ++place;
    const bool optional = argument.need == Need::kOptional;
    const std::string where =
        argument.repeat == Repeat::kOften ? "*:" : std::to_string(place) + (optional ? "::" : ":");
    text += "    " + ShellQuoted(where + Escaped(argument.value.name) + ":" + ActionOf(argument.value)) + " \\\n";
  }
  return text;
}

std::string FunctionName(const CommandDefinition& command) {
  std::string name = "_" + command.Joined("_");
  std::ranges::replace(name, '-', '_');
  return name;
}

// The commands below a command, and what else may stand in their place.
std::string Below(const CommandDefinition& command) {
  std::string rows;
  std::string calls;
  for (const CommandDefinition& below : command.commands) {
    rows += "        " + ShellQuoted(Escaped(below.name()) + ":" + below.description) + "\n";
    calls += "        " + ShellQuoted(below.name()) + ") " + FunctionName(below) + " ;;\n";
  }
  std::string text = "  case $state in\n    command)\n      commands=(\n" + rows +
                     "      )\n      _describe -t commands command commands\n";
  if (!command.arguments.empty()) {
    const std::string action = ActionOf(command.arguments.front().value);
    if (action.starts_with("_")) text += "      " + action + "\n";
  }
  return text + "      ;;\n    rest)\n      case $line[1] in\n" + calls + "      esac\n      ;;\n  esac\n";
}

std::string Function(const CommandDefinition& command) {
  std::string text = "\n" + FunctionName(command) +
                     "() {\n  local curcontext=$curcontext state line\n  local -a commands\n"
                     "  typeset -A opt_args\n  _arguments -C -s -S \\\n";
  for (const OptionDefinition& option : command.options) text += OptionSpecifications(option);
  if (command.commands.empty()) {
    text += ArgumentSpecifications(command);
    text.resize(text.size() - std::string_view(" \\\n").size());
    return text + "\n}\n";
  }
  return text + "    '1: :->command' \\\n    '*:: :->rest'\n" + Below(command) + "}\n";
}

}  // namespace

std::string ZshCompletion(const CommandDefinition& root) {
  std::string text(kBegin);
  for (const CommandDefinition* command : AllCommands(root)) text += Function(*command);
  return text + std::string(kEnd);
}

}  // namespace skerry::cli
