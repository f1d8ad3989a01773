// What the processes of a sandbox use now: by the counters of their cgroups, or one by one where they have none.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "os/cgroup_hierarchy.hpp"

namespace skerry::os {

// The directory of a cgroup whose controller counts something.
struct GroupPlace {
  CgroupVersion version = CgroupVersion::kTwo;
  std::string directory;  // "" where nothing counts it

  [[nodiscard]] bool Counts() const { return !directory.empty(); }
  bool operator==(const GroupPlace&) const = default;
};

struct GroupPlaces {
  GroupPlace memory;
  GroupPlace cpu;
  GroupPlace pids;
  GroupPlace processors;  // which divides them; often where their time is counted too

  bool operator==(const GroupPlaces&) const = default;
};

// Each function opens its control file by its path, reads it and closes it. Nothing when the file cannot be read:
// usually the cgroup is gone.
std::optional<std::uint64_t> MemoryOf(const GroupPlace& memory);           // with files that are only cached
std::optional<std::uint64_t> DroppableMemoryOf(const GroupPlace& memory);  // of that, what the kernel would drop first
std::optional<std::chrono::nanoseconds> CpuTimeOf(const GroupPlace& cpu);  // also of processes that have ended
std::optional<std::uint64_t> TasksOf(const GroupPlace& pids);              // processes and threads

// The figure behind a key in the text of a control file: 12 for "key" in "key 12\nother 3\n".
std::optional<std::uint64_t> KeyedNumber(std::string_view text, std::string_view key);

struct ProcessesUse {
  std::chrono::nanoseconds cpu_time{0};  // with that of children that have been waited for
  std::uint64_t memory_bytes = 0;        // anonymous; pages that a fork shares with its parent count for both
  std::uint64_t tasks = 0;               // processes and threads
};

// What these processes and all their descendants use. A process that ends or changes its parent meanwhile may be
// missed.
ProcessesUse UseOfProcesses(std::span<const pid_t> roots);

struct NetworkUse {
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t interfaces = 0;  // without the loopback, as in the figures above
};

// From the text of /proc/PID/net/dev.
NetworkUse ParseNetworkUse(std::string_view text);
// What went through the network namespace of process `pid`.
std::optional<NetworkUse> NetworkUseOf(pid_t pid);

}  // namespace skerry::os
