// How much one import may take, how much it has taken, and who is told of its progress.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.hpp"

namespace skerry::image {

struct ImportLimits {
  std::uint64_t max_bytes = std::uint64_t{20} << 30U;  // everything that is read out of the archive, uncompressed
  std::uint64_t max_entries = 2'000'000;               // files, directories and links, also those made by the way
};

struct Progress {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

enum class ProgressAnswer { kGoOn, kStop };

// Told of an import's progress, often and from the importing thread: Report must return quickly.
class ProgressSink {
 public:
  ProgressSink() = default;
  ProgressSink(const ProgressSink&) = delete;
  ProgressSink& operator=(const ProgressSink&) = delete;
  virtual ~ProgressSink() = default;
  virtual ProgressAnswer Report(const Progress& progress) = 0;
};

// Counts what a whole import takes, whatever number of layers it has. An error ends the import: kTooLarge at a limit,
// kRejected when the sink said stop.
class ImportBudget {
 public:
  // `sink` may be null; it is borrowed.
  ImportBudget(const ImportLimits& limits, ProgressSink* sink) : limits_(limits), sink_(sink) {}

  base::Status TakeBytes(std::uint64_t count);
  base::Status TakeEntry();
  [[nodiscard]] const Progress& used() const { return used_; }

  // A budget with the same room, for reading something that will be read once more: the sink sees no progress in it.
  [[nodiscard]] ImportBudget ForLooking() const;

 private:
  base::Status Report();

  ImportLimits limits_;
  ProgressSink* sink_;
  Progress used_;
  std::optional<Progress> shown_;  // shown to the sink in place of the real progress
};

}  // namespace skerry::image
