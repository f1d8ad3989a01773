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

// In the order of preference.
std::vector<std::string> BackendNames();

// All of them, as the configuration says. Nothing is started by that.
base::Result<std::unique_ptr<core::BackendRegistry>> MakeBackends(cli::Warmth warmth, const config::Sandbox& settings);

}  // namespace skerry::bin
