// Translates a sandbox's specification into a request to the launcher.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "launcher/protocol.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry::runner {

struct LaunchRequest {
  launcher::StartRequest request;
  std::vector<int> fds;  // borrowed from the specification, in the request's order
};

LaunchRequest LaunchRequestFor(const LaunchProfile& profile, const core::SandboxSpec& spec);

}  // namespace skerry::runner
