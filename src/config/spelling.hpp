// The two spellings of a key.
#pragma once

#include <string>
#include <string_view>

namespace skerry::config {

// `maxMemoryMb` → `max_memory_mb`.
std::string SnakeCase(std::string_view camel_case);

}  // namespace skerry::config
