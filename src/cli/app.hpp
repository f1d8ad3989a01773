// The command line: reads it, loads the configuration, runs one command.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "core/backend_registry.hpp"

namespace skerry::cli {

// What main wires in: which backends this program has.
using MakeBackends = std::function<base::Result<std::unique_ptr<core::BackendRegistry>>()>;

// The exit code of the whole program. Errors are one line on stderr.
int RunApp(int argc, const char* const* argv, const MakeBackends& make_backends);

}  // namespace skerry::cli
