// The backends that this program has: the one place that names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/app.hpp"
#include "config/config.hpp"
#include "core/backend_registry.hpp"

namespace skerry::bin {

// In order of preference.
std::vector<std::string> BackendNames();

// Makes all backends, as the configuration says. Starts none of them.
base::Result<std::unique_ptr<core::BackendRegistry>> MakeBackends(cli::Warmth warmth, const config::Sandbox& settings);

}  // namespace skerry::bin
