#include "os/mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace skerry::os {
namespace {

int Outcome(long result) {
  return result < 0 ? errno : 0;
}

// Closes without losing the errno that is being reported.
int CloseAnd(int fd, int outcome) {
  ::close(fd);
  return outcome;
}

mount_attr AttributesOf(const BindOptions& options) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (options.access == Access::kReadOnly) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  if (options.execute == Execute::kForbidden) attributes.attr_set |= MOUNT_ATTR_NOEXEC;
  if (!options.devices) attributes.attr_set |= MOUNT_ATTR_NODEV;
  return attributes;
}

}  // namespace

int MakeMountsPrivate() {
  return Outcome(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

int SetMountOptions(int tree, const BindOptions& options) {
  mount_attr attributes = AttributesOf(options);
  return Outcome(::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes));
}

int BindMount(int source_fd, const char* source, const char* target, const BindOptions& options) {
  const int tree = ::open_tree(source_fd, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (tree < 0) return errno;
  int error = SetMountOptions(tree, options);
  if (error == 0) error = Outcome(::move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH));
  return CloseAnd(tree, error);
}

int MountTmpfs(const char* target, const char* options, Execute execute, AccessTimes times) {
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (execute == Execute::kForbidden) flags |= MS_NOEXEC;
  if (times == AccessTimes::kNone) flags |= MS_NOATIME;
  return Outcome(::mount("tmpfs", target, "tmpfs", flags, options));
}

int ResizeTmpfs(const char* target, const char* options, Execute execute) {
  unsigned long flags = MS_REMOUNT | MS_NOSUID | MS_NODEV;
  if (execute == Execute::kForbidden) flags |= MS_NOEXEC;
  return Outcome(::mount(nullptr, target, nullptr, flags, options));
}

int MaskFile(const char* path, const char* null_device) {
  const int error = Outcome(::mount(null_device, path, nullptr, MS_BIND, nullptr));
  return error == ENOENT ? 0 : error;
}

int MaskDirectory(const char* path, const char* blank) {
  const int error =
      Outcome(blank != nullptr
                  ? ::mount(blank, path, nullptr, MS_BIND, nullptr)
                  : ::mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=555"));
  return error == ENOENT ? 0 : error;
}

int HidePath(const char* path, const char* cover) {
  struct stat facts{};
  if (::stat(path, &facts) < 0) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
  if (S_ISDIR(facts.st_mode))
    return Outcome(::mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=000"));
  return BindMount(AT_FDCWD, cover, path, {.access = Access::kReadOnly, .execute = Execute::kForbidden});
}

int MakeReadOnly(const char* path) {
  if (::access(path, F_OK) < 0) return errno == ENOENT ? 0 : errno;
  return BindMount(AT_FDCWD, path, path, {.access = Access::kReadOnly, .execute = Execute::kForbidden});
}

int SealMount(const char* path) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return Outcome(::mount_setattr(AT_FDCWD, path, 0, &attributes, sizeof attributes));
}

int PivotToCurrentDirectory() {
  // Both arguments are the same directory: the old root lies on top of the new one for a moment and is taken off, so no
  // directory for it has to exist in the new root.
  if (::syscall(SYS_pivot_root, ".", ".") < 0) return errno;
  if (::umount2(".", MNT_DETACH) < 0) return errno;
  return Outcome(::chdir("/"));
}

}  // namespace skerry::os
