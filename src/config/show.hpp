// `skerry config show`: the effective configuration and where each value came from. Secrets are masked.
#pragma once

#include <string>

#include "config/load.hpp"

namespace skerry::config {

// Lines `sandbox.limits.timeout = 30  (default)` with the columns aligned.
std::string ShowText(const Loaded& loaded);

// {"values": the nested configuration, "origins": {"sandbox.limits.timeout": "default", …}}, indented.
std::string ShowJson(const Loaded& loaded);

}  // namespace skerry::config
