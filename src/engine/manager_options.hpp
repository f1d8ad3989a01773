// What a SandboxManager is made with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/sandbox_spec.hpp"
#include "engine/filesystem_rules.hpp"
#include "engine/gate.hpp"
#include "engine/secrets.hpp"
#include "engine/warm_sandboxes.hpp"
#include "policy/security_mode.hpp"

namespace skerry::engine {

// Without sandboxes programs run as the caller's own do, and only the local guard protects (S4.6).
enum class Sandboxing { kEnabled, kDisabled };

struct ManagerOptions {
  Sandboxing sandboxing = Sandboxing::kEnabled;
  policy::SecurityMode mode = policy::SecurityMode::kStrict;
  std::string default_backend;  // what `auto` means; "" for the strongest available backend
  core::SandboxLimits limits;   // memory comes from the request
  FilesystemOptions filesystem;
  // The root file system of an image, which is kept for as long as its directory is held.
  std::function<base::Result<core::RootFileSystem>(const std::string& image)> acquire_root;
  Environment environment;          // of every program, where the session and the call do not say otherwise
  Secrets secrets;                  // that an environment may name
  GateOptions gate;                 // what stands before every run
  std::optional<PoolOptions> pool;  // keep warm sandboxes; for callers that run many programs
};

}  // namespace skerry::engine
