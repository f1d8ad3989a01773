// Giving up privileges: for a moment, or for good. The functions that give them up for good run after clone: no
// allocation, 0 or an errno.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>

namespace skerry::os {

// Whether a step that an unprivileged process cannot take is a failure.
enum class Effort { kMust, kAsFarAsPossible };

// Empties the bounding set first (so that no exec brings anything back), then ambient, permitted, effective and
// inheritable, and locks the secure bits. Closes A21 and B15.
int DropAllCapabilities(Effort effort);

// Empties the bounding set only.
int EmptyBoundingSet(Effort effort);

int SetNoNewPrivileges();

struct ProcessLimits {
  std::uint64_t open_files = 1024;
  std::uint64_t file_bytes = 0;  // the largest file, 0 for no limit
  std::uint64_t processes = 0;   // per user namespace; 0 for no limit (a cgroup counts instead)
  std::uint64_t data_bytes = 0;  // private writable memory of one process; 0 for no limit
};
// Hard limits, core files never (F08), no real-time priority (D09), little locked memory, no POSIX queues.
int ApplyProcessLimits(const ProcessLimits& limits);

// Supplementary groups are dropped, then group and user are set for good: for every thread of the process. So a child
// of clone must not call this when its parent had several threads: it would wait for those for ever.
int BecomeUser(uid_t user, gid_t group, Effort groups);

// As BecomeUser, but a privileged process keeps the named capabilities, and so do the programs it executes. A process
// of a plain user is left as it is.
int BecomeUserWith(uid_t user, gid_t group, std::initializer_list<int> capabilities);

// Put away the capabilities that BecomeUserWith kept, and take them up again for a moment: for this process alone, not
// for the programs it executes.
int ParkCapabilities();
int RaiseParkedCapabilities();

// While this object lives, a privileged process has `user` as its effective user, with all its capabilities. In other
// processes the object does nothing.
class EffectiveUser {
 public:
  explicit EffectiveUser(uid_t user);
  EffectiveUser(const EffectiveUser&) = delete;
  EffectiveUser& operator=(const EffectiveUser&) = delete;
  ~EffectiveUser();

 private:
  bool changed_ = false;
};

}  // namespace skerry::os
