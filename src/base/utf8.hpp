// UTF-8 as JSON and terminals want it.
#pragma once

#include <string>
#include <string_view>

namespace skerry::base {

// True for well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Every byte that is not part of a well-formed sequence becomes U+FFFD.
std::string ToValidUtf8(std::string_view text);

}  // namespace skerry::base
