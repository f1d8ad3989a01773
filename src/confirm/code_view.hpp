// How code and the findings in it are shown to a person:
//
//    2 | import os
//    3 | eval(x)
//      | ^~~~ critical python.eval: Runs text as code.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/risk.hpp"

namespace skerry::confirm {

enum class Colour { kNone, kAnsi };

enum class LongLines {
  kCut,   // at the width, around the findings
  kWrap,  // into further rows, as long as all of the code fits into max_lines of them; else cut
};

struct CodeViewOptions {
  Colour colour = Colour::kNone;
  LongLines long_lines = LongLines::kCut;
  // Code of so many lines is shown whole. Of longer code the lines with findings and those around them are shown, or
  // the first lines where there are no findings.
  std::size_t max_lines = 200;
  std::size_t context = 2;  // lines before and after a finding
  std::size_t width = 100;  // of a row, with the number; 0: no limit
};

// The view as rows that each end in a newline. All text of the code is made visible (confirm::Visible). What is left
// out is said: between the lines, and at the end with the numbers of lines, characters and findings. At most 200
// findings are shown, the gravest. Takes time in proportion to the code and the findings.
std::string CodeView(std::string_view code, std::span<const core::Finding> findings, const CodeViewOptions& options);

// `text` in the colour of the level.
std::string Coloured(std::string_view text, core::RiskLevel level, Colour colour);

}  // namespace skerry::confirm
