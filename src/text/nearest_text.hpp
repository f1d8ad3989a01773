// The part of a text that comes nearest to a wanted text that is not in it, so that an agent or a person who looked for
// that text sees why it was not found. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::text {

struct NearestText {
  std::uint64_t line = 0;  // where it begins; counts from 1
  std::string difference;  // "only the indentation differs", "the first line that differs is 14"; "" for none of these
  std::string excerpt;     // ten lines and 600 bytes at most, each line with its number; printable but for tabs
};

// Nothing when no place has much in common with `wanted`. The work grows with the sum of both sizes, not with their
// product. A text without "\n" has its lines end with "\r".
std::optional<NearestText> FindNearest(std::string_view text, std::string_view wanted);

}  // namespace skerry::text
