// Ceilings: the most that a principal may ask for. What the configuration gives is that; who may administer may ask for
// more. How many sessions and runs there may be is the principal's own (Principal::most_runs).
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "engine/principal.hpp"

namespace skerry::engine {

// Of a session. kInvalidArgument, with the name of the limit.
base::Status CheckLimits(const Principal& principal, const core::SandboxLimits& most,
                         const core::SandboxLimits& wanted);
// Of a run: at most what its session has, or what the configuration gives if that is more.
base::Status CheckMemory(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb);
// What a run keeps of its output: more than that is not an error, it is cut.
std::uint64_t OutputWithin(const Principal& principal, std::uint64_t most_mb, std::uint64_t wanted_mb);

}  // namespace skerry::engine
