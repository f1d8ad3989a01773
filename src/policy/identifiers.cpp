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
  std::string_view meanings;  // of each letter, over and over; a blank for a letter without one
};

constexpr std::string_view kAlphabets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::array kLookalikes = {
    Letters{U'\u00AA', U'\u00AA', "a"},
    Letters{U'\u00BA', U'\u00BA', "o"},
    Letters{U'\u017F', U'\u017F', "s"},
    Letters{U'\u02B0', U'\u02B8', "h jr   wy"},
    Letters{U'\u02E1', U'\u02E3', "lsx"},
    Letters{U'\u1D2C', U'\u1D65', "A B DE GHIJKLMN O PRTUWa   bde   g km o   ptu  v      iruv"},
    Letters{U'\u1D9C', U'\u1DA0', "c   f"},
    Letters{U'\u1DBB', U'\u1DBB', "z"},
    Letters{U'\u2071', U'\u2071', "i"},
    Letters{U'\u207F', U'\u207F', "n"},
    Letters{U'\u2090', U'\u209C', "aeox hklmnpst"},
    Letters{U'\u2102', U'\u2139', "C       gHHHh IILl N   PQRRR      Z   Z K BC eEF Mo    i"},
    Letters{U'\u2145', U'\u2149', "Ddeij"},
    Letters{U'\u2160', U'\u217F', "I   V    X  LCDMi   v    x  lcdm"},
    Letters{U'\u2C7C', U'\u2C7D', "jV"},
    Letters{U'\uA7F2', U'\uA7F4', "CFQ"},
    Letters{U'\uFE33', U'\uFE34', "__"},
    Letters{U'\uFE4D', U'\uFE4F', "___"},
    Letters{U'\uFF10', U'\uFF19', "0123456789"},
    Letters{U'\uFF21', U'\uFF3A', "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    Letters{U'\uFF3F', U'\uFF3F', "_"},
    Letters{U'\uFF41', U'\uFF5A', "abcdefghijklmnopqrstuvwxyz"},
    Letters{U'\U000107A5', U'\U000107A5', "q"},
    Letters{U'\U0001D400', U'\U0001D6A3', kAlphabets},
    Letters{U'\U0001D7CE', U'\U0001D7FF', "0123456789"},
    Letters{U'\U0001FBF0', U'\U0001FBF9', "0123456789"},
};

struct Ligature {
  char32_t sign;
  std::string_view letters;
};

constexpr std::array kLigatures = {
    Ligature{U'\u0133', "ij"},  Ligature{U'\u01C9', "lj"},  Ligature{U'\u01CC', "nj"}, Ligature{U'\u01F3', "dz"},
    Ligature{U'\u2171', "ii"},  Ligature{U'\u2172', "iii"}, Ligature{U'\u2173', "iv"}, Ligature{U'\u2175', "vi"},
    Ligature{U'\u2176', "vii"}, Ligature{U'\u2178', "ix"},  Ligature{U'\u217A', "xi"}, Ligature{U'\u217B', "xii"},
    Ligature{U'\uFB00', "ff"},  Ligature{U'\uFB01', "fi"},  Ligature{U'\uFB02', "fl"}, Ligature{U'\uFB03', "ffi"},
    Ligature{U'\uFB04', "ffl"}, Ligature{U'\uFB05', "st"},  Ligature{U'\uFB06', "st"},
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

// The ASCII letter that the code point looks like; empty when there is none.
std::string_view MeaningOf(char32_t code) {
  for (const Letters& row : kLookalikes) {
    if (code < row.first || code > row.last) continue;
    const std::string_view meaning = row.meanings.substr((code - row.first) % row.meanings.size(), 1);
    if (meaning != " ") return meaning;
  }
  const auto ligature = std::ranges::find(kLigatures, code, &Ligature::sign);
  return ligature == kLigatures.end() ? std::string_view() : ligature->letters;
}

}  // namespace

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string FoldLookalikes(std::string_view identifier) {
  std::string result;
  for (std::size_t at = 0; at < identifier.size();) {
    const std::size_t begin = at;
    const std::string_view meaning = MeaningOf(NextCodePoint(identifier, at));
    result += meaning.empty() ? identifier.substr(begin, at - begin) : meaning;
  }
  return result;
}

std::string UnescapedIdentifier(std::string_view identifier) {
  return Unescaped(identifier);
}

std::string_view Spellings::Normal(std::string_view identifier) {
  if (IsAscii(identifier) && identifier.find('\\') == std::string_view::npos) return identifier;
  budget_.Spend(kWorkOfALookup + WorkOfReading(identifier.size()));
  auto found = kept_.find(identifier);
  if (found == kept_.end()) {
    found = kept_.emplace(identifier, read_(identifier)).first;
    memory_.Add(sizeof(*found) + 2 * identifier.size());
  }
  return found->second;
}

}  // namespace skerry::policy
