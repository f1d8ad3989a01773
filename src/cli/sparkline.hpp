// A small graph in a row of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace skerry::cli {

enum class GraphLetters { kBlocks, kAscii };
// As the variables of the locale tell.
GraphLetters GraphLettersHere();

// The last `cells` values, one in a cell, from 0 to `most`; blanks before them where there are fewer. A value above 0
// is never as low as 0, and one above `most` is as high as that.
std::string Sparkline(std::span<const double> values, double most, std::size_t cells, GraphLetters letters);

}  // namespace skerry::cli
