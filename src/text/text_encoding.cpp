#include "text/text_encoding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/utf8.hpp"

namespace skerry::text {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kLittleMark = "\xFF\xFE";
constexpr std::string_view kBigMark = "\xFE\xFF";
constexpr std::string_view kUtf32LittleMark("\xFF\xFE\0\0", 4);  // begins like UTF-16

unsigned Byte(char byte) {
  return static_cast<unsigned char>(byte);
}

std::uint32_t UnitAt(std::string_view bytes, std::size_t at, Encoding encoding) {
  const unsigned first = Byte(bytes[at]);
  const unsigned second = Byte(bytes[at + 1]);
  return encoding == Encoding::kUtf16Little ? (second << 8U) | first : (first << 8U) | second;
}

void AppendUnit(std::string& bytes, std::uint32_t unit, Encoding encoding) {
  const char low = static_cast<char>(unit & 0xFFU);
  const char high = static_cast<char>(unit >> 8U);
  bytes += encoding == Encoding::kUtf16Little ? low : high;
  bytes += encoding == Encoding::kUtf16Little ? high : low;
}

void AppendUtf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const unsigned lead = more == 1 ? 0xC0U : more == 2 ? 0xE0U : 0xF0U;
  text += static_cast<char>(lead | (point >> (6 * more)));
  for (unsigned left = more; left > 0; --left) text += static_cast<char>(0x80U | ((point >> (6 * (left - 1))) & 0x3FU));
}

bool IsHigh(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool IsLow(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

std::optional<std::string> FromUtf16(std::string_view bytes, Encoding encoding) {
  if (bytes.size() % 2 != 0) return std::nullopt;
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint32_t point = UnitAt(bytes, at, encoding);
    if (IsHigh(point)) {
      at += 2;
      const std::uint32_t low = at < bytes.size() ? UnitAt(bytes, at, encoding) : 0;
      if (!IsLow(low)) return std::nullopt;
      point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
    } else if (IsLow(point)) {
      return std::nullopt;
    }
    AppendUtf8(text, point);
  }
  return text;
}

std::string ToUtf16(std::string_view text, Encoding encoding) {
  std::string bytes(encoding == Encoding::kUtf16Little ? kLittleMark : kBigMark);
  bytes.reserve(2 * text.size() + 2);
  for (std::size_t at = 0; at < text.size();) {
    const unsigned lead = Byte(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i)
      point = (point << 6U) | (Byte(text[at + i]) & 0x3FU);
    at += length;
    if (point >= 0x10000) AppendUnit(bytes, 0xD800 + ((point - 0x10000) >> 10U), encoding);
    AppendUnit(bytes, point >= 0x10000 ? 0xDC00 + (point & 0x3FFU) : point, encoding);
  }
  return bytes;
}

}  // namespace

DecodedText Decode(std::string_view file) {
  for (const Encoding encoding : {Encoding::kUtf16Little, Encoding::kUtf16Big}) {
    const std::string_view mark = encoding == Encoding::kUtf16Little ? kLittleMark : kBigMark;
    if (!file.starts_with(mark) || file.starts_with(kUtf32LittleMark)) continue;
    if (auto text = FromUtf16(file.substr(mark.size()), encoding)) return {encoding, std::move(*text)};
  }
  if (!base::IsValidUtf8(file)) return {Encoding::kBytes, std::string(file)};
  if (!file.starts_with(kUtf8Mark)) return {Encoding::kUtf8, std::string(file)};
  return {Encoding::kUtf8WithMark, std::string(file.substr(kUtf8Mark.size()))};
}

std::string Encode(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kUtf16Little || encoding == Encoding::kUtf16Big) return ToUtf16(text, encoding);
  std::string file(encoding == Encoding::kUtf8WithMark ? kUtf8Mark : std::string_view());
  return file.append(text);
}

std::string_view EncodingObstacle(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kBytes) {
    return IsAscii(text) ? "" : "the file is neither UTF-8 nor UTF-16, so that only ASCII can be put into it";
  }
  return base::IsValidUtf8(text) ? "" : "the new text is not UTF-8";
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return Byte(byte) < 0x80; });
}

}  // namespace skerry::text
