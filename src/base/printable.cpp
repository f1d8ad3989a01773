#include "base/printable.hpp"

#include <cstddef>
#include <cstdint>

#include "base/utf8.hpp"

namespace skerry::base {
namespace {

constexpr std::size_t kExcerptBytes = 80;

struct Character {
  std::uint32_t point = 0;
  std::size_t length = 0;
};

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// `text` is well-formed UTF-8 and not empty.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  while (length < text.size() && IsContinuation(text[length])) ++length;
  std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {point, length};
}

// `\uXXXX`: every hostile character has four digits at most.
std::string Escaped(std::uint32_t point) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escaped = "\\u";
  for (const std::uint32_t shift : {12U, 8U, 4U, 0U}) escaped += kDigits[(point >> shift) & 0xFU];
  return escaped;
}

bool IsHostile(std::uint32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point <= 0x9F);
  const bool separator_or_override = (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return control || separator_or_override;
}

}  // namespace

std::string Printable(std::string_view text) {
  const std::string valid = ToValidUtf8(text);
  std::string printable;
  for (std::string_view rest = valid; !rest.empty();) {
    const Character character = FirstCharacter(rest);
    printable += IsHostile(character.point) ? Escaped(character.point) : std::string(rest.substr(0, character.length));
    rest.remove_prefix(character.length);
  }
  return printable;
}

std::string Excerpt(std::string_view text) {
  if (text.size() <= kExcerptBytes) return std::string(text);
  std::size_t end = kExcerptBytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return std::string(text.substr(0, end)).append("…");
}

}  // namespace skerry::base
