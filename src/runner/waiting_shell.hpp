// A shell that waits in a sandbox for its text.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/process.hpp"
#include "launcher/protocol.hpp"
#include "runner/watched_process.hpp"

namespace skerry::runner {

// The shell is a command of the sandbox's init. The descriptors are Skerry's ends, non-blocking.
struct WaitingShell {
  WatchedProcess process;
  base::UniqueFd input;
  base::UniqueFd output;
  base::UniqueFd error;
  base::UniqueFd text;
  base::UniqueFd go;

  static base::Result<WaitingShell> Start(const std::shared_ptr<SharedHandle>& life, launcher::CommandRequest request);

  [[nodiscard]] bool Waits() const;

  // Runs the program. From here on the shell is a command like any other.
  base::Status Run(const core::Code& code, const std::map<std::string, std::string>& environment);
};

}  // namespace skerry::runner
