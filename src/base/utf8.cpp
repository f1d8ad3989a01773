#include "base/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace skerry::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Lead {
  std::size_t length = 0;
  std::uint32_t bits = 0;
  std::uint32_t minimum = 0;
};

Lead Classify(unsigned char byte) {
  if (byte < 0x80U) return {1, byte, 0};
  if ((byte & 0xE0U) == 0xC0U) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0U) == 0xE0U) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8U) == 0xF0U) return {4, byte & 0x07U, 0x10000};
  return {};
}

// Length of the well-formed sequence at the front of `text`, 0 when there is none.
std::size_t SequenceLength(std::string_view text) {
  const auto first = FirstUtf8Character(text);
  return first ? first->length : 0;
}

}  // namespace

std::optional<Utf8Character> FirstUtf8Character(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const Lead lead = Classify(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return std::nullopt;
  std::uint32_t point = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return std::nullopt;
    point = (point << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < lead.minimum || point > 0x10FFFF || surrogate) return std::nullopt;
  return Utf8Character{.point = point, .length = lead.length};
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    valid += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace skerry::base
