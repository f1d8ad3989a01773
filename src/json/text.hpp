// JSON and its text, compiled in one place: what the library reads and writes with takes a second of every file that
// does so itself.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace skerry::json {

// On one line. What is no UTF-8 becomes U+FFFD.
std::string Text(const nlohmann::ordered_json& value);
std::string Text(const nlohmann::json& value);

// For people: two blanks for each level, and a line end behind it.
std::string IndentedText(const nlohmann::ordered_json& value);

// Is discarded when the text is no JSON.
nlohmann::ordered_json Parse(std::string_view text);

}  // namespace skerry::json
