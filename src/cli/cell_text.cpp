#include "cli/cell_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/utf8.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using confirm::Glyph;

// A character has at most four bytes, and two accents on it.
constexpr std::size_t kMostBytesOfCell = 12;

// Enough of the text to fill so many cells, and to see that there is more.
std::string Beginning(std::string_view bytes, std::size_t cells) {
  return base::ToValidUtf8(bytes.substr(0, (cells + 2) * kMostBytesOfCell));
}

std::string TwoParts(std::chrono::seconds::rep large, const char* unit, std::chrono::seconds::rep small,
                     const char* small_unit) {
  std::array<char, 48> text{};
  (void)std::snprintf(text.data(), text.size(), "%lld%s%02lld%s", static_cast<long long>(large), unit,
                      static_cast<long long>(small), small_unit);
  return text.data();
}

}  // namespace

std::string CutTo(std::string_view bytes, std::size_t cells) {
  const std::string text = Beginning(bytes, cells);
  std::string whole;
  std::string cut;  // the text to use when a '…' has to follow
  std::size_t width = 0;
  for (const Glyph& glyph : confirm::GlyphsOf(text, cells)) {
    width += glyph.width;
    if (width > cells) return cells == 0 ? "" : cut + "…";
    whole += confirm::Shown(text, glyph);
    if (width < cells) cut = whole;
  }
  return whole;
}

std::string LeftIn(std::string_view bytes, std::size_t cells) {
  std::string text = CutTo(bytes, cells);
  return text.append(cells - std::min(cells, confirm::WidthOf(text)), ' ');
}

std::string RightIn(std::string_view bytes, std::size_t cells) {
  const std::string text = CutTo(bytes, cells);
  return std::string(cells - std::min(cells, confirm::WidthOf(text)), ' ') + text;
}

std::string InRows(std::string_view bytes, const RowsOptions& options) {
  constexpr std::size_t kLeastRoom = 10;  // the widest glyph
  const std::string text = base::ToValidUtf8(bytes);
  const std::string indent(options.indent, ' ');
  const std::vector<Glyph> glyphs = confirm::GlyphsOf(text);
  const std::size_t room = std::max(kLeastRoom, options.width - std::min(options.width, options.indent));
  std::string rows = indent;
  std::size_t count = 1;
  std::size_t width = 0;
  for (std::size_t at = 0; at < glyphs.size(); ++at) {
    width += glyphs[at].width;
    if (options.width != 0 && width > room) {
      if (count++ == options.max_rows)
        return rows.append("\n").append(indent).append("… and " + std::to_string(glyphs.size() - at) +
                                                       " more characters\n");
      rows += "\n" + indent;
      width = glyphs[at].width;
    }
    rows += confirm::Shown(text, glyphs[at]);
  }
  return rows + "\n";
}

std::string_view FirstLineOf(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(begin);
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

std::string ShortBytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"K", "M", "G", "T", "P"};
  constexpr double kStep = 1024;
  constexpr double kWithFraction = 9.95;
  constexpr double kMost = 999.5;  // four digits do not fit
  if (bytes < 1000) return std::to_string(bytes);
  double value = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; value >= kMost && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), value < kWithFraction ? "%.1f%s" : "%.0f%s", value, kUnits.at(unit));
  return text.data();
}

std::string ShortTime(std::chrono::seconds time) {
  using Count = std::chrono::seconds::rep;
  constexpr Count kMinute = 60;
  constexpr Count kHour = 3600;
  constexpr Count kDay = 86400;
  const Count seconds = std::max<Count>(0, time.count());
  if (seconds < kMinute) return std::to_string(seconds) + "s";
  if (seconds < kHour) return TwoParts(seconds / kMinute, "m", seconds % kMinute, "s");
  if (seconds < kDay) return TwoParts(seconds / kHour, "h", seconds % kHour / kMinute, "m");
  return TwoParts(seconds / kDay, "d", seconds % kDay / kHour, "h");
}

}  // namespace skerry::cli
