#include "cli/definitions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>
#include <utility>

#include <CLI/CLI.hpp>

namespace skerry::cli {
namespace {

// The words that an option or argument takes. The first row that fits counts; "" fits every command.
struct WordsRow {
  std::string_view command;
  std::string_view name;
  std::string_view words;
};
constexpr std::array kWordsRows = {
    WordsRow{"risk", "--language", "python javascript shell browser"},
    WordsRow{"", "--language", "python javascript shell"},
    WordsRow{"", "--sandbox", "auto native subprocess"},
    WordsRow{"", "--backend", "native subprocess"},
    WordsRow{"run", "--mode", "strict permissive"},
    WordsRow{"session create", "--mode", "per-session shared disabled"},
    WordsRow{"token create", "--scope", "read run approve admin"},
    WordsRow{"", "--scope", "once session content"},
    WordsRow{"fs export", "--format", "tar tar.gz zip"},
    WordsRow{"", "--fail-on", "safe low medium high critical"},
    WordsRow{"", "--log-level", "error warning notice info debug"},
    WordsRow{"", "--log-format", "text json"},
    WordsRow{"top", "--sort", "cpu memory pids disk network age"},
    WordsRow{"bench", "--group", "python pandas node shell cold hundred cell policy workspace"},
};

// What the name of a value says of it.
struct KindRow {
  std::string_view value;
  ValueKind kind;
};
constexpr std::array kKindRows = {
    KindRow{"FILE", ValueKind::kFile},       KindRow{"ARCHIVE", ValueKind::kFile},
    KindRow{"OLD.json", ValueKind::kFile},   KindRow{"DIR", ValueKind::kDirectory},
    KindRow{"SESSION", ValueKind::kSession}, KindRow{"APPROVAL", ValueKind::kApproval},
};

// Where the name of the value alone would say too little, or the wrong thing.
struct ExceptionRow {
  std::string_view command;
  std::string_view name;
  ValueKind kind;
};
constexpr std::array kExceptionRows = {
    ExceptionRow{"exec", "--directory", ValueKind::kText},  // in the session
    ExceptionRow{"run", "--allow-read", ValueKind::kFile},
    ExceptionRow{"run", "--allow-write", ValueKind::kFile},
    ExceptionRow{"run", "--dangerously-allow", ValueKind::kFile},
    ExceptionRow{"serve", "--socket", ValueKind::kFile},
    ExceptionRow{"approvals show", "id", ValueKind::kApproval},
    ExceptionRow{"approvals approve", "id", ValueKind::kApproval},
    ExceptionRow{"approvals reject", "id", ValueKind::kApproval},
};

using Path = std::vector<std::string>;

std::string Join(std::span<const std::string> words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::vector<std::string> Split(std::string_view words) {
  std::vector<std::string> list;
  for (const auto word : std::views::split(words, ' ')) list.emplace_back(std::string_view(word));
  return list;
}

// FILE of FILE..., FILE|- and FILE [MORE].
std::string_view FirstWord(std::string_view name) {
  return name.substr(0, std::min(name.find_first_of(" |"), name.find("...")));
}

// A name as it is in the tables: --language, or id for an argument.
Value ValueOf(const Path& path, const std::string& name, std::string value_name) {
  const std::string command = Join(std::span(path).subspan(1), " ");
  for (const WordsRow& row : kWordsRows)
    if ((row.command.empty() || row.command == command) && row.name == name)
      return {.kind = ValueKind::kWords, .name = std::move(value_name), .words = Split(row.words)};
  for (const ExceptionRow& row : kExceptionRows)
    if (row.command == command && row.name == name)
      return {.kind = row.kind, .name = std::move(value_name), .words = {}};
  const auto* row = std::ranges::find(kKindRows, FirstWord(value_name), &KindRow::value);
  const ValueKind kind = row == kKindRows.end() ? ValueKind::kText : row->kind;
  return {.kind = kind, .name = std::move(value_name), .words = {}};
}

std::string ValueNameOf(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return option.get_option_text();
  if (!option.get_positional()) return "VALUE";
  std::string name = option.get_name(true);
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return name;
}

Repeat RepeatOf(const CLI::Option& option) {
  return option.get_expected_max() > 1 ? Repeat::kOften : Repeat::kOnce;
}

OptionDefinition OptionOf(const Path& path, const CLI::Option& option) {
  OptionDefinition definition{.names = {}, .description = option.get_description(), .value = {}};
  for (const std::string& name : option.get_snames()) definition.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) definition.names.push_back("--" + name);
  if (option.get_items_expected_max() == 0) return definition;
  const std::string known_as =
      option.get_lnames().empty() ? definition.names.front() : "--" + option.get_lnames().front();
  definition.value = ValueOf(path, known_as, ValueNameOf(option));
  definition.repeat = RepeatOf(option);
  return definition;
}

ArgumentDefinition ArgumentOf(const Path& path, const CLI::Option& option) {
  return {.description = option.get_description(),
          .value = ValueOf(path, option.get_name(true), ValueNameOf(option)),
          .need = option.get_required() ? Need::kRequired : Need::kOptional,
          .repeat = RepeatOf(option)};
}

CommandDefinition Walk(const CLI::App& app, Path path) {
  path.push_back(app.get_name());
  CommandDefinition command{.path = path,
                            .description = app.get_description(),
                            .footer = app.get_footer(),
                            .options = {},
                            .arguments = {},
                            .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      command.arguments.push_back(ArgumentOf(path, *option));
    } else {
      command.options.push_back(OptionOf(path, *option));
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty()) command.commands.push_back(Walk(*below, path));
  return command;
}

}  // namespace

std::string CommandDefinition::Joined(std::string_view between) const {
  return Join(path, between);
}

CommandDefinition DefinitionsOf(const CLI::App& app) {
  return Walk(app, {});
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
