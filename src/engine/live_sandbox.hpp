// A sandbox of a session whose processes live on from command to command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "workspace/layer_memory.hpp"

namespace skerry::engine {

// Made by SandboxManager::StartLive. Used by one thread at a time.
struct LiveSandbox {
  std::shared_ptr<const void> root_lease;
  core::Backend* backend = nullptr;
  std::unique_ptr<core::Sandbox> sandbox;
  workspace::LayerMemory memory;  // what was committed of its layer
  std::uint64_t generation = 0;   // grows when it had to be made anew; then its views are others
  std::vector<std::string> degraded;
};

}  // namespace skerry::engine
