// A running daemon as the subject of the benchmark: the same work over HTTP.
#pragma once

#include "bench/baselines.hpp"
#include "cli/command.hpp"

namespace skerry::cli {

// `skerry serve` in the groups of warm programs and of cells, when one answers where this command line would ask; else
// the reason. Each has the target of its group.
bench::Baselines FindDaemonSubjects(const Context& context);

}  // namespace skerry::cli
