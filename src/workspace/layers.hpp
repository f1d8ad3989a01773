// The two layers of a commit, and the rules that are asked before a change passes from one to the other.
#pragma once

#include <string>

#include "workspace/beneath.hpp"
#include "workspace/commit_journal.hpp"
#include "workspace/commit_rules.hpp"
#include "workspace/refused_contents.hpp"

namespace skerry::workspace {

inline constexpr const char* kChangedMeanwhile = "was changed in the directory meanwhile";

// All members are borrowed.
struct Layers {
  int upper;
  int lower;
  CommitRules& rules;
  const CommitLimits& limits;
  CommitJournal& journal;
  const RefusedContents* refused = nullptr;  // contents that must not be lost by a deletion

  // Empty, or why the rules refuse the change.
  [[nodiscard]] std::string Refusal(const Change& change) const;

  // Whether the file at the place is already what the change would make of it. The overlay copies up every file that is
  // opened for writing, written to or not.
  [[nodiscard]] bool IsSameFile(const Place& place, const Change& change, int source) const;
  [[nodiscard]] static bool IsSameLink(const Place& place, const Change& change);
  [[nodiscard]] mode_t ModeFor(const Place& place, const Change& change) const;
  [[nodiscard]] bool HasModeOf(const Place& place, const Change& change) const;

  // Why the file or link at a place must stay although the program took it away: its content would be nowhere. Empty:
  // it may be deleted.
  [[nodiscard]] std::string WouldBeLost(const std::string& path, const Place& place) const;

  // Whether the file or link at a place of the lower layer was changed after the program had started.
  [[nodiscard]] bool ChangedMeanwhile(const Place& place) const;
};

}  // namespace skerry::workspace
