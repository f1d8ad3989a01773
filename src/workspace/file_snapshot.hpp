// Which files a directory holds, so that what a run created can be told afterwards.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skerry::workspace {

// The paths of everything but directories below `root`, relative, links not followed. A tree beyond the bounds,
// or with directories that cannot be read, is not complete, and says so.
struct FileSnapshot {
  std::set<std::string> paths;
  bool complete = true;

  static constexpr std::size_t kMaxFiles = 50'000;
  static constexpr std::size_t kMaxDepth = 64;

  // `directory` is borrowed.
  static base::Result<FileSnapshot> Take(int directory);

  // What is in `later` and not here, sorted. Nothing when either is not complete: a wrong list is worse than none.
  [[nodiscard]] std::vector<std::string> CreatedSince(const FileSnapshot& later) const;
};

}  // namespace skerry::workspace
