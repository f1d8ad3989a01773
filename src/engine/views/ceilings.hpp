// Ceilings: the most that a principal may ask for: what the configuration gives; an admin may ask for more. The numbers
// of sessions and runs have limits of the principal's own (Principal::most_runs).
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "engine/principal.hpp"

namespace skerry::engine {

// For a session. kInvalidArgument, with the name of the limit.
base::Status CheckLimits(const Principal& principal, const core::SandboxLimits& most,
                         const core::SandboxLimits& wanted);
// For a run: at most what its session has, or what the configuration gives if that is more.
base::Status CheckMemory(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb);
// How much of its output a run keeps: asking for more is not an error, the number is cut.
std::uint64_t OutputWithin(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb);

}  // namespace skerry::engine
