// Cursors of pages: where to go on, as text that a client gives back as it is. Nothing in it is trusted.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::transport::kit {

inline constexpr std::size_t kLongestCursor = 16384;

// Any bytes as letters, digits, "-" and "_": file names need not be UTF-8.
std::string EncodeCursor(std::string_view bytes);
// kInvalidArgument for what EncodeCursor did not make; "" stays "".
base::Result<std::string> DecodeCursor(std::string_view text);

// The error for a cursor that nobody gave out, for those who find that in its bytes.
std::unexpected<base::Error> NoCursor();

}  // namespace skerry::transport::kit
