#include "cli/table.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>

#include "base/printable.hpp"

namespace skerry::cli {

std::string AsTable(const std::vector<std::vector<std::string>>& rows, const CellPaint& paint) {
  std::vector<std::vector<std::string>> table = rows;
  std::vector<std::size_t> widths;
  for (auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = base::Printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : table) {
    const bool painted = paint && &row != &table.front();
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (painted ? paint(i, row[i]) : row[i]) +
              (i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 2, ' ') : "\n");
  }
  return text;
}

std::string Moment(core::TimePoint time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  std::string text(sizeof "2024-05-01T12:00:00Z", '\0');
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

}  // namespace skerry::cli
