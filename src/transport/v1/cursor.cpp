#include "transport/v1/cursor.hpp"

#include <algorithm>
#include <charconv>

#include "json/context_json.hpp"
#include "json/execution_json.hpp"

namespace skerry::transport::v1 {
namespace {

std::unexpected<base::Error> NoCursor() {
  return base::Err(base::Code::kInvalidArgument, "cursor must be the next_cursor of an earlier answer, as it was");
}

}  // namespace

std::string EncodeCursor(std::string_view bytes) {
  std::string text = json::Base64(bytes);
  text.erase(std::min(text.find('='), text.size()));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

base::Result<std::string> DecodeCursor(std::string_view text) {
  if (text.size() > kLongestCursor) return NoCursor();
  std::string plain(text);
  std::ranges::replace(plain, '-', '+');
  std::ranges::replace(plain, '_', '/');
  auto bytes = json::FromBase64(plain);
  // One way to write each: what was altered by hand is told.
  if (!bytes || EncodeCursor(*bytes) != text) return NoCursor();
  return *std::move(bytes);
}

std::string SearchCursor(const workspace::SearchPosition& position) {
  return EncodeCursor(std::to_string(position.line) + " " + position.path);
}

base::Result<workspace::SearchPosition> ParseSearchCursor(std::string_view text) {
  SKERRY_ASSIGN_OR_RETURN(const std::string bytes, DecodeCursor(text));
  workspace::SearchPosition position;
  const std::size_t space = std::min(bytes.find(' '), bytes.size());
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + space, position.line);
  if (error != std::errc() || end != bytes.data() + space || space + 1 >= bytes.size()) return NoCursor();
  position.path = bytes.substr(space + 1);
  return position;
}

}  // namespace skerry::transport::v1
