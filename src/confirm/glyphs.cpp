#include "confirm/glyphs.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/printable.hpp"
#include "base/utf8.hpp"

namespace skerry::confirm {
namespace {

constexpr std::uint8_t kTabWidth = 4;
constexpr std::size_t kMostMarks = 2;  // accents on one character; a tower of them covers the lines around it

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array kInvisible = {
    Range{0x00AD, 0x00AD},   Range{0x034F, 0x034F}, Range{0x061C, 0x061C},   Range{0x115F, 0x1160},
    Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F}, Range{0x200B, 0x200F},   Range{0x2060, 0x206F},
    Range{0x2800, 0x2800},   Range{0x3164, 0x3164}, Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},
    Range{0xE0000, 0xE0FFF},
};
constexpr std::array kMarks = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE20, 0xFE2F},
};
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x4DBF},   Range{0x4E00, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD},
};

bool IsIn(std::span<const Range> ranges, std::uint32_t point) {
  return std::ranges::any_of(ranges, [&](Range range) { return point >= range.first && point <= range.last; });
}

std::size_t LengthOfFirst(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) ++length;
  return length;
}

std::uint32_t PointOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  std::uint32_t point = character.size() == 1 ? lead : lead & (0x7FU >> character.size());
  for (const char byte : character.substr(1)) point = (point << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  return point;
}

// `\u200b`, or `\U000e0041` for a character that needs more digits.
std::string Escaped(std::string_view character) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::uint32_t point = PointOf(character);
  std::string escaped = point <= 0xFFFF ? "\\u" : "\\U";
  for (std::uint32_t shift = point <= 0xFFFF ? 16 : 32; shift > 0;) {
    shift -= 4;
    escaped += kDigits[(point >> shift) & 0xFU];
  }
  return escaped;
}

// `marks` counts the accents directly before the character.
Glyph GlyphOf(std::string_view character, std::size_t& marks) {
  Glyph glyph{.length = static_cast<std::uint8_t>(character.size()), .width = 1};
  const std::uint32_t point = PointOf(character);
  const bool is_mark = IsIn(kMarks, point);
  marks = is_mark ? marks + 1 : 0;
  if (point == '\t') {
    glyph.form = Glyph::Form::kTab;
    glyph.width = kTabWidth;
  } else if (IsIn(kInvisible, point) || marks > kMostMarks || base::Printable(character) != character) {
    glyph.form = Glyph::Form::kEscaped;
    glyph.width = static_cast<std::uint8_t>(Escaped(character).size());
  } else if (is_mark) {
    glyph.width = 0;
  } else if (IsIn(kWide, point)) {
    glyph.width = 2;
  }
  return glyph;
}

}  // namespace

std::vector<Glyph> GlyphsOf(std::string_view text, std::size_t max_width) {
  std::vector<Glyph> glyphs;
  std::size_t width = 0;
  std::size_t marks = 0;
  for (std::size_t at = 0; at < text.size() && width <= max_width;) {
    const bool plain = text[at] >= ' ' && text[at] <= '~';
    Glyph glyph{.length = 1, .width = 1};
    if (plain)
      marks = 0;
    else
      glyph = GlyphOf(text.substr(at, LengthOfFirst(text.substr(at))), marks);
    glyph.begin = static_cast<std::uint32_t>(at);
    at += glyph.length;
    width += glyph.width;
    glyphs.push_back(glyph);
  }
  return glyphs;
}

std::string Shown(std::string_view text, const Glyph& glyph) {
  const std::string_view character = text.substr(glyph.begin, glyph.length);
  switch (glyph.form) {
    case Glyph::Form::kTab:
      return std::string(kTabWidth, ' ');
    case Glyph::Form::kEscaped:
      return Escaped(character);
    case Glyph::Form::kPlain:
      break;
  }
  return std::string(character);
}

std::string Visible(std::string_view bytes) {
  const std::string valid = base::ToValidUtf8(bytes);
  std::string visible;
  for (const Glyph& glyph : GlyphsOf(valid)) visible += Shown(valid, glyph);
  return visible;
}

std::size_t WidthOf(std::string_view text) {
  std::size_t width = 0;
  for (const Glyph& glyph : GlyphsOf(text)) width += glyph.width;
  return width;
}

}  // namespace skerry::confirm
