// How a command ended and which limits it ran into, from what the kernel counted.
#pragma once

#include <vector>

#include "core/backend.hpp"
#include "launcher/protocol.hpp"

namespace skerry::runner {

struct LimitEvidence {
  core::Outcome outcome;
  bool output_truncated = false;
  std::uint64_t max_output_bytes = 0;
  launcher::Usage usage;  // since the previous command
  int changes_fd = -1;    // the layer of the workspace, or -1
};

// What was used between two counts.
launcher::Usage UsedSince(const launcher::Usage& before, const launcher::Usage& now);

// The outcome of a program with this status of wait(2) and this usage.
core::Outcome OutcomeOf(int wait_status, const launcher::Usage& used, const core::SandboxLimits& limits);

// Sorted by name. A limit on open files leaves no trace: programs see EMFILE.
std::vector<core::LimitReached> LimitsReached(const LimitEvidence& evidence, const core::SandboxLimits& limits);

}  // namespace skerry::runner
