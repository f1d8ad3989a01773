// What a launcher tells a zygote: how the next child is to be fenced in. A zygote never gets a byte of what the child
// will run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/privileges.hpp"
#include "os/seccomp.hpp"

namespace skerry::launcher {

// Comes with these descriptors, in this order: the pidfd of the sandbox's init; stdin, stdout, stderr and channel of
// the child; the files to which the child writes "0" in order to join the sandbox's cgroups.
struct ForkOrder {
  os::ProcessLimits limits;
  os::FilterOptions filter;
  int landlock_abi = 0;
};
inline constexpr std::size_t kForkStreams = 4;
inline constexpr std::size_t kForkDescriptors = 1 + kForkStreams;  // before those of the cgroups

// The zygote's answer: the pid of the child, or what stood in the way.
struct ForkAnswer {
  std::uint64_t pid = 0;
  std::uint64_t error = 0;  // errno
};

// The first word of a zygote: it is ready to be forked.
inline constexpr std::string_view kZygoteReady = "!";

std::string Encode(const ForkOrder& order);
std::string Encode(const ForkAnswer& answer);
// Nothing for bytes that are not exactly one well-formed message with values in range.
std::optional<ForkOrder> DecodeForkOrder(std::string_view bytes);
std::optional<ForkAnswer> DecodeForkAnswer(std::string_view bytes);

}  // namespace skerry::launcher
