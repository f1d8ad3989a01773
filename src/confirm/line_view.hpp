// One line of code with its findings, as rows for a terminal. CodeView chooses the lines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "confirm/code_view.hpp"
#include "core/risk.hpp"

namespace skerry::confirm {

struct LineViewOptions {
  Colour colour = Colour::kNone;
  LongLines long_lines = LongLines::kCut;
  std::size_t digits = 1;  // of the greatest line number
  std::size_t width = 0;   // of a row, with the number; 0: no limit
};

// How many rows the whole line needs, without its findings. Stops counting behind `enough`.
std::size_t RowsOf(std::string_view line, const LineViewOptions& options, std::size_t enough);

// Adds the rows of a line and, below each row, the findings in it (by column). Gives the number of characters that had
// to be left out. Every row of code begins with a number or, where the line goes on, with '>': code cannot look like a
// finding.
std::size_t AddLine(std::string& rows, std::size_t number, std::string_view line,
                    std::span<const core::Finding* const> findings, const LineViewOptions& options);

}  // namespace skerry::confirm
