// HMAC-SHA256 (RFC 2104, FIPS 198-1): the receiver of a text, who has the key, can tell that the sender had it too and
// that the text is whole.
#pragma once

#include <string>
#include <string_view>

namespace skerry::base {

// The code as 64 lower-case hexadecimal digits. Key and text may be empty and hold any bytes.
std::string HmacSha256Hex(std::string_view key, std::string_view text);

}  // namespace skerry::base
