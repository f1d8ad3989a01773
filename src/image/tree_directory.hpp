// Directories of a tree that was unpacked from an untrusted archive.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"

namespace skerry::image {

enum class Links {
  kInsideTree,  // followed as if the tree were all there is: "/x" and "../../x" stay in it
  kRefused,     // ELOOP
};

// openat2(2) below `root_fd`, which is the top: nothing outside can be reached, whatever links are on the way, and no
// other file system. "" is the top itself. O_CLOEXEC is added. Invalid with errno set when it fails.
base::UniqueFd OpenInTree(int root_fd, const std::string& path, int flags, Links links);

// A directory that entries are written to and that keeps its time of change: the destructor puts it back. So the times
// that an archive gives survive later entries, and no list of them is kept.
class TimedDirectory {
 public:
  explicit TimedDirectory(base::UniqueFd fd);
  TimedDirectory(TimedDirectory&&) noexcept = default;
  TimedDirectory& operator=(TimedDirectory&&) = delete;
  TimedDirectory(const TimedDirectory&) = delete;
  TimedDirectory& operator=(const TimedDirectory&) = delete;
  ~TimedDirectory();

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  base::UniqueFd fd_;
  timespec mtime_{};
};

}  // namespace skerry::image
