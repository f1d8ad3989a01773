// Where the file system of a workspace ends.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

using Facts = struct statx;

inline bool IsFile(const Facts& facts) {
  return S_ISREG(facts.stx_mode);
}
inline bool IsDirectory(const Facts& facts) {
  return S_ISDIR(facts.stx_mode);
}
inline bool IsLink(const Facts& facts) {
  return S_ISLNK(facts.stx_mode);
}
inline std::uint32_t PermissionsOf(const Facts& facts) {
  return facts.stx_mode & std::uint32_t{ACCESSPERMS};
}
inline std::uint64_t BytesOnDisk(const Facts& facts) {
  return facts.stx_blocks * 512;
}

// The facts of `name` in a directory, without following a link; "" is the open file or directory itself. False, and
// errno.
bool FactsAt(int directory, const char* name, Facts& facts);

// Whether both are the same directory or file.
bool SameThing(const Facts& left, const Facts& right);

class MountBorder {
 public:
  explicit MountBorder(int root);

  // Whether something lies in the same file system: by its mount, where the kernel tells it; else by its device.
  [[nodiscard]] bool Holds(const Facts& facts) const;

 private:
  Facts root_{};
};

// Opens again, with `flags` as for open(2), a file or directory that is held as O_PATH. Anything but a regular file or
// a directory is refused, so that nothing happens to a fifo or a device, and nothing blocks.
base::Result<base::UniqueFd> OpenHeld(const base::UniqueFd& handle, int flags);

// The regular file `name` of a directory, which must be no link and not be mounted there.
base::Result<base::UniqueFd> OpenFileIn(int directory, const std::string& name, const MountBorder& border, int flags);

// The path in /proc by which this process opens a descriptor again.
class OwnName {
 public:
  explicit OwnName(int fd);
  [[nodiscard]] const char* c_str() const { return text_; }

 private:
  char text_[32] = "/proc/self/fd/";
};

}  // namespace skerry::workspace
