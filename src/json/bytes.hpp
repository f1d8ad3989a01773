// Bytes in JSON, which holds text only.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace skerry::json {

// Bytes that are no UTF-8 become U+FFFD, and then the exact ones are in `<name>_base64`.
void AddBytes(nlohmann::ordered_json& object, const std::string& name, const std::string& bytes);

}  // namespace skerry::json
