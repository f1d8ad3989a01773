// What a person's repositories refer to: files elsewhere in the workspace that git runs or reads as configuration.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::engine {

// Learns by looking at the configuration of repositories, as it was before the run. The descriptor is borrowed.
class GitReferences {
 public:
  explicit GitReferences(int root) : root_(root) {}

  // Looks at every directory that `path` lies in. Those seen before are not looked at again.
  void LookAbove(std::string_view path);

  // Below a directory that core.hooksPath names.
  [[nodiscard]] bool IsHook(std::string_view path) const;
  // A file that include.path or includeIf names.
  [[nodiscard]] bool IsIncluded(std::string_view path) const { return included_.contains(std::string(path)); }

 private:
  void Look(const std::string& directory);
  void ReadConfig(const std::string& path, std::string_view worktree, int depth);

  int root_;
  std::set<std::string> seen_;
  std::vector<std::string> hooks_;
  std::set<std::string> included_;
};

}  // namespace skerry::engine
