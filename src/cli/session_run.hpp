// skerry run --session: a piece of code in a session of the daemon.
#pragma once

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/run_options.hpp"

namespace skerry::cli {

// The exit code: the program's own, or 128 + the signal that ended this command. Output is passed on as it comes; with
// --json it is collected. An interrupted run is cancelled.
base::Result<int> RunInSession(const RunOptions& options, const Context& context);

}  // namespace skerry::cli
