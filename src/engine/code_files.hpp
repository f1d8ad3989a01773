// CodeFiles: the files of a workspace, for a search for code in them. What the search costs is counted.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "engine/inside_path.hpp"
#include "engine/lookup_budget.hpp"

namespace skerry::engine {

// For one assessment and one thread. When the budget is spent nothing is found any more.
class CodeFiles {
 public:
  using Names = std::vector<std::string>;  // sorted

  // `workspace` is borrowed; -1 for none.
  CodeFiles(int workspace, std::stop_token stop) : workspace_(workspace), budget_(std::move(stop)) {}

  [[nodiscard]] bool HasFile(const std::string& path);
  [[nodiscard]] bool HasDirectory(const std::string& path);
  // Where the links of the path lead to; the path itself where it has none, or where nothing is there.
  [[nodiscard]] std::string RealPath(const std::string& path);
  [[nodiscard]] std::optional<struct stat> FactsOf(const std::string& path);
  // For reading; not valid where the file cannot be opened.
  [[nodiscard]] base::UniqueFd Open(const std::string& path);
  // Nothing where the file cannot be read, is larger than `most`, or would bring the bytes read so far beyond the
  // limit.
  [[nodiscard]] std::optional<std::string> Read(const std::string& path, std::size_t most);
  // The names in a directory that Python may import: of sources, compiled files, machine code, and of its library.
  // nullptr where there is no such directory. Links to one directory count once.
  [[nodiscard]] const Names* NamesOf(const std::string& directory);

  [[nodiscard]] LookupBudget& budget() { return budget_; }

 private:
  struct Entry {
    mode_t type = 0;
    dev_t device = 0;
    ino_t inode = 0;
    std::string real;  // "" where it equals the path
  };

  const Entry& At(const std::string& path);
  base::UniqueFd OpenDirectory(const std::string& path);
  // False when there are more names than can be listed.
  bool List(base::UniqueFd directory, Names& names);

  int workspace_;
  LookupBudget budget_;
  std::map<std::string, Entry> entries_;
  std::map<std::pair<dev_t, ino_t>, Names> names_;
  std::size_t bytes_ = 0;
};

}  // namespace skerry::engine
