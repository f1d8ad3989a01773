// A file, directory or link that is made out of sight and then moved into its place in one step.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {

// The destructor removes the entry, unless it was moved.
class StagedEntry {
 public:
  StagedEntry(StagedEntry&& other) noexcept;
  StagedEntry& operator=(StagedEntry&&) = delete;
  StagedEntry(const StagedEntry&) = delete;
  StagedEntry& operator=(const StagedEntry&) = delete;
  ~StagedEntry();

  // Makes an entry in `directory`, which is borrowed only for the call. A file has no name there, where the file system
  // can do so.
  static base::Result<StagedEntry> File(int directory);
  static base::Result<StagedEntry> Directory(int directory);
  static base::Result<StagedEntry> Link(int directory, const std::string& target);

  // The file or directory, open for reading and, a file, for writing; a link as O_PATH.
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Root gives the entry to the owner of what is in the place, or else of its directory: otherwise what root makes in a
  // person's directory would be root's. Other users cannot give files away.
  base::Status GiveToOwnerOf(const Place& place);

  // kConflict with kKeep when something is there.
  base::Status MoveTo(const Place& place, Existing existing);

 private:
  StagedEntry(base::UniqueFd directory, std::string name) : directory_(std::move(directory)), name_(std::move(name)) {}
  static base::Result<StagedEntry> Begin(int directory);
  base::Status GetName(const Place& place);

  base::UniqueFd directory_;
  std::string name_;  // "" when there is nothing to remove
  bool has_name_ = false;
  base::UniqueFd fd_;
};

// Moves `name` of a directory into a place. With kKeep nothing is replaced: EEXIST. 0, or -1 and errno.
int MoveEntry(int directory, const std::string& name, const Place& place, Existing existing);

struct Owner {
  uid_t user;
  gid_t group;
};
base::Result<Owner> OwnerFor(const Place& place);
// Gives an open file or directory to an owner; does nothing unless this process is root. The descriptor is used because
// a link to something else could lie under the name meanwhile.
base::Status GiveTo(const Owner& owner, int fd);

// Waits until the changes of a directory's names are on disk. A directory that cannot be opened for reading is left to
// the kernel.
base::Status SyncDirectory(int directory);

}  // namespace skerry::workspace
