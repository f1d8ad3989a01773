// A shell that waits in a sandbox for its text.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/client.hpp"

namespace skerry::runner {

// A command of the sandbox's init with this id. The ends are ours, non-blocking.
struct WaitingShell {
  std::uint64_t id = 0;
  base::UniqueFd input;
  base::UniqueFd output;
  base::UniqueFd error;
  base::UniqueFd text;
  base::UniqueFd go;

  static base::Result<WaitingShell> Start(const launcher::SandboxHandle& handle, launcher::CommandRequest request);

  [[nodiscard]] bool Waits() const;

  // From here on it is a command like any other.
  base::Status Run(std::string_view program);
};

}  // namespace skerry::runner
