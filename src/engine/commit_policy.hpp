// What of a sandbox's changes may be carried into a directory: the policy's answer to the commit's questions.
#pragma once

#include <map>
#include <string>

#include "base/glob.hpp"
#include "core/backend.hpp"
#include "engine/environments.hpp"
#include "engine/git_references.hpp"
#include "engine/linked_names.hpp"
#include "policy/protected_paths.hpp"
#include "workspace/commit_rules.hpp"

namespace skerry::engine {

// In a person's directory also everything that would run code on that person's side (A13 to A16), and what the person's
// agents follow where it was there before. The rules and the descriptors are borrowed.
class CommitPolicy : public workspace::CommitRules {
 public:
  struct Directories {
    int merged = -1;  // as the program left it
    int lower = -1;   // as it was
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

  std::string Refuses(const workspace::Change& change, const workspace::ChangeContents& contents) override;
  std::string Tells(const workspace::Change& change) override;

 private:
  std::string RefusesForPerson(const workspace::Change& change, const workspace::ChangeContents& contents);
  [[nodiscard]] std::string LeadsGitElsewhere(const workspace::Change& change) const;
  [[nodiscard]] policy::PathVerdict Judge(const std::string& path);
  [[nodiscard]] std::string RefusesConfig(const std::string& path, const workspace::ChangeContents& contents) const;
  [[nodiscard]] std::string RefusesGitLink(const std::string& path, const workspace::ChangeContents& contents) const;
  [[nodiscard]] policy::InGitDirectory IsInGitDirectory(const std::string& path);
  [[nodiscard]] std::string CompletesGitDirectory(const workspace::Change& change) const;
  [[nodiscard]] std::string RefusesDeletion(const std::string& path, const policy::PathVerdict& verdict) const;

  Rules rules_;
  core::WorkspaceOwner owner_;
  Directories directories_;
  Environments environments_;
  GitReferences references_;
  LinkedNames linked_;
  std::map<std::string, bool> git_directories_;  // what was found out, by path
};

}  // namespace skerry::engine
