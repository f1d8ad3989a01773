// The bytes of a configuration file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace skerry::config {

inline constexpr std::size_t kMaxFileBytes = 1024UL * 1024UL;

// The bytes of the file; nothing when there is no such file. Anything but a regular file of at most kMaxFileBytes is an
// error; a FIFO does not make the call wait.
base::Result<std::optional<std::string>> ReadConfigFile(const std::string& path);

}  // namespace skerry::config
