// What one life of a sandbox uses, from sample to sample.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/usage.hpp"
#include "launcher/protocol.hpp"
#include "os/group_usage.hpp"

namespace skerry::runner {

// Thread-safe. Keeps no descriptors.
class UsageSampler {
 public:
  UsageSampler(os::GroupPlaces groups, pid_t init, launcher::Isolation isolation)
      : groups_(std::move(groups)), init_(init), isolation_(isolation) {}

  // Whether cgroups count everything; otherwise processes are counted one by one, and forks have to be known.
  [[nodiscard]] bool Counted() const {
    return groups_.memory.Counts() && groups_.cpu.Counts() && groups_.pids.Counts();
  }

  // The workers that zygotes forked into the sandbox: they are not below its init.
  struct Forks {
    std::vector<pid_t> alive;
    std::chrono::nanoseconds ended_time{0};  // processor time of forks that have ended
  };

  // Fills in all but limits and disk; the memory limit must be set already. Processes and threads are counted without
  // the init and `waiting` others that are Skerry's. False when the sandbox's cgroups are gone. The caller has to check
  // afterwards that the init is alive: otherwise its pid may have been another process's.
  [[nodiscard]] bool Fill(core::SandboxUsage& usage, const Forks& forks, std::uint64_t waiting);

 private:
  enum class Look { kBrief, kThorough };
  [[nodiscard]] std::vector<pid_t> Roots(const Forks& forks) const;
  [[nodiscard]] bool FillFromGroups(core::SandboxUsage& usage, Look look);
  void FillFromProcesses(core::SandboxUsage& usage, const Forks& forks) const;
  void FillNetwork(core::SandboxUsage& usage, Look look);

  const os::GroupPlaces groups_;
  const pid_t init_;
  const launcher::Isolation isolation_;
  std::mutex mutex_;  // guards what follows
  unsigned looks_ = 0;
  std::uint64_t droppable_ = 0;     // when it was last read
  std::uint64_t used_then_ = 0;     // the memory at that time
  os::NetworkUse network_;          // when it was last read
  std::chrono::nanoseconds cpu_{};  // the largest value that was seen
};

// What was written to the layer of a workspace, and the layer's size. `changes` is an open directory, -1 for none;
// nothing is counted in a directory that is no file system of its own.
void FillDisk(core::SandboxUsage& usage, int changes);

}  // namespace skerry::runner
