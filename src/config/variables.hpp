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

// The variables `<prefix>SANDBOX__LIMITS__TIMEOUT=…` among `environment`. A name without `__` is not ours. Under the
// older prefix only `SANDBOX__` is: the program that it belongs to has settings of its own.
base::Result<Layer> ReadVariables(const Node& root, std::string_view prefix, std::span<const std::string> environment);

// The last one of two flags with the same path wins.
base::Result<Layer> ReadOverrides(const Node& root, std::span<const Override> overrides);

}  // namespace skerry::config
