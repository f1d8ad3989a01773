// Which limits a command ran into, from what the kernel counted.
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

// In the order of the name. A limit on open files leaves no trace: programs see EMFILE.
std::vector<core::LimitReached> LimitsReached(const LimitEvidence& evidence, const core::SandboxLimits& limits);

}  // namespace skerry::runner
