// Cursors of pages: where to go on, as text that a client gives back as it is. Nothing in it is trusted.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "workspace/search.hpp"

namespace skerry::transport::v1 {

inline constexpr std::size_t kLongestCursor = 16384;

// Any bytes as letters, digits, "-" and "_": file names need not be UTF-8.
std::string EncodeCursor(std::string_view bytes);
// kInvalidArgument for what EncodeCursor did not make; "" stays "".
base::Result<std::string> DecodeCursor(std::string_view text);

std::string SearchCursor(const workspace::SearchPosition& position);
base::Result<workspace::SearchPosition> ParseSearchCursor(std::string_view text);

}  // namespace skerry::transport::v1
