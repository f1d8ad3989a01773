// What a commit tells its journal before each step. This journal keeps nothing: steps cannot be taken back.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {

// The prefix of the names of files that are being prepared beside their place.
inline constexpr const char* kPreparedPrefix = ".skerry-commit-";

class CommitJournal {
 public:
  CommitJournal() = default;
  CommitJournal(const CommitJournal&) = delete;
  CommitJournal& operator=(const CommitJournal&) = delete;
  virtual ~CommitJournal() = default;

  // The directory where files are prepared, borrowed; -1: beside their place.
  virtual base::Result<int> Stage() { return -1; }

  // A file or link will be prepared beside its place, as `path` of the workspace.
  virtual base::Status BeforePreparing(const std::string& path);
  // The prepared file or link `made` is about to be moved to `place`, whatever is there.
  virtual base::Status BeforeMove(const std::string& path, const Place& place, const struct stat& made,
                                  const std::string& sha256);
  // Removes a file or link.
  virtual base::Status Remove(const std::string& path, const Place& place);
  virtual base::Status BeforeDirectory(const std::string& path);                              // is made
  virtual base::Status BeforeRemoval(const std::string& path, const struct stat& directory);  // an empty one goes
  virtual base::Status BeforeMode(const std::string& path, const struct stat& directory);     // changes
  virtual base::Status BeforeTime(const std::string& path, const struct stat& file);          // changes

  // Every step of the commit has happened.
  virtual base::Status Complete();
};

}  // namespace skerry::workspace
