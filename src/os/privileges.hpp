// Giving up power: for a moment, or for good. What is for good runs after clone: no allocation, 0 or an errno.
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

// Only that set.
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

// Supplementary groups are dropped, then group and user are set for good.
int BecomeUser(uid_t user, gid_t group, Effort groups);

// The same, but of a privileged process's capabilities those named are kept, also by what it executes. A plain user is
// left as it is.
int BecomeUserWith(uid_t user, gid_t group, std::initializer_list<int> capabilities);

// What BecomeUserWith kept: to be used only for a moment, by this process and not by what it executes.
int ParkCapabilities();
int RaiseParkedCapabilities();

// For as long as it lives a privileged process has `user` as its effective user, with all its capabilities; for others
// it does nothing.
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
