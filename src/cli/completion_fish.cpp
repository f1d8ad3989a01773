// Fish gets one line for each command and option, with the condition under which it is offered.
#include "cli/completion.hpp"

namespace skerry::cli {
namespace {

constexpr std::string_view kBegin = R"fish(# fish completion for skerry; skerry completion fish made it.

# Names that the daemon knows.
function __skerry_names
    timeout 1 skerry completion names $argv[1] 2>/dev/null </dev/null
end
)fish";

constexpr std::string_view kWalk = R"fish(
# The command that the words typed so far name, and how many arguments follow it.
function __skerry_place
    set -l command skerry
    set -l place 0
    set -l skip no
    set -l only_arguments no
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = yes
            set skip no
        else if test $only_arguments = yes
            set place (math $place + 1)
        else if test "$word" = --
            set only_arguments yes
        else if string match -q -- '-*' "$word"
            if __skerry_takes_value "$command $word"
                set skip yes
            end
        else if __skerry_is_command "$command $word"
            set command "$command $word"
            set place 0
        else
            set place (math $place + 1)
        end
    end
    echo $command
    echo $place
end

# Whether the words name this command, and, where a second argument says which, this place behind it.
function __skerry_at
    set -l found (__skerry_place)
    test "$found[1]" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; or test "$found[2]" = "$argv[2]"
end

complete -c skerry -f
)fish";

// Quoted in single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

std::string Condition(const CommandDefinition& command, const std::string& place = "") {
  return "complete -c skerry -n " +
         Quoted("__skerry_at \"" + command.Joined() + "\"" + (place.empty() ? "" : " " + place));
}

// The option that offers values; "" where nothing is known of them.
std::string ValuesOf(const Value& value) {
  switch (value.kind) {
    case ValueKind::kFile:
      return " -F";
    case ValueKind::kDirectory:
      return " -a " + Quoted("(__fish_complete_directories)");
    case ValueKind::kSession:
    case ValueKind::kApproval:
      return " -a " + Quoted("(__skerry_names " + std::string(NamesAskedFor(value.kind)) + ")");
    case ValueKind::kWords: {
      std::string words;
      for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + word;
      return " -a " + Quoted(words);
    }
    case ValueKind::kNone:
    case ValueKind::kText:
      break;
  }
  return "";
}

std::string OptionLine(const CommandDefinition& command, const OptionDefinition& option) {
  std::string line = Condition(command);
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  if (option.value.kind != ValueKind::kNone) line += option.value.kind == ValueKind::kFile ? " -r" : " -x";
  return line + ValuesOf(option.value) + " -d " + Quoted(option.description) + "\n";
}

std::string ArgumentLines(const CommandDefinition& command) {
  std::string lines;
  std::size_t place = 0;
  for (const ArgumentDefinition& argument : command.arguments) {
    const std::string where = argument.repeat == Repeat::kOften ? "" : std::to_string(place);
    if (const std::string values = ValuesOf(argument.value); !values.empty())
      lines += Condition(command, where) + values + "\n";
    ++place;
  }
  return lines;
}

std::string Lines(const CommandDefinition& command) {
  std::string lines;
  for (const CommandDefinition& below : command.commands)
    lines += Condition(command, "0") + " -a " + below.name() + " -d " + Quoted(below.description) + "\n";
  for (const OptionDefinition& option : command.options) lines += OptionLine(command, option);
  return lines + ArgumentLines(command);
}

std::string Function(const std::string& name, const std::string& cases) {
  return "\nfunction " + name + "\n    switch $argv[1]\n        case" + cases +
         "\n            return 0\n    end\n    return 1\nend\n";
}

}  // namespace

std::string FishCompletion(const CommandDefinition& root) {
  std::string lines;
  std::string commands;
  std::string taking;
  for (const CommandDefinition* command : AllCommands(root)) {
    lines += Lines(*command);
    if (command != &root) commands += " " + Quoted(command->Joined());
    for (const OptionDefinition& option : command->options) {
      if (option.value.kind == ValueKind::kNone) continue;
      for (const std::string& name : option.names) taking += " " + Quoted(command->Joined() + " " + name);
    }
  }
  return std::string(kBegin) + Function("__skerry_is_command", commands) + Function("__skerry_takes_value", taking) +
         std::string(kWalk) + lines;
}

}  // namespace skerry::cli
