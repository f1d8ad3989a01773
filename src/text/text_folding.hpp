// A text without what a reader does not notice. For comparing only. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::text {

// Bits, to be combined.
enum Folding : unsigned {
  kFoldLineEnds = 1,   // "\r" on its own ends a line
  kFoldLineTails = 2,  // no white space at the ends of lines
  kFoldIndents = 4,    // nor at their beginnings
  kFoldSpaces = 8,     // no white space at all, line ends included
  kFoldCase = 16,      // A as a, in ASCII
  kFoldTwins = 32,  // curly quotes, dashes, accents, wide forms, Greek and Cyrillic letters as the ASCII they resemble
};
inline constexpr unsigned kSkeleton = kFoldSpaces | kFoldCase | kFoldTwins;

// Any bytes; what is no UTF-8 stays as it is. "\r\n" always becomes "\n".
std::string Folded(std::string_view text, unsigned folding);

// Where in `text` the byte is from which byte `place` of its skeleton was made; the size of the text when there is
// none.
std::size_t PlaceOfSkeleton(std::string_view text, std::size_t place);

}  // namespace skerry::text
