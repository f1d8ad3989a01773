// Mounts without allocation: these run after clone, where only system calls are safe. Each returns 0 or an errno.
#pragma once

#include <cstdint>

namespace skerry::os {

enum class Access { kReadOnly, kReadWrite };
enum class Execute { kAllowed, kForbidden };
enum class AccessTimes { kUsual, kNone };

// What may be done through a bind. Set-uid programs are without effect on all of them.
struct BindOptions {
  Access access = Access::kReadOnly;
  Execute execute = Execute::kAllowed;
  bool devices = false;  // only for the device files of /dev
};

// No mount below the root takes part in mount propagation with the host any longer.
int MakeMountsPrivate();

// A copy of the mount tree at `source` (relative to `source_fd`, or the descriptor itself when "") appears at `target`.
int BindMount(int source_fd, const char* source, const char* target, const BindOptions& options);

// Sets these options for a mount that is not attached anywhere yet.
int SetMountOptions(int tree, const BindOptions& options);

// An empty file system of a limited size. `options` as for mount(8): "mode=755,size=4m,nr_inodes=1k".
int MountTmpfs(const char* target, const char* options, Execute execute, AccessTimes times = AccessTimes::kUsual);

// Gives a mounted tmpfs other options.
int ResizeTmpfs(const char* target, const char* options, Execute execute);

// Hides what is at `path`: a file behind the null device, a directory behind an empty read-only one, which is a bind of
// `blank` if that is one already. No such path is success; ENOTDIR when it is of the other kind.
int MaskFile(const char* path, const char* null_device);
int MaskDirectory(const char* path, const char* blank);

// Closes what is at `path` to every user: a file behind `cover`, an empty file that no user may open; a directory
// behind an empty one. No such path is success.
int HidePath(const char* path, const char* cover);

// Makes `path` and all below it read-only where it is.
int MakeReadOnly(const char* path);

// Makes the file system that is mounted at `path` read-only, and nothing below it.
int SealMount(const char* path);

// The current directory becomes the root; the old root is gone from this mount namespace.
int PivotToCurrentDirectory();

}  // namespace skerry::os
