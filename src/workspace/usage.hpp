// What a workspace takes, against what it may take.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "base/result.hpp"

namespace skerry::workspace {

// Whether the disk has room for so many bytes more; an error says why not. Empty: the disk is not asked.
using DiskRoomCheck = std::function<base::Status(std::uint64_t bytes)>;

struct Usage {
  std::uint64_t bytes = 0;    // on disk; holes are not counted
  std::uint64_t entries = 0;  // files, directories, links
};

// Counts a tree (borrowed) without following links or entering other file systems, at any depth.
base::Result<Usage> CountUsage(int root);

// The use of a workspace: counted once, then kept up to date with what is reserved and given back. Thread-safe.
class UsageCount {
 public:
  UsageCount(int root, Usage limit, DiskRoomCheck room) : root_(root), limit_(limit), room_(std::move(room)) {}

  // kTooLarge, with the figures, when it does not fit; the error of `room` when the disk has none.
  base::Status Reserve(Usage more);
  // Asks the disk only: for a file that is written beside another one that it will replace.
  [[nodiscard]] base::Status AskDisk(std::uint64_t bytes) const;
  void GiveBack(Usage less);
  base::Result<Usage> Current();
  void Forget();  // the next question counts anew

 private:
  base::Status CountOnce();  // with the mutex held

  const int root_;
  const Usage limit_;
  const DiskRoomCheck room_;
  std::mutex mutex_;
  std::optional<Usage> counted_;
};

}  // namespace skerry::workspace
