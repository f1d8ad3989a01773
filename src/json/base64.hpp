// Bytes as base64, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skerry::json {

std::string Base64(std::string_view bytes);

// Decodes base64; nothing for a text that is none. Line breaks are passed over.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace skerry::json
