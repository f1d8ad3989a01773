// Text as a terminal shows it, with nothing in it that is invisible, moves the cursor or reverses the reading
// direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::confirm {

// A character of a text and how it is shown.
struct Glyph {
  enum class Form : std::uint8_t { kPlain, kTab, kEscaped };

  std::uint32_t begin = 0;  // where its bytes are
  std::uint8_t length = 0;
  std::uint8_t width = 0;  // in cells of the terminal
  Form form = Form::kPlain;
};

// The characters of well-formed UTF-8 (base::ToValidUtf8), up to the one that passes `max_width` cells. Escaped are the
// characters that base::Printable escapes, those that cannot be seen (zero-width characters, tags, variation
// selectors), and a third accent on a character. Wide East Asian characters have two cells.
std::vector<Glyph> GlyphsOf(std::string_view text, std::size_t max_width = std::numeric_limits<std::size_t>::max());

// How a character is shown: itself, spaces for a tab, or `\u200b`.
std::string Shown(std::string_view text, const Glyph& glyph);

// Any bytes as one line in which everything can be seen.
std::string Visible(std::string_view bytes);

// The cells that well-formed UTF-8 needs.
std::size_t WidthOf(std::string_view text);

}  // namespace skerry::confirm
