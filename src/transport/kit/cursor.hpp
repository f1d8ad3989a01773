// Cursors of pages: where the next page begins, as text that a client gives back unchanged. The text is not trusted.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::transport::kit {

inline constexpr std::size_t kLongestCursor = 16384;

// Any bytes as letters, digits, "-" and "_": file names need not be UTF-8.
std::string EncodeCursor(std::string_view bytes);
// kInvalidArgument for a text that EncodeCursor did not make; "" stays "".
base::Result<std::string> DecodeCursor(std::string_view text);

// The error for a cursor that was never given out, for callers that find that in its bytes.
std::unexpected<base::Error> NoCursor();

}  // namespace skerry::transport::kit
