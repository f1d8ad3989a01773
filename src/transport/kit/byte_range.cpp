#include "transport/kit/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "transport/http/text.hpp"

namespace skerry::transport::kit {
namespace {

// A number that is too large counts as the largest: no file has so many bytes.
std::optional<std::uint64_t> PositionOf(std::string_view digits) {
  if (digits.empty() || !std::ranges::all_of(digits, http::IsDigit)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : std::numeric_limits<std::uint64_t>::max();
}

WantedBytes LastBytes(std::uint64_t count, std::uint64_t size) {
  if (count == 0) return {.kind = WantedBytes::Kind::kNowhere};
  // The last bytes of an empty file are the whole file, and a Content-Range cannot say that.
  if (size == 0) return {.length = 0};
  const std::uint64_t length = std::min(count, size);
  return {.kind = WantedBytes::Kind::kPart, .offset = size - length, .length = length};
}

}  // namespace

WantedBytes ParseRange(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const WantedBytes whole{.length = size};
  header = http::Trim(header);
  if (!http::EqualsIgnoringCase(header.substr(0, kUnit.size()), kUnit)) return whole;
  const std::string_view range = http::Trim(header.substr(kUnit.size()));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = PositionOf(range.substr(0, dash));
  const auto last = PositionOf(range.substr(dash + 1));
  if (dash == 0) return last ? LastBytes(*last, size) : whole;
  const bool open_end = dash + 1 == range.size();
  if (!first || (!last && !open_end) || (last && *last < *first)) return whole;
  if (*first >= size) return {.kind = WantedBytes::Kind::kNowhere};
  const std::uint64_t end = std::min(last.value_or(size - 1), size - 1);
  return {.kind = WantedBytes::Kind::kPart, .offset = *first, .length = end - *first + 1};
}

}  // namespace skerry::transport::kit
