// JSON and its text, compiled in one place: each file that instantiates the library's parser or writer itself takes a
// second longer to compile.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace skerry::json {

// The value on one line. Bytes that are no UTF-8 become U+FFFD.
std::string Text(const nlohmann::ordered_json& value);
std::string Text(const nlohmann::json& value);

// The value for people: two blanks for each level, and a line end behind it.
std::string IndentedText(const nlohmann::ordered_json& value);

// The value of a text; a discarded value when the text is no JSON.
nlohmann::ordered_json Parse(std::string_view text);
// The same; kInvalidArgument says what is wrong with a text that is no JSON, and where.
base::Result<nlohmann::ordered_json> ParseOrTell(std::string_view text);

}  // namespace skerry::json
