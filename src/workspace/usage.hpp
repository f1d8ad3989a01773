// What a workspace takes, against what it may take.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/result.hpp"

namespace skerry::workspace {

struct Usage {
  std::uint64_t bytes = 0;    // on disk; holes are not counted
  std::uint64_t entries = 0;  // files, directories, links
};

// Counts a tree (borrowed) without following links or entering other file systems, at any depth.
base::Result<Usage> CountUsage(int root);

// A count that is made once and then kept up with what is reserved and given back. Thread-safe.
class UsageCount {
 public:
  UsageCount(int root, Usage limit) : root_(root), limit_(limit) {}

  // kTooLarge, with the figures, when it does not fit.
  base::Status Reserve(Usage more);
  void GiveBack(Usage less);
  base::Result<Usage> Current();
  void Forget();  // the next question counts anew

 private:
  base::Status CountOnce();  // with the mutex held

  const int root_;
  const Usage limit_;
  std::mutex mutex_;
  std::optional<Usage> counted_;
};

}  // namespace skerry::workspace
