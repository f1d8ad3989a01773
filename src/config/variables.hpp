// Values from outside of the file: environment variables and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/layer.hpp"
#include "config/load.hpp"

namespace skerry::config {

inline constexpr std::string_view kOwnPrefix = "SKERRY_";
inline constexpr std::string_view kOlderPrefix = "NANOBOT_";

// Reads the variables `<prefix>SANDBOX__LIMITS__TIMEOUT=…` among `environment`. A variable without `__` in its name is
// not Skerry's. Under the older prefix only `SANDBOX__…` is read: another program uses that prefix for settings of its
// own.
base::Result<Layer> ReadVariables(const Node& root, std::string_view prefix, std::span<const std::string> environment);

// Reads the flags. Of two flags with the same path the last one wins.
base::Result<Layer> ReadOverrides(const Node& root, std::span<const Override> overrides);

}  // namespace skerry::config
