#include "policy/git_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "policy/git_config.hpp"

namespace skerry::policy {
namespace {

// Keys whose value is a file or directory that git reads and never runs. They are not harmless: the value may name any
// file.
constexpr auto kOnlyRead =
    std::to_array<std::string_view>({"blame.ignorerevsfile", "commit.template", "core.attributesfile",
                                     "core.excludesfile", "core.worktree", "mailmap.file", "user.signingkey"});

bool IsInclude(std::string_view key) {
  return key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

CommandWord WordOf(std::string text) {
  const bool is_path = text.find_first_of("./") != std::string::npos;
  return {.text = std::move(text), .is_path = is_path};
}

// The words that a shell could make of a command. Of "$PWD/tools/x" and "$(git rev-parse --show-toplevel)/tools/x" the
// end is left: "/tools/x".
std::vector<CommandWord> WordsOf(std::string_view command) {
  constexpr std::string_view kBetween = " \t\n'\"`\\!$;&|()<>{}=,:";
  std::vector<CommandWord> words;
  words.push_back(WordOf(std::string(command)));  // a path may hold any of the separators
  while (!command.empty()) {
    const std::size_t end = std::min(command.find_first_of(kBetween), command.size());
    if (end > 0) words.push_back(WordOf(std::string(command.substr(0, end))));
    const bool variable = end < command.size() && command[end] == '$';
    command.remove_prefix(std::min(end + 1, command.size()));
    while (variable && !command.empty() && IsNameCharacter(command.front())) command.remove_prefix(1);
  }
  return words;
}

void AddPrograms(const GitConfigEntry& entry, std::vector<CommandWord>& programs) {
  // An alias without "!" is a command of git: "log" in it names no file.
  const bool of_git = entry.key.starts_with("alias.") && !entry.value->starts_with('!');
  for (CommandWord& word : WordsOf(*entry.value))
    if (word.is_path || !of_git) programs.push_back(std::move(word));
}

}  // namespace

std::optional<GitNames> NamesInGitConfig(std::string_view text) {
  const auto entries = ParseGitConfig(text, GitReading::kAsGitIs);
  if (!entries) return std::nullopt;
  GitNames names;
  for (const GitConfigEntry& entry : *entries) {
    if (!entry.value || entry.value->empty()) continue;
    if (entry.key == "core.worktree") names.worktree = *entry.value;
    if (entry.key == "core.hookspath") {
      names.hooks.push_back(*entry.value);
    } else if (entry.key == "init.templatedir") {
      names.hooks.push_back(*entry.value + "/hooks");
    } else if (IsInclude(entry.key)) {
      names.included.push_back(*entry.value);
    } else if (!StartsNothing(entry) && std::ranges::find(kOnlyRead, entry.key) == kOnlyRead.end()) {
      AddPrograms(entry, names.programs);
    }
  }
  return names;
}

}  // namespace skerry::policy
