// The two layers of a commit, and who is asked before something passes from one to the other.
#pragma once

#include <string>

#include "workspace/beneath.hpp"
#include "workspace/commit_journal.hpp"
#include "workspace/commit_rules.hpp"
#include "workspace/refused_contents.hpp"

namespace skerry::workspace {

inline constexpr const char* kChangedMeanwhile = "was changed in the directory meanwhile";

// Everything is borrowed.
struct Layers {
  int upper;
  int lower;
  CommitRules& rules;
  const CommitLimits& limits;
  CommitJournal& journal;
  const RefusedContents* refused = nullptr;  // what must not be lost with what is deleted

  // Empty, or why the rules refuse it.
  [[nodiscard]] std::string Refusal(const Change& change) const;

  // Whether what is at the place is what the change would make of it. The overlay copies up what is opened for writing,
  // written to or not.
  [[nodiscard]] bool IsSameFile(const Place& place, const Change& change, int source) const;
  [[nodiscard]] static bool IsSameLink(const Place& place, const Change& change);
  [[nodiscard]] mode_t ModeFor(const Place& place, const Change& change) const;
  [[nodiscard]] bool HasModeOf(const Place& place, const Change& change) const;

  // Why what is at a place must stay although the program took it away: it would be nowhere. Empty: it may go.
  [[nodiscard]] std::string WouldBeLost(const std::string& path, const Place& place) const;

  // Whether somebody changed what is at a place of the lower layer after the program had started.
  [[nodiscard]] bool ChangedMeanwhile(const Place& place) const;
};

}  // namespace skerry::workspace
