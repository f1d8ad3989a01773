#include "transport/kit/cursor.hpp"

#include <algorithm>

#include "json/base64.hpp"
#include "json/execution_json.hpp"

namespace skerry::transport::kit {

std::unexpected<base::Error> NoCursor() {
  return base::Err(base::Code::kInvalidArgument, "cursor must be the next_cursor of an earlier answer, as it was");
}

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
  // Each cursor has one spelling, so that one that was altered by hand is refused.
  if (!bytes || EncodeCursor(*bytes) != text) return NoCursor();
  return *std::move(bytes);
}

}  // namespace skerry::transport::kit
