// Rows and times as people read them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/record.hpp"

namespace skerry::cli {

// Adds colours to a printable cell below the head, and nothing that changes its width.
using CellPaint = std::function<std::string(std::size_t column, const std::string& cell)>;

// Aligned columns, one line for each row, of which the first is the head; cells are made printable.
std::string AsTable(const std::vector<std::vector<std::string>>& rows, const CellPaint& paint = {});

// 2024-05-01T12:00:00Z
std::string Moment(core::TimePoint time);

}  // namespace skerry::cli
