#include "policy/folded_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/utf8.hpp"

namespace skerry::policy {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode's default ignorable code points, and U+FFFD, which stands for broken bytes here.
constexpr Range kIgnorable[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0xFFFD, 0xFFFD}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

struct Folding {
  std::uint32_t point;
  std::string_view folded;
};

// The letters that Unicode's case folding turns into ASCII.
constexpr Folding kFoldings[] = {{0x00DF, "ss"},  {0x1E9E, "ss"}, {0x017F, "s"},  {0x212A, "k"},
                                 {0xFB00, "ff"},  {0xFB01, "fi"}, {0xFB02, "fl"}, {0xFB03, "ffi"},
                                 {0xFB04, "ffl"}, {0xFB05, "st"}, {0xFB06, "st"}};

struct Character {
  std::uint32_t point = 0;
  std::size_t length = 1;
};

// `text` is well-formed UTF-8 and not empty.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) return {lead, 1};
  Character character{lead, lead < 0xE0U ? 2U : lead < 0xF0U ? 3U : 4U};
  character.point &= 0x7FU >> character.length;
  for (std::size_t i = 1; i < character.length; ++i) {
    character.point = (character.point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return character;
}

void AppendFolded(std::string& folded, std::uint32_t point, std::string_view written) {
  constexpr std::uint32_t kFullWidthOffset = 0xFEE0;
  if (point >= 0xFF01 && point <= 0xFF5E) point -= kFullWidthOffset;
  if (point >= 'A' && point <= 'Z') point += 'a' - 'A';
  if (point < 0x80) {
    folded += static_cast<char>(point);
    return;
  }
  if (std::ranges::any_of(kIgnorable, [&](Range range) { return range.first <= point && point <= range.last; })) return;
  const auto folding = std::ranges::find(kFoldings, point, &Folding::point);
  folded += folding == std::end(kFoldings) ? written : folding->folded;
}

}  // namespace

std::string FoldName(std::string_view name) {
  std::string folded;
  const std::string valid = base::ToValidUtf8(name);
  for (std::string_view rest = valid; !rest.empty();) {
    const Character character = FirstCharacter(rest);
    AppendFolded(folded, character.point, rest.substr(0, character.length));
    rest.remove_prefix(character.length);
  }
  folded.resize(std::min(folded.find(':'), folded.size()));  // the name of a stream of the file
  folded.resize(folded.find_last_not_of(". ") + 1);
  return folded;
}

bool IsShortNameOf(std::string_view shortened, std::string_view name) {
  const std::size_t tilde = shortened.find('~');
  const std::string_view number = shortened.substr(tilde + 1);
  if (number.empty() || number.front() < '0' || number.front() > '9') return false;
  if (name.starts_with('.')) name.remove_prefix(1);
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  std::string stem(name.substr(0, dot));
  std::erase(stem, '.');
  return shortened.substr(0, tilde) == stem.substr(0, 6) && number.substr(1) == name.substr(dot).substr(0, 4);
}

}  // namespace skerry::policy
