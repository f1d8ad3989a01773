// Texts of programs that are made from others, as far as that can be followed.
#pragma once

#include <string>
#include <string_view>

namespace skerry::policy {

// The text with the backslash escapes of Python and JavaScript strings resolved. Other backslashes stay.
std::string Unescaped(std::string_view text);

// `%s` (sign '%') or `{…}` (sign '{') become holes.
std::string WithHoles(std::string_view text, char sign);

// The character of a decimal or 0x number; a hole for any other text.
std::string CharacterNumbered(std::string_view number);

// The decoded bytes; a hole for a text that does not decode.
std::string FromBase64(std::string_view text);
std::string FromHex(std::string_view text);

// A text with holes as code: holes become `word`.
std::string Filled(std::string_view text, std::string_view word);

}  // namespace skerry::policy
