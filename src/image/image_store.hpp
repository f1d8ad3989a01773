// The images of one user: named root file systems in a directory.
//
//   names/NAME.json   what NAME is, and the id of its tree
//   trees/ID/root     the files; the same content is there once, whatever names it has
//   trees/ID/lock     held shared by each process that runs something in the tree
//   incoming-…        an import that is under way, or was killed; or a tree that is being removed
//   lock              held for the moment in which names and trees change
//
// Any number of processes may use a store at once. What a killed import or removal left is removed by the next Import,
// Remove or Prune.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "image/image.hpp"
#include "image/import_budget.hpp"
#include "image/work_directory.hpp"
#include "os/file_lock.hpp"

namespace skerry::image {

// Keeps a tree in use: the tree stays as long as the lease, even when its name is removed or given to another tree.
struct ImageLease {
  std::string root_path;   // absolute
  base::UniqueFd root_fd;  // the same directory. Its content is foreign: open below it with RESOLVE_IN_ROOT only
  base::UniqueFd lock;
  std::string id;
  std::vector<std::string> environment;
  std::string working_directory;
};

enum class TreeFate {
  kRemoved,
  kKeptForOtherName,
  kInUse,  // removed by the first Import, Remove or Prune after its last user ended
};

struct PruneReport {
  std::size_t removed_trees = 0;
  std::size_t removed_imports = 0;  // what killed imports left
  std::size_t kept_in_use = 0;      // trees without a name that a process still uses
};

class ImageStore {
 public:
  // Opens the store in `directory`; makes the directory (0700), and the directories above it, where they are missing. A
  // directory that other users may write to, or that belongs to another user, is refused.
  static base::Result<ImageStore> Open(const std::string& directory);

  // Unpacks `path` (see UnpackSource) and gives the image the name; an image that has the name already loses it. Either
  // all of that happens or nothing. `sink` may be null.
  [[nodiscard]] base::Result<Image> Import(const std::string& name, const std::string& path, const ImportLimits& limits,
                                           ProgressSink* sink) const;
  // All images, sorted by name.
  [[nodiscard]] base::Result<std::vector<Image>> List() const;
  [[nodiscard]] base::Result<TreeFate> Remove(const std::string& name) const;
  [[nodiscard]] base::Result<PruneReport> Prune() const;
  [[nodiscard]] base::Result<ImageLease> Acquire(const std::string& name) const;

 private:
  // Directories that the store does not need any more. Removing them takes time: an Unused is declared before the lock
  // is taken, so that its destructor removes them when the lock is free again.
  struct Unused {
    std::vector<WorkDirectory> trees;
    std::vector<WorkDirectory> imports;
    std::vector<std::string> ids_in_use;  // of trees without a name that a process still uses
  };

  explicit ImageStore(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] base::Result<base::UniqueFd> Lock(os::LockMode mode) const;
  [[nodiscard]] base::Result<WorkDirectory> StartWork() const;
  [[nodiscard]] bool HasTree(const std::string& id) const;

  // The caller has the lock.
  [[nodiscard]] base::Result<Image> ReadName(const std::string& name) const;
  [[nodiscard]] base::Result<std::vector<Image>> ReadNames() const;

  // The caller has the lock exclusively.
  [[nodiscard]] base::Status WriteName(const Image& image) const;
  [[nodiscard]] base::Status Commit(WorkDirectory& work, const Image& image) const;
  [[nodiscard]] base::Result<Unused> TakeUnused() const;

  std::string path_;
  base::UniqueFd directory_;
  base::UniqueFd names_;
  base::UniqueFd trees_;
};

}  // namespace skerry::image
