// The bytes of a configuration file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace skerry::config {

inline constexpr std::size_t kMaxFileBytes = 1024UL * 1024UL;

// Nothing when there is no such file. Whatever is not a regular file of at most kMaxFileBytes is an error; a FIFO does
// not make it wait.
base::Result<std::optional<std::string>> ReadConfigFile(const std::string& path);

}  // namespace skerry::config
