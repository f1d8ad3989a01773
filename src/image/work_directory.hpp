// A directory of the store that is no finished image: an import is filling it, a killed import left it, or the image is
// no longer needed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::image {

// The names in such a directory, and later in a tree.
inline constexpr char kTreeName[] = "root";      // the root file system
inline constexpr char kLayoutName[] = "layout";  // the archive it comes from, while it is unpacked
inline constexpr char kLockName[] = "lock";      // held by each process that fills, uses or removes it

// Owns the directory `incoming-…` and its lock; the destructor removes it. A caller that makes one holds the store's
// lock exclusively, so that no other process takes the directory for one that was left; the WorkDirectory may be kept
// after the store's lock is free.
class WorkDirectory {
 public:
  static base::Result<WorkDirectory> Create(int store_fd);
  // The directories that killed imports left: no process holds their lock.
  static base::Result<std::vector<WorkDirectory>> TakeAbandoned(int store_fd);
  // Moves the tree `id` out of `trees_fd`. Nothing, and the tree stays, while a process uses it.
  static base::Result<std::optional<WorkDirectory>> TakeTree(int store_fd, int trees_fd, const std::string& id);

  WorkDirectory(WorkDirectory&& other) noexcept = default;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Makes this directory the tree `id` and gives it up. The caller holds the store's lock exclusively.
  base::Status BecomeTree(int trees_fd, const std::string& id);

 private:
  WorkDirectory(int store_fd, std::string name) : store_fd_(store_fd), name_(std::move(name)) {}
  base::Status Open();

  int store_fd_;
  std::string name_;
  base::UniqueFd fd_;
  base::UniqueFd lock_;
};

}  // namespace skerry::image
