// What a commit tells before each step. This one keeps nothing: steps cannot be taken back.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {

// The prefix of what is on its way to its place.
inline constexpr const char* kPreparedPrefix = ".skerry-commit-";

class CommitJournal {
 public:
  CommitJournal() = default;
  CommitJournal(const CommitJournal&) = delete;
  CommitJournal& operator=(const CommitJournal&) = delete;
  virtual ~CommitJournal() = default;

  // The directory where things are prepared, borrowed; -1: beside their place.
  virtual base::Result<int> Stage() { return -1; }

  // Something will be prepared beside its place, as `path` of the workspace.
  virtual base::Status BeforePreparing(const std::string& path);
  // `made` is ready and about to be moved to `place`, for whatever is there.
  virtual base::Status BeforeMove(const std::string& path, const Place& place, const struct stat& made,
                                  const std::string& sha256);
  // Takes a file or link away.
  virtual base::Status Remove(const std::string& path, const Place& place);
  virtual base::Status BeforeDirectory(const std::string& path);                              // is made
  virtual base::Status BeforeRemoval(const std::string& path, const struct stat& directory);  // an empty one goes
  virtual base::Status BeforeMode(const std::string& path, const struct stat& directory);     // changes
  virtual base::Status BeforeTime(const std::string& path, const struct stat& file);          // changes

  // Everything has happened.
  virtual base::Status Complete();
};

}  // namespace skerry::workspace
