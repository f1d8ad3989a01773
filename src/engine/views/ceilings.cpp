#include "engine/views/ceilings.hpp"

#include <algorithm>
#include <string>

namespace skerry::engine {
namespace {

constexpr std::uint64_t kMostOutputMb = 1024;  // for any principal

base::Status Check(const std::string& name, std::uint64_t wanted, std::uint64_t most) {
  if (wanted <= most) return {};
  return base::Err(base::Code::kInvalidArgument, name + " is at most " + std::to_string(most) + " for this token");
}

}  // namespace

base::Status CheckLimits(const Principal& principal, const core::SandboxLimits& most,
                         const core::SandboxLimits& wanted) {
  if (principal.scopes.May(kToAdminister)) return {};
  SKERRY_RETURN_IF_ERROR(Check("limits.memory_mb", wanted.memory_mb, most.memory_mb));
  SKERRY_RETURN_IF_ERROR(Check("limits.pids", wanted.pids, most.pids));
  SKERRY_RETURN_IF_ERROR(Check("limits.disk_mb", wanted.disk_mb, most.disk_mb));
  if (most.cpu_percent == 0) return {};  // any number
  if (wanted.cpu_percent == 0)
    return base::Err(base::Code::kInvalidArgument, "limits.cpu_percent must not be 0 for this token");
  return Check("limits.cpu_percent", wanted.cpu_percent, most.cpu_percent);
}

base::Status CheckMemory(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb) {
  if (principal.scopes.May(kToAdminister)) return {};
  return Check("max_memory_mb", wanted_mb, most_mb);
}

std::uint64_t OutputWithin(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb) {
  return std::min(wanted_mb, principal.scopes.May(kToAdminister) ? kMostOutputMb : most_mb);
}

}  // namespace skerry::engine
