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
  launcher::Usage usage;  // since the command before
  int changes_fd = -1;    // the workspace's own layer, or -1
};

// What was used between the two.
launcher::Usage UsedSince(const launcher::Usage& before, const launcher::Usage& now);

// What the status of wait(2) means for a program that used this.
core::Outcome OutcomeOf(int wait_status, const launcher::Usage& used, const core::SandboxLimits& limits);

// In the order of the name. A limit on open files leaves no trace: programs see EMFILE.
std::vector<core::LimitReached> LimitsReached(const LimitEvidence& evidence, const core::SandboxLimits& limits);

}  // namespace skerry::runner
