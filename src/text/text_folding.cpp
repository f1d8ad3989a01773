#include "text/text_folding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "text/line_ends.hpp"

namespace skerry::text {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\r\v\f";

struct Character {
  std::uint32_t point = 0;
  std::size_t length = 1;
};

// A byte that begins no sequence is a character by itself, with a code point that has no twin.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (length == 1 || length > text.size()) return {0, 1};
  std::uint32_t point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return {0, 1};
    point = (point << 6U) | (byte & 0x3FU);
  }
  return {point, length};
}

struct Twins {
  std::uint32_t first;
  std::string_view letters;  // what the code points from `first` on look like; "~" for those that look like no letter
};

// Sorted by the first point.
constexpr std::array kTwins = {
    Twins{0xA0, " "},
    Twins{0xAB, "\""},
    Twins{0xB4, "'"},
    Twins{0xBB, "\""},
    Twins{0xC0, "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYPsaaaaaaaceeeeiiiidnooooo/ouuuuypy"},
    Twins{0x2BC, "'"},
    Twins{0x391, "AB~~EZH~IK~MN~O~P~~TY~X"},
    Twins{0x3BD, "v~o"},
    Twins{0x405, "SI~J"},
    Twins{0x410, "A~B~~E~~~~K~MHO~PCTY~X"},
    Twins{0x430, "a~~~~e~~~~~~~~o~pc~y~x"},
    Twins{0x455, "si~j"},
    Twins{0x4BB, "h"},
    Twins{0x501, "d"},
    Twins{0x2000, "           "},
    Twins{0x2010, "------"},
    Twins{0x2018, "''''\"\"\"\""},
    Twins{0x202F, " "},
    Twins{0x2032, "'\""},
    Twins{0x2044, "/"},
    Twins{0x205F, " "},
    Twins{0x2212, "-"},
    Twins{0x2215, "/"},
    Twins{0x3000, " "},
};

char TwinOf(std::uint32_t point) {
  if (point >= 0xFF01 && point <= 0xFF5E) return static_cast<char>(point - 0xFEE0);
  const auto* next = std::ranges::upper_bound(kTwins, point, {}, &Twins::first);
  if (next == kTwins.begin()) return '\0';
  const Twins& row = *std::prev(next);
  const std::uint32_t index = point - row.first;
  return index < row.letters.size() && row.letters[index] != '~' ? row.letters[index] : '\0';
}

// Combining marks, joiners, the soft hyphen, byte order marks.
bool IsUnseen(std::uint32_t point) {
  return (point >= 0x300 && point <= 0x36F) || (point >= 0x200B && point <= 0x200D) || point == 0xAD || point == 0xFEFF;
}

// What single bytes become: the same byte, another one, or nothing.
class ByteTable {
 public:
  explicit ByteTable(unsigned folding) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool upper = byte >= 'A' && byte <= 'Z';
      bytes_[byte] = static_cast<char>(upper && (folding & kFoldCase) != 0 ? byte + 0x20 : byte);
    }
    if ((folding & kFoldSpaces) == 0) return;
    for (const char space : kWhiteSpace) dropped_[static_cast<unsigned char>(space)] = true;
  }
  [[nodiscard]] char Of(char byte) const { return bytes_[static_cast<unsigned char>(byte)]; }
  [[nodiscard]] bool Drops(char byte) const { return dropped_[static_cast<unsigned char>(byte)]; }

 private:
  std::array<char, 256> bytes_{};
  std::array<bool, 256> dropped_{};
};

// Calls `emit(at, byte)` for every byte of the result with the place that it was made from, until `emit` gives false.
template <class Emit>
void FoldCharacters(std::string_view text, unsigned folding, Emit emit) {
  const ByteTable table(folding);
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    const bool ascii = static_cast<unsigned char>(byte) < 0x80;
    const Character character = ascii || (folding & kFoldTwins) == 0 ? Character{} : FirstCharacter(text.substr(at));
    const char twin = character.point == 0 ? '\0' : TwinOf(character.point);
    if (twin != '\0') {
      if (!table.Drops(twin) && !emit(at, table.Of(twin))) return;
    } else if (!IsUnseen(character.point)) {
      for (std::size_t i = at; i < at + character.length; ++i) {
        if (!table.Drops(text[i]) && !emit(at, table.Of(text[i]))) return;
      }
    }
    at += character.length;
  }
}

std::string_view Stripped(std::string_view line, unsigned folding) {
  const std::size_t first = (folding & kFoldIndents) != 0 ? line.find_first_not_of(kWhiteSpace) : 0;
  line.remove_prefix(std::min(first, line.size()));
  if ((folding & kFoldLineTails) != 0) line = line.substr(0, line.find_last_not_of(kWhiteSpace) + 1);
  return line;
}

std::string StrippedLines(std::string_view text, unsigned folding) {
  std::string stripped;
  stripped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    stripped.append(Stripped(text.substr(0, feed), folding));
    if (feed == std::string_view::npos) break;
    stripped += '\n';
    text.remove_prefix(feed + 1);
  }
  return stripped;
}

}  // namespace

std::string Folded(std::string_view text, unsigned folding) {
  std::string lines = WithLineFeeds(text);
  if ((folding & kFoldLineEnds) != 0) std::ranges::replace(lines, '\r', '\n');
  if ((folding & (kFoldIndents | kFoldLineTails)) != 0) lines = StrippedLines(lines, folding);
  if ((folding & kSkeleton) == 0) return lines;
  std::string folded;
  folded.reserve(lines.size());
  FoldCharacters(lines, folding, [&](std::size_t, char byte) {
    folded += byte;
    return true;
  });
  return folded;
}

std::size_t PlaceOfSkeleton(std::string_view text, std::size_t place) {
  std::size_t found = text.size();
  FoldCharacters(text, kSkeleton, [&](std::size_t at, char) {
    if (place == 0) found = at;
    return place-- != 0;
  });
  return found;
}

}  // namespace skerry::text
