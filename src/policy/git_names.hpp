// The files and directories that a person's git configuration names: hooks, programs, more configuration. A program
// that changes one of those changes what the person's git does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::policy {

// A part of a command that may be a file.
struct CommandWord {
  std::string text;
  bool is_path = false;  // looks like a path. A word that does not is a file only where there is one of that name

  bool operator==(const CommandWord&) const = default;
};

// Paths are as they are written: relative, absolute, or from a home ("~/x").
struct GitNames {
  std::vector<std::string> hooks;       // directories
  std::vector<std::string> included;    // files
  std::vector<CommandWord> programs;    // of every value that is not known to start nothing
  std::optional<std::string> worktree;  // core.worktree
};

// The names in a configuration; nothing when git does not understand the text.
std::optional<GitNames> NamesInGitConfig(std::string_view text);

}  // namespace skerry::policy
