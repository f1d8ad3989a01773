// The command line: reads it, loads the configuration, runs one command.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "core/backend_registry.hpp"

namespace skerry::cli {

// What main wires in: which backends this program has.
// Whether the backends shall keep interpreters loaded. That pays for those who run many programs.
enum class Warmth { kCold, kWarm };
using MakeBackends = std::function<base::Result<std::unique_ptr<core::BackendRegistry>>(Warmth)>;

// The exit code of the whole program. Errors are one line on stderr.
int RunApp(int argc, const char* const* argv, const MakeBackends& make_backends);

}  // namespace skerry::cli
