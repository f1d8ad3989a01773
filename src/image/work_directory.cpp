#include "image/work_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/own_directory.hpp"
#include "os/remove_tree.hpp"

namespace skerry::image {
namespace {

constexpr std::string_view kPrefix = "incoming-";

base::Deadline Now() {
  return base::Deadline::After({});
}

}  // namespace

base::Status WorkDirectory::Open() {
  fd_.Reset(::openat(store_fd_, name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd_.valid()) return os::ErrnoErr("open " + name_ + " in the store");
  SKERRY_ASSIGN_OR_RETURN(lock_, os::LockFile(fd_.get(), kLockName, os::LockMode::kExclusive, Now()));
  return {};
}

base::Result<WorkDirectory> WorkDirectory::Create(int store_fd) {
  WorkDirectory work(store_fd, base::RandomId(kPrefix));
  if (::mkdirat(store_fd, work.name_.c_str(), S_IRWXU) < 0) return os::ErrnoErr("make a directory in the store");
  SKERRY_RETURN_IF_ERROR(work.Open());
  return work;
}

base::Result<std::vector<WorkDirectory>> WorkDirectory::TakeAbandoned(int store_fd) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names, os::NamesOf(store_fd));
  std::vector<WorkDirectory> abandoned;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    WorkDirectory work(store_fd, name);
    if (work.Open()) abandoned.push_back(std::move(work));
  }
  return abandoned;
}

base::Result<std::optional<WorkDirectory>> WorkDirectory::TakeTree(int store_fd, int trees_fd, const std::string& id) {
  const base::UniqueFd tree(::openat(trees_fd, id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!tree.valid()) return os::ErrnoErr("open tree " + id);
  auto lock = os::LockFile(tree.get(), kLockName, os::LockMode::kExclusive, Now());
  if (!lock && lock.error().code == base::Code::kUnavailable) return std::nullopt;
  if (!lock) return std::unexpected(lock.error());
  WorkDirectory work(store_fd, base::RandomId(kPrefix));
  if (::renameat(trees_fd, id.c_str(), store_fd, work.name_.c_str()) < 0) return os::ErrnoErr("move tree " + id);
  work.fd_.Reset(::openat(store_fd, work.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  work.lock_ = std::move(*lock);
  return work;
}

base::Status WorkDirectory::BecomeTree(int trees_fd, const std::string& id) {
  if (::renameat(store_fd_, name_.c_str(), trees_fd, id.c_str()) < 0)
    return os::ErrnoErr("move the tree into the store");
  fd_.Reset();
  lock_.Reset();
  return {};
}

// The lock file is removed last: until then no process takes the directory for a leftover.
WorkDirectory::~WorkDirectory() {
  if (!lock_.valid()) return;
  (void)os::RemoveTree(fd_.get(), kTreeName);
  (void)os::RemoveTree(fd_.get(), kLayoutName);
  (void)os::RemoveTree(store_fd_, name_);
}

}  // namespace skerry::image
