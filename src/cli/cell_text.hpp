// Foreign text in a given number of cells of a terminal, and short figures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::cli {

// `bytes` may be any bytes; the result is as confirm::Visible makes it, and never wider than `cells`. A cut text ends
// in `…`.
std::string CutTo(std::string_view bytes, std::size_t cells);
// The same, filled up with blanks.
std::string LeftIn(std::string_view bytes, std::size_t cells);
std::string RightIn(std::string_view bytes, std::size_t cells);

// Rows that end in a newline, each with `indent` blanks before it: foreign text never begins a row. At most max_rows,
// and a note on how much was left out.
struct RowsOptions {
  std::size_t width = 80;  // of the row with its indent; 0: one row
  std::size_t indent = 2;
  std::size_t max_rows = 20;
};
std::string InRows(std::string_view bytes, const RowsOptions& options);

// The first line that is not blank, without blanks around it.
std::string_view FirstLineOf(std::string_view text);

// 512, 1.5K, 200M, 1.2G; at most five cells.
std::string ShortBytes(std::uint64_t bytes);
// 45s, 4m03s, 2h05m, 3d04h
std::string ShortTime(std::chrono::seconds time);

}  // namespace skerry::cli
