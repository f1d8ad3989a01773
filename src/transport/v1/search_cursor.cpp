#include "transport/v1/search_cursor.hpp"

#include <algorithm>
#include <charconv>

#include "transport/kit/cursor.hpp"

namespace skerry::transport::v1 {

std::string SearchCursor(const workspace::SearchPosition& position) {
  return kit::EncodeCursor(std::to_string(position.line) + " " + position.path);
}

base::Result<workspace::SearchPosition> ParseSearchCursor(std::string_view text) {
  SKERRY_ASSIGN_OR_RETURN(const std::string bytes, kit::DecodeCursor(text));
  workspace::SearchPosition position;
  const std::size_t space = std::min(bytes.find(' '), bytes.size());
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + space, position.line);
  if (error != std::errc() || end != bytes.data() + space || space + 1 >= bytes.size()) return kit::NoCursor();
  position.path = bytes.substr(space + 1);
  return position;
}

}  // namespace skerry::transport::v1
