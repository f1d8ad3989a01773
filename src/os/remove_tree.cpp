#include "os/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"

namespace skerry::os {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// A program may take our right to look into its directories away; as the owner (or root) we give it back.
base::Result<base::UniqueFd> OpenDirectory(int parent_fd, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  base::UniqueFd fd(::openat(parent_fd, name, kFlags));
  if (!fd.valid() && errno == EACCES && ::fchmodat(parent_fd, name, S_IRWXU, 0) == 0)
    fd.Reset(::openat(parent_fd, name, kFlags));
  if (!fd.valid()) return ErrnoErr(std::string("open ") + name);
  ::fchmod(fd.get(), S_IRWXU);  // removing entries needs write and search; where it fails the removal below says so
  return fd;
}

// Deep trees are made flat: each directory found inside is moved up beside the one being emptied, and emptied in its
// turn.
class Flattener {
 public:
  Flattener(int top_fd, std::string_view stem) : top_fd_(top_fd), stem_(stem) {}

  base::Status EmptyAndRemove(const std::string& name) {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenDirectory(top_fd_, name.c_str()));
    const Directory directory(::fdopendir(fd.get()));
    if (directory == nullptr) return ErrnoErr("fdopendir");
    const int directory_fd = fd.Release();
    SKERRY_RETURN_IF_ERROR(RemoveEntries(directory.get(), directory_fd));
    if (::unlinkat(top_fd_, name.c_str(), AT_REMOVEDIR) < 0) return ErrnoErr("rmdir " + name);
    return {};
  }

  [[nodiscard]] bool HasMore() const { return done_ < moved_; }
  base::Status EmptyNext() { return EmptyAndRemove(NameOf(done_++)); }

 private:
  [[nodiscard]] std::string NameOf(std::uint64_t number) const {
    return std::string(stem_) + ".gone." + std::to_string(number);
  }

  base::Status RemoveEntries(DIR* directory, int directory_fd) {
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory);
      if (entry == nullptr) return errno == 0 ? base::Status{} : ErrnoErr("readdir");
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      SKERRY_RETURN_IF_ERROR(RemoveOrMoveUp(directory_fd, entry->d_name));
    }
  }

  base::Status RemoveOrMoveUp(int directory_fd, const char* name) {
    if (::unlinkat(directory_fd, name, 0) == 0) return {};
    if (errno != EISDIR && errno != EPERM) return ErrnoErr(std::string("unlink ") + name);
    if (::unlinkat(directory_fd, name, AT_REMOVEDIR) == 0) return {};
    if (errno == EACCES || errno == ENOTEMPTY || errno == EEXIST) {
      // Moving a directory rewrites its "..", which needs write permission on the directory itself.
      (void)::fchmodat(directory_fd, name, S_IRWXU, 0);
      if (::renameat(directory_fd, name, top_fd_, NameOf(moved_).c_str()) == 0) {
        ++moved_;
        return {};
      }
    }
    return ErrnoErr(std::string("remove ") + name);
  }

  int top_fd_;
  std::string_view stem_;
  std::uint64_t moved_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

base::Status RemoveTree(int parent_fd, const std::string& name) {
  if (::unlinkat(parent_fd, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return ErrnoErr("unlink " + name);
  Flattener flattener(parent_fd, name);
  SKERRY_RETURN_IF_ERROR(flattener.EmptyAndRemove(name));
  while (flattener.HasMore()) SKERRY_RETURN_IF_ERROR(flattener.EmptyNext());
  return {};
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
