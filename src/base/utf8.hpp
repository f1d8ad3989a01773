// UTF-8 as JSON and terminals want it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::base {

struct Utf8Character {
  char32_t point;
  std::size_t length;  // in bytes
};

// The character at the front of `text`; none when it does not begin with a well-formed sequence.
std::optional<Utf8Character> FirstUtf8Character(std::string_view text);

// True for well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Every byte that is not part of a well-formed sequence becomes U+FFFD.
std::string ToValidUtf8(std::string_view text);

}  // namespace skerry::base
