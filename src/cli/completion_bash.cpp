// Bash has one function that walks the words typed so far; tables, written as cases, tell it what each word means.
#include "cli/completion.hpp"

namespace skerry::cli {
namespace {

constexpr std::string_view kBegin = R"bash(# bash completion for skerry; skerry completion bash made it.

# Adds those of the words behind the first that begin with the first.
_skerry_offer() {
  local beginning=$1 word
  shift
  for word in "$@"; do
    if [[ $word == "$beginning"* ]]; then COMPREPLY+=("$word"); fi
  done
}

# Names that the daemon knows; they are compared, never evaluated.
_skerry_offer_names() {
  local name
  while IFS= read -r name; do
    if [[ $name == "$2"* ]]; then COMPREPLY+=("$name"); fi
  done < <(timeout 1 skerry completion names "$1" 2>/dev/null </dev/null)
}

_skerry_offer_files() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$2")
}

# The first word says what is wanted, the rest of it is a list of words.
_skerry_offer_value() {
  local list
  case $1 in
    words*) read -ra list <<<"${1#words}"; _skerry_offer "$2" "${list[@]}" ;;
    file) _skerry_offer_files -f "$2" ;;
    directory) _skerry_offer_files -d "$2" ;;
    sessions | approvals) _skerry_offer_names "$1" "$2" ;;
  esac
}
)bash";

constexpr std::string_view kEnd = R"bash(
_skerry() {
  local command=skerry place=0 only_arguments= wanted= commands= options= list word index
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ -n $wanted ]]; then
      # --option=value comes as three words.
      if [[ $word != = ]]; then wanted=; fi
    elif [[ -n $only_arguments ]]; then
      place=$((place + 1))
    elif [[ $word == -- ]]; then
      only_arguments=yes
    elif [[ $word == -* ]]; then
      _skerry_option_takes "$command $word"
    elif _skerry_is_command "$command $word"; then
      command="$command $word" place=0
    else
      place=$((place + 1))
    fi
  done
  if [[ -n $wanted ]]; then
    if [[ $current == = ]]; then current=; fi
    _skerry_offer_value "$wanted" "$current"
    return
  fi
  _skerry_has "$command"
  if [[ -z $only_arguments && $current == -* ]]; then
    read -ra list <<<"$options"
    _skerry_offer "$current" "${list[@]}"
    return
  fi
  if [[ -z $only_arguments && $place == 0 ]]; then
    read -ra list <<<"$commands"
    _skerry_offer "$current" "${list[@]}"
  fi
  _skerry_argument_takes "$command $place"
  _skerry_offer_value "$wanted" "$current"
}
complete -F _skerry skerry
)bash";

// The argument for _skerry_offer_value; "text" where there is a value and nothing to offer.
std::string WantedBy(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return "text";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kDirectory:
      return "directory";
    case ValueKind::kSession:
    case ValueKind::kApproval:
      return std::string(NamesAskedFor(value.kind));
    case ValueKind::kWords:
      break;
  }
  std::string text = "words";
  for (const std::string& word : value.words) text += " " + word;
  return text;
}

std::string Case(const std::string& pattern, const std::string& action) {
  return "    " + pattern + ") " + action + " ;;\n";
}

std::string Has(const CommandDefinition& command) {
  std::string commands;
  std::string options;
  for (const CommandDefinition& below : command.commands) commands += (commands.empty() ? "" : " ") + below.name();
  for (const OptionDefinition& option : command.options)
    for (const std::string& name : option.names) options += (options.empty() ? "" : " ") + name;
  return Case(ShellQuoted(command.Joined()), "commands=" + ShellQuoted(commands) + " options=" + ShellQuoted(options));
}

std::string OptionCases(const CommandDefinition& command) {
  std::string cases;
  for (const OptionDefinition& option : command.options) {
    if (option.value.kind == ValueKind::kNone) continue;
    std::string pattern;
    for (const std::string& name : option.names)
      pattern += (pattern.empty() ? "" : " | ") + ShellQuoted(command.Joined() + " " + name);
    cases += Case(pattern, "wanted=" + ShellQuoted(WantedBy(option.value)));
  }
  return cases;
}

std::string ArgumentCases(const CommandDefinition& command) {
  std::string cases;
  std::size_t place = 0;
  for (const ArgumentDefinition& argument : command.arguments) {
    const bool often = argument.repeat == Repeat::kOften;
    const std::string pattern = often ? ShellQuoted(command.Joined() + " ") + "[0-9]*"
                                      : ShellQuoted(command.Joined() + " " + std::to_string(place));
    cases += Case(pattern, "wanted=" + ShellQuoted(WantedBy(argument.value)));
    ++place;
  }
  return cases;
}

std::string Function(const std::string& name, const std::string& cases) {
  return "\n" + name + "() {\n  case $1 in\n" + cases + "  esac\n}\n";
}

}  // namespace

std::string BashCompletion(const CommandDefinition& root) {
  std::string has;
  std::string options;
  std::string arguments;
  std::string commands;
  for (const CommandDefinition* command : AllCommands(root)) {
    has += Has(*command);
    options += OptionCases(*command);
    arguments += ArgumentCases(*command);
    if (command != &root) commands += Case(ShellQuoted(command->Joined()), "return 0");
  }
  return std::string(kBegin) + Function("_skerry_has", has) + Function("_skerry_option_takes", options) +
         Function("_skerry_argument_takes", arguments) +
         Function("_skerry_is_command", commands + Case("*", "return 1")) + std::string(kEnd);
}

}  // namespace skerry::cli
