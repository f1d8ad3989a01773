#include "os/remove_tree.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::os {
namespace {

// Does not open a mount: its files are not part of the tree. Where the kernel cannot tell, removing the mount point
// fails.
base::UniqueFd TryOpen(int parent_fd, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
  base::UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, parent_fd, name, &how, sizeof how)));
  if (!fd.valid() && errno == ENOSYS) fd.Reset(::openat(parent_fd, name, kFlags));
  return fd;
}

// A program may lock its directories; their owner (or root) unlocks them. Not through a link that the program puts
// there just then.
base::Result<base::UniqueFd> OpenDirectory(int parent_fd, const char* name) {
  base::UniqueFd fd = TryOpen(parent_fd, name);
  if (!fd.valid() && errno == EACCES && ::fchmodat(parent_fd, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
    fd = TryOpen(parent_fd, name);
  if (!fd.valid() && errno == EXDEV)
    return base::Err(base::Code::kPermissionDenied, std::string(name) + ": another file system is mounted there");
  if (!fd.valid()) return ErrnoErr(std::string("open ") + name);
  ::fchmod(fd.get(), S_IRWXU);  // removing entries needs write and search; a failure shows in the removal below
  return fd;
}

// Deep trees are made flat: directories below the top are moved up into it and emptied there in turn, so that neither
// paths, nor memory, nor open descriptors grow with the depth.
class Flattener {
 public:
  explicit Flattener(int top_fd) : top_fd_(top_fd), stem_(base::RandomId(".gone-")) {}

  // Leaves the top empty. Entries come and go during a listing, so it is repeated until nothing is found.
  base::Status EmptyTop(DIR* top) {
    for (bool found = true; found;) {
      found = false;
      ::rewinddir(top);
      for (const dirent* entry = ::readdir(top); entry != nullptr; entry = ::readdir(top)) {
        if (IsDots(entry->d_name)) continue;
        found = true;
        if (::unlinkat(top_fd_, entry->d_name, 0) == 0) continue;
        if (errno != EISDIR && errno != EPERM && errno != ENOENT)
          return ErrnoErr(std::string("unlink ") + entry->d_name);
        SKERRY_RETURN_IF_ERROR(EmptyAndRemove(entry->d_name));
      }
    }
    return {};
  }

 private:
  base::Status EmptyAndRemove(const std::string& name) {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenDirectory(top_fd_, name.c_str()));
    const Directory directory = ListingOf(std::move(fd));
    if (directory == nullptr) return ErrnoErr("list " + name);
    for (const dirent* entry = ::readdir(directory.get()); entry != nullptr; entry = ::readdir(directory.get()))
      if (!IsDots(entry->d_name)) SKERRY_RETURN_IF_ERROR(RemoveOrMoveUp(::dirfd(directory.get()), entry->d_name));
    // Not empty: the listing missed an entry while others were removed. The next listing of the top comes back to it.
    if (::unlinkat(top_fd_, name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOTEMPTY && errno != EEXIST)
      return ErrnoErr("rmdir " + name);
    return {};
  }

  base::Status RemoveOrMoveUp(int directory_fd, const char* name) {
    if (::unlinkat(directory_fd, name, 0) == 0) return {};
    if (errno != EISDIR && errno != EPERM) return ErrnoErr(std::string("unlink ") + name);
    if (::unlinkat(directory_fd, name, AT_REMOVEDIR) == 0) return {};
    // Moving a directory rewrites its "..", which needs write permission on the directory itself.
    (void)::fchmodat(directory_fd, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    const std::string up = stem_ + "." + std::to_string(moved_++);
    if (::renameat(directory_fd, name, top_fd_, up.c_str()) < 0) return ErrnoErr(std::string("remove ") + name);
    return {};
  }

  int top_fd_;
  std::string stem_;
  std::uint64_t moved_ = 0;
};

}  // namespace

base::Status RemoveTree(int parent_fd, const std::string& name) {
  if (::unlinkat(parent_fd, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return ErrnoErr("unlink " + name);
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenDirectory(parent_fd, name.c_str()));
  const Directory top = ListingOf(std::move(fd));
  if (top == nullptr) return ErrnoErr("list " + name);
  // A process that holds the directory open may put files into it until it is gone.
  constexpr int kTries = 100;
  for (int tries = 0; tries < kTries; ++tries) {
    SKERRY_RETURN_IF_ERROR(Flattener(::dirfd(top.get())).EmptyTop(top.get()));
    if (::unlinkat(parent_fd, name.c_str(), AT_REMOVEDIR) == 0) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) break;
  }
  return ErrnoErr("rmdir " + name);
}

base::Status RemoveTree(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos || slash + 1 == path.size())
    return base::Err(base::Code::kInvalidArgument, "not a path of a directory: " + path);
  const base::UniqueFd parent(::open(path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid()) return errno == ENOENT ? base::Status{} : ErrnoErr(path);
  return RemoveTree(parent.get(), path.substr(slash + 1));
}

}  // namespace skerry::os
