// What a sandbox uses at one moment (S10.1).
#pragma once

#include <chrono>
#include <cstdint>

namespace skerry::core {

// A limit of 0 is none.
struct SandboxUsage {
  std::chrono::nanoseconds cpu_time{0};  // of all processes of the sandbox since its beginning
  std::uint64_t cpu_limit_percent = 0;   // of one core
  std::uint64_t memory_bytes = 0;        // without the part that the kernel could drop at once
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t pids = 0;  // processes and threads of programs, not the sandbox's own
  std::uint64_t pids_limit = 0;
  std::uint64_t received_bytes = 0;  // by network interfaces other than the loopback
  std::uint64_t sent_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of what was written to the workspace's layer
  std::uint64_t disk_limit_bytes = 0;

  bool operator==(const SandboxUsage&) const = default;
};

}  // namespace skerry::core
