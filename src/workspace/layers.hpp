// The two layers of a commit, and who is asked before something passes from one to the other.
#pragma once

#include <string>

#include "workspace/beneath.hpp"
#include "workspace/commit_rules.hpp"

namespace skerry::workspace {

inline constexpr const char* kChangedMeanwhile = "was changed in the directory meanwhile";

// Everything is borrowed.
struct Layers {
  int upper;
  int lower;
  CommitRules& rules;
  const CommitLimits& limits;

  // Empty, or why the rules refuse it.
  [[nodiscard]] std::string Refusal(const Change& change) const;

  // Whether somebody changed what is at a place of the lower layer after the program had started.
  [[nodiscard]] bool ChangedMeanwhile(const Place& place) const;
};

}  // namespace skerry::workspace
