// The sandbox that a context gets.
#pragma once

#include "base/result.hpp"
#include "engine/context_manager.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::engine {

// A started sandbox with an empty workspace of its own, made as the manager's options say for every run. kUnavailable
// when the chosen backend has no contexts.
base::Result<ContextPlace> StartContextSandbox(const SandboxManager& manager);

}  // namespace skerry::engine
