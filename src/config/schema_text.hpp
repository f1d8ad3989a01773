// The bytes of api/config.schema.json, put into the binary by CMake.
#pragma once

#include <string_view>

namespace skerry::config {

std::string_view SchemaText();

}  // namespace skerry::config
