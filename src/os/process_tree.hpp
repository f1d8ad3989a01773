// The descendants of a process, for machines where no cgroup counts or kills them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/deadline.hpp"

namespace skerry::os {

// `root` and all its descendants as seen now, root first.
std::vector<pid_t> ProcessTree(pid_t root);

// Memory of the tree in bytes. Cheap resident sizes count shared pages several times, so only when their sum is over
// `threshold` the exact proportional sizes are read.
std::uint64_t ProcessTreeMemory(pid_t root, std::uint64_t threshold);

// Kills and reaps every descendant of this process, however they detached themselves; needs PR_SET_CHILD_SUBREAPER.
// False when some were left at the deadline.
bool KillAllDescendants(base::Deadline deadline);

}  // namespace skerry::os
