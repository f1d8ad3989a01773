// The command line: reads it, loads the configuration, runs one command.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace skerry::core {
class BackendRegistry;
class RecordStore;
class ServiceStore;
}  // namespace skerry::core

namespace skerry::cli {

// Whether the backends keep interpreters loaded. That pays for commands that run many programs.
enum class Warmth { kCold, kWarm };
using MakeBackends =
    std::function<base::Result<std::unique_ptr<core::BackendRegistry>>(Warmth, const config::Sandbox& settings)>;
using OpenStore = std::function<base::Result<std::unique_ptr<core::RecordStore>>(const std::string& path)>;
using OpenServiceStore = std::function<base::Result<std::unique_ptr<core::ServiceStore>>(const std::string& path)>;

// What main wires in: the backends of this program, and where it keeps the record.
struct Parts {
  std::vector<std::string> backend_names;
  MakeBackends make_backends;
  OpenStore open_store;
  OpenServiceStore open_service_store;
};

// The exit code of the whole program. Errors are one line on stderr.
int RunApp(int argc, const char* const* argv, const Parts& parts);

}  // namespace skerry::cli
