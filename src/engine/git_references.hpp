// What a person's repositories refer to: files elsewhere in the workspace that git runs or reads as configuration.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/host_trail.hpp"
#include "policy/git_names.hpp"

namespace skerry::engine {

// Learns by looking at repositories and at the person's own configuration, as they were before the run. They may lie
// outside of the workspace: it can be a linked worktree, or a directory in a repository.
class GitReferences {
 public:
  explicit GitReferences(int root);  // `root` is a directory; borrowed for this call

  // Looks at every directory that `path` lies in, up to the host's root. Each is looked at once.
  void LookAbove(std::string_view path);

  // The working tree whose git runs this file by its configuration, because the file lies below a directory of hooks, a
  // hook's link leads to it, or the value of a key that starts programs names it. As a path of the workspace; "" for
  // its root and for a working tree outside. Nothing for other files.
  [[nodiscard]] std::optional<std::string> WorktreeThatRuns(std::string_view path) const;
  [[nodiscard]] bool IsHook(std::string_view path) const { return WorktreeThatRuns(path).has_value(); }

  // A file that include.path or includeIf names, or the person's own configuration.
  [[nodiscard]] bool IsIncluded(std::string_view path) const { return included_.contains(path); }

  // The working tree, as above, when `path` is a name on the way to such a file: a link there would lead git elsewhere.
  [[nodiscard]] std::optional<std::string> WorktreeThatGoesBy(std::string_view path) const;

  // Whether a configuration that Skerry does not understand may run this file.
  [[nodiscard]] bool MayBeRun(std::string_view path) const;

  // Whether a repository that the workspace itself lies in may track files in one of its directories ("" for the root).
  // Known after LookAbove().
  [[nodiscard]] bool IsTrackedFromAbove(std::string_view directory) const;

 private:
  struct Repository {
    std::string git;       // absolute, as all of these
    std::string common;    // where configuration and hooks are
    std::string worktree;  // as git would find it
  };

  std::optional<Repository> LookAt(const std::string& directory);
  void LookAtHostsDirectories();
  void Read(const Repository& repository);
  void ReadConfig(const std::string& path, const Repository& repository, int depth);
  void Take(const policy::GitNames& names, const std::string& config, const Repository& repository, int depth);
  void AddHooks(const std::string& directory, const std::string& worktree);
  void AddLinksIn(const std::string& directory, const std::string& worktree);
  void AddProgram(const policy::CommandWord& word, const std::string& from, const Repository& repository);
  void AddRun(const Trail& trail, const std::string& worktree);
  [[nodiscard]] Trail Follow(const std::string& path, const std::string& worktree);
  [[nodiscard]] std::vector<std::string> Absolute(const std::string& path, const std::string& from) const;
  [[nodiscard]] std::string PlaceOf(const std::string& worktree) const;

  HostTrails trails_;
  std::optional<std::vector<std::string>> homes_;  // of the person, as far as they are known; none before a repository
  std::set<std::string> seen_;
  std::set<std::string> read_;                            // configurations, each with its working tree
  std::map<std::string, std::string, std::less<>> runs_;  // from the file's place to the working tree
  std::set<std::string, std::less<>> included_;
  std::map<std::string, std::string, std::less<>> way_;  // likewise
  std::set<std::string, std::less<>> not_understood_;    // working trees
  std::vector<Repository> above_;                        // outside of the workspace
};

}  // namespace skerry::engine
