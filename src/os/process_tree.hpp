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

// What the tree uses. Resident sizes are cheap to read but count shared pages several times: only when their sum is
// over `threshold` the exact proportional sizes are read.
TreeUse ProcessTreeUse(pid_t root, std::uint64_t threshold);

// Kills `leader`, which leads a session, with its descendants, the members of its session and of the sessions that any
// of them leads. A leader that has ended leaves its session. What cannot be seen in /proc is not found, nor what has
// left both its session and its parents. Reaps nothing; gives up at the deadline.
void KillSessionTree(pid_t leader, base::Deadline deadline);

// The parent of a process as seen now; 0 when there is no such process.
pid_t ParentOf(pid_t pid);

// Kills every descendant of `root` that can be seen now, and gives their number. Leaves `root` itself alive: it
// inherits processes whose parents are killed. Reaps nothing. `root` must not have been reaped, or its pid may be that
// of another process.
std::size_t KillDescendantsOf(pid_t root);

// Kills and reaps every descendant of this process, however they detached themselves; needs PR_SET_CHILD_SUBREAPER.
// False when some were left at the deadline.
bool KillAllDescendants(base::Deadline deadline);

}  // namespace skerry::os
