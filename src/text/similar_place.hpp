// The place in a text whose short pieces are most those of another text. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace skerry::text {

// Where in `text` something begins that is like `wanted`; nothing when less than two fifths of it are the same
// anywhere. One pass over both: a window as long as `wanted` goes over the text, and what counts is how many of the
// pieces in it are pieces of `wanted` too, no piece more often than `wanted` has it.
std::optional<std::size_t> FindSimilarPlace(std::string_view text, std::string_view wanted);

}  // namespace skerry::text
