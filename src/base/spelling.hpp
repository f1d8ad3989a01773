// Names with a slip in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace skerry::base {

// How many letters must be added, dropped or changed to turn one word into the other.
std::size_t EditDistance(std::string_view a, std::string_view b);

// " (did you mean X?)" for the candidate nearest to `word`, empty when none is within two letters.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

// "a, b, c" in the order given.
std::string Joined(std::span<const std::string> words);

}  // namespace skerry::base
