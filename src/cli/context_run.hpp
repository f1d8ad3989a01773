// skerry run --context: a cell in a context of this user.
#pragma once

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/run_options.hpp"

namespace skerry::cli {

// The exit code: 0, 1 when the cell failed, 124, 137 or 128 and the signal that came.
base::Result<int> RunInContext(const RunOptions& options, const Context& context);

}  // namespace skerry::cli
