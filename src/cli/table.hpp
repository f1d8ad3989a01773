// Rows and times as people read them.
#pragma once

#include <string>
#include <vector>

#include "core/record.hpp"

namespace skerry::cli {

// Columns with a line each, the first is the head; cells are made printable.
std::string AsTable(const std::vector<std::vector<std::string>>& rows);

// 2024-05-01T12:00:00Z
std::string Moment(core::TimePoint time);

}  // namespace skerry::cli
