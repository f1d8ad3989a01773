// Which files a directory holds, so that what a run did to it can be told afterwards where it wrote to it directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skerry::workspace {

// The paths of everything but directories below `root`, relative, links not followed. A tree beyond the bounds,
// or with directories that cannot be read, is not complete, and says so.
struct FileSnapshot {
  // By what the kernel keeps and no program can set: a file that was written to has another time.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::uint64_t mode = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    bool operator==(const Stamp&) const = default;
  };
  std::map<std::string, Stamp> files;
  bool complete = true;

  static constexpr std::size_t kMaxFiles = 50'000;
  static constexpr std::size_t kMaxDepth = 64;

  // `directory` is borrowed.
  static base::Result<FileSnapshot> Take(int directory);

  // What happened between this one and `later`, each sorted. Nothing when either is not complete: a wrong list is worse
  // than none.
  struct Differences {
    std::vector<std::string> created;
    std::vector<std::string> changed;
    std::vector<std::string> deleted;
  };
  [[nodiscard]] Differences Until(const FileSnapshot& later) const;
};

}  // namespace skerry::workspace
