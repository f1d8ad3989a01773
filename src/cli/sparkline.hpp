// A small graph in a row of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace skerry::cli {

enum class GraphLetters { kBlocks, kAscii };
// What the variables of the locale allow.
GraphLetters GraphLettersHere();

// The last `cells` values, one in a cell, from 0 to `most`; blanks before them where there are fewer. A value above 0
// is drawn above 0, and one above `most` as `most`.
std::string Sparkline(std::span<const double> values, double most, std::size_t cells, GraphLetters letters);

}  // namespace skerry::cli
