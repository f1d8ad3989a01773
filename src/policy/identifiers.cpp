#include "policy/identifiers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "policy/texts.hpp"

namespace skerry::policy {
namespace {

struct Letters {
  char32_t first;
  char32_t last;
  std::string_view meanings;  // of each, over and over; a blank for what is none
};

constexpr std::string_view kAlphabets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::array kLookalikes = {
    Letters{U'\uFF21', U'\uFF3A', "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    Letters{U'\uFF41', U'\uFF5A', "abcdefghijklmnopqrstuvwxyz"},
    Letters{U'\uFF3F', U'\uFF3F', "_"},
    Letters{U'\uFF10', U'\uFF19', "0123456789"},
    Letters{U'\U0001D400', U'\U0001D6A3', kAlphabets},
    Letters{U'\U0001D7CE', U'\U0001D7FF', "0123456789"},
    Letters{U'\u2070', U'\u2071', "0i"},
    Letters{U'\u207F', U'\u207F', "n"},
    Letters{U'\u2090', U'\u209C', "aeoxahklmnpst"},
    Letters{U'\u1D2C', U'\u1D2C', "A"},
    Letters{U'\u1D43', U'\u1D5B', "a   bde   g km   o  pt   v"},
    Letters{U'\u1D62', U'\u1D65', "iruv"},
    Letters{U'\u02B0', U'\u02B8', "h jr   wy"},
    Letters{U'\u02E1', U'\u02E3', "lsx"},
    Letters{U'\u00AA', U'\u00AA', "a"},
    Letters{U'\u00BA', U'\u00BA', "o"},
    Letters{U'\u017F', U'\u017F', "s"},
    Letters{U'\u2102', U'\u2102', "C"},
    Letters{U'\u210A', U'\u2113', "gHHHh  IILl"},
    Letters{U'\u2115', U'\u2115', "N"},
    Letters{U'\u2119', U'\u211D', "PQRRR"},
    Letters{U'\u2124', U'\u2124', "Z"},
    Letters{U'\u212A', U'\u2139', "K BCeEF Mo    i"},
    Letters{U'\u2145', U'\u2149', "Ddeij"},
};

// The code point at `at`, which moves behind it; the text may be broken.
char32_t NextCodePoint(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t code = lead < 0x80 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t more = 1; more < length && at + more < text.size(); ++more)
    code = code << 6U | (byte(at + more) & 0x3FU);
  at = std::min(at + length, text.size());
  return code;
}

char MeaningOf(char32_t code) {
  for (const Letters& row : kLookalikes)
    if (code >= row.first && code <= row.last) return row.meanings[(code - row.first) % row.meanings.size()];
  return ' ';
}

}  // namespace

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string FoldLookalikes(std::string_view identifier) {
  std::string result;
  for (std::size_t at = 0; at < identifier.size();) {
    const std::size_t begin = at;
    const char meaning = MeaningOf(NextCodePoint(identifier, at));
    if (meaning == ' ') {
      result += identifier.substr(begin, at - begin);
    } else {
      result += meaning;
    }
  }
  return result;
}

std::string UnescapedIdentifier(std::string_view identifier) {
  return Unescaped(identifier);
}

}  // namespace skerry::policy
