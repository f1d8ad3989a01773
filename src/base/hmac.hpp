// HMAC-SHA256 (RFC 2104, FIPS 198-1): lets who shares the key tell that a text comes from us and is whole.
#pragma once

#include <string>
#include <string_view>

namespace skerry::base {

// The code as 64 lower-case hexadecimal digits. Key and text may be empty and hold any bytes.
std::string HmacSha256Hex(std::string_view key, std::string_view text);

}  // namespace skerry::base
