// Which of a sandbox's changes may be carried into a directory: the policy's answer to the commit's questions.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.hpp"
#include "core/backend.hpp"
#include "engine/environments.hpp"
#include "engine/git_references.hpp"
#include "engine/linked_names.hpp"
#include "policy/protected_paths.hpp"
#include "workspace/commit_rules.hpp"

namespace skerry::engine {

// In a person's directory it also refuses every change that would run code on that person's side (A13 to A16), and
// changes of existing files that the person's agents follow. The rules and the descriptors are borrowed.
class CommitPolicy : public workspace::CommitRules {
 public:
  struct Directories {
    int merged = -1;  // the directory as the program left it
    int lower = -1;   // the directory as it was
  };
  struct Rules {
    const base::PathPatterns& deny_write;
    const policy::ProtectedPaths& protected_paths;
  };
  CommitPolicy(Rules rules, core::WorkspaceOwner owner, Directories directories)
      : rules_(rules),
        owner_(owner),
        directories_(directories),
        environments_(directories.merged, directories.lower),
        references_(directories.lower),
        linked_(directories.lower, rules.protected_paths) {}

  void Begin(const workspace::OverlayChanges& found) override;
  std::string Refuses(const workspace::Change& change, const workspace::ChangeContents& contents) override;
  std::string Tells(const workspace::Change& change) override;

 private:
  std::string RefusesForPerson(const workspace::Change& change, const workspace::ChangeContents& contents);
  [[nodiscard]] std::string LeadsGitElsewhere(const workspace::Change& change) const;
  [[nodiscard]] policy::PathVerdict Judge(const std::string& path);
  [[nodiscard]] std::string RefusesConfig(const std::string& path, const workspace::ChangeContents& contents);
  [[nodiscard]] std::string RefusesRoutes(const std::string& path, const std::string& text);
  [[nodiscard]] std::string RefusesRepository(const workspace::Change& change);
  [[nodiscard]] std::string RefusesGitLink(const std::string& path, const workspace::ChangeContents& contents) const;
  [[nodiscard]] policy::InGitDirectory IsInGitDirectory(const std::string& path);
  [[nodiscard]] std::string CompletesGitDirectory(const workspace::Change& change) const;
  [[nodiscard]] std::string RefusesDeletion(const std::string& path, const policy::PathVerdict& verdict) const;
  [[nodiscard]] bool WasGitDirectory(std::string_view path) const;
  [[nodiscard]] bool TakesOver(const std::string& path) const;
  [[nodiscard]] mode_t ModeBefore(const std::string& path);

  Rules rules_;
  core::WorkspaceOwner owner_;
  Directories directories_;
  Environments environments_;
  GitReferences references_;
  LinkedNames linked_;
  std::map<std::string, bool> git_directories_;  // what was found out, by path
  // The commit writes to the directory while it asks; the first question finds out what was there before.
  std::map<std::string, mode_t> modes_before_;
  std::map<std::string, bool> takes_over_;
  std::vector<std::string> gone_;  // directories that were there and are not any more
  std::set<std::string>
      moved_from_;  // configurations in those directories, whose repository came back and leads elsewhere
};

}  // namespace skerry::engine
