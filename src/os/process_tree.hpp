// The descendants of a process, for machines where no cgroup counts or kills them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/deadline.hpp"

namespace skerry::os {

// `root` and all its descendants as seen now, root first.
std::vector<pid_t> ProcessTree(pid_t root);

struct TreeUse {
  std::uint64_t memory_bytes = 0;
  std::uint64_t tasks = 0;  // processes and threads
};

// What the tree uses. Cheap resident sizes count shared pages several times, so only when their sum is over
// `threshold` the exact proportional sizes are read.
TreeUse ProcessTreeUse(pid_t root, std::uint64_t threshold);

// Kills and reaps every descendant of this process, however they detached themselves; needs PR_SET_CHILD_SUBREAPER.
// False when some were left at the deadline.
bool KillAllDescendants(base::Deadline deadline);

}  // namespace skerry::os
