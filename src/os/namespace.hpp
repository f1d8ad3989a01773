// Making a process in namespaces of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/pidfd.hpp"

namespace skerry::os {

inline constexpr std::uint64_t kNewTime = 0x00000080;  // CLONE_NEWTIME, older headers lack it

// clone3 with a pidfd. In the child `child` is true and only async-signal-safe calls may follow; in the parent
// `process` holds the child. `cgroup_fd` >= 0 starts the child inside that cgroup v2 directory.
struct Cloned {
  bool child = false;
  PidFd process;
};
base::Result<Cloned> CloneInto(std::uint64_t namespace_flags, int cgroup_fd);

// As CloneInto, from within another mount namespace, of which the child gets a copy: `child` runs in the new process
// and does not return. Needs privilege over that namespace.
base::Result<PidFd> CloneFrom(int mount_namespace, std::uint64_t namespace_flags, int cgroup_fd, void (*child)(void*),
                              void* argument);

// One id of the host becomes `inside` in the user namespace of `pid`. Host id 0 is refused: root of the host is never
// mapped into a sandbox (finding F-1: with it /proc/sys/kernel/core_pattern is writable from inside).
struct IdMapping {
  unsigned inside = 0;
  unsigned outside = 0;
};
// Whether setgroups(2) is denied in the user namespace: without privilege the kernel demands that before it takes a
// group map.
enum class Setgroups { kKeep, kDeny };
base::Status WriteIdMaps(pid_t pid, IdMapping user, IdMapping group, Setgroups setgroups);

}  // namespace skerry::os
