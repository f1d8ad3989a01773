// A directory of the store that is not a finished image: one that is being filled, one that was left when an import was
// killed, or one that nobody needs any more.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::image {

// What is in such a directory, and later in a tree.
inline constexpr char kTreeName[] = "root";      // the root file system
inline constexpr char kLayoutName[] = "layout";  // the archive it comes from, while it is unpacked
inline constexpr char kLockName[] = "lock";      // held by whoever fills, uses or removes it

// Owns the directory `incoming-…` and its lock; the destructor removes it. Whoever makes one holds the store's lock
// exclusively, so that nobody takes it for one that was left; it may be kept longer than that.
class WorkDirectory {
 public:
  static base::Result<WorkDirectory> Create(int store_fd);
  // Those that were left: nobody holds their lock.
  static base::Result<std::vector<WorkDirectory>> TakeAbandoned(int store_fd);
  // Moves the tree `id` out of `trees_fd`. Nothing is returned, and the tree stays, while somebody uses it.
  static base::Result<std::optional<WorkDirectory>> TakeTree(int store_fd, int trees_fd, const std::string& id);

  WorkDirectory(WorkDirectory&& other) noexcept = default;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Makes it the tree `id` and lets go of it. The caller holds the store's lock exclusively.
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
