// What a commit would do, without doing it.
#pragma once

#include "base/result.hpp"
#include "workspace/commit.hpp"

namespace skerry::workspace {

// As Commit(), but nothing is touched. What only shows in the doing (a full disk, a link that leads out through another
// new one) is not in it.
base::Result<CommitReport> PreviewCommit(int upper, int lower, CommitRules& rules, const CommitLimits& limits);

}  // namespace skerry::workspace
