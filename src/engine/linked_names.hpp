// A person's own links with names that the policy protects: .bashrc that leads to dotfiles/bashrc, CLAUDE.md to
// docs/agents.md, .git/hooks to tools. A file that such a link leads to is protected like one that bears the name.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "policy/protected_paths.hpp"

namespace skerry::engine {

// Learns by looking at directories as they were before the run. The descriptor and the paths are borrowed.
class LinkedNames {
 public:
  LinkedNames(int root, const policy::ProtectedPaths& paths) : root_(root), paths_(paths) {}

  // Looks at the links in every directory that `path` lies in, and in a .git there, each directory once. Links that lie
  // elsewhere are not found: that would take a walk through the whole workspace.
  void LookAbove(std::string_view path);

  // The protected name under which `path` is found as well; "" for none.
  [[nodiscard]] std::string OtherNameOf(std::string_view path) const;

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

  void Look(const std::string& directory);
  void Note(const std::string& directory, const std::string& name);

  int root_;
  const policy::ProtectedPaths& paths_;
  std::set<std::string> seen_;
  std::map<Identity, std::string> by_identity_;              // from the file that a link leads to, to the link
  std::map<std::string, std::string, std::less<>> by_path_;  // the same for files that do not exist yet
};

}  // namespace skerry::engine
