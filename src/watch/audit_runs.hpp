// Runs: records that stand one behind the other in the files. An audit that was left alone is one run; every border
// between two is a place where something was removed, moved or put in. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skerry::watch {

// Where a line is.
struct AuditPlace {
  std::uint64_t ordinal = 0;  // of all lines, in order
  std::string file;
  std::size_t line = 0;
};

struct AuditRun {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string first_previous;
  std::string last_hash;
  bool first_sound = true;  // the hash of the first record is that of its text
  bool last_sound = true;
  AuditPlace place;  // of the first
};

// Records that are missing, there twice, or at a wrong place.
struct AuditMisplacement {
  enum class Kind {
    kMissing,
    kCutOff,  // missing at the end; without a place
    kTwice,
    kMoved,
    kReplaced,
  };
  Kind kind = Kind::kMissing;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t behind = 0;  // the record that stands before them
  AuditPlace place;
};

struct AuditOrder {
  std::vector<AuditMisplacement> misplaced;
  std::size_t first_run = 0;  // of those that are in order
  std::size_t last_run = 0;
};

// Explains the borders between the runs with the fewest records out of place. The first run stands for the beginning:
// {0, 0}. When `head` is known, a few records behind the record that it names are out of place too.
AuditOrder OrderOf(const std::vector<AuditRun>& runs, std::optional<std::uint64_t> head);

}  // namespace skerry::watch
