#include "cli/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace skerry::cli {
namespace {

using Steps = std::array<std::string_view, 9>;
constexpr Steps kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr Steps kAscii = {" ", "_", ".", "-", "=", "+", "*", "%", "#"};

std::size_t StepOf(double value, double most) {
  if (!(value > 0) || !(most > 0)) return 0;
  constexpr double kHighest = 8;
  return static_cast<std::size_t>(std::clamp(std::ceil(value / most * kHighest), 1.0, kHighest));
}

}  // namespace

GraphLetters GraphLettersHere() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    const bool wide = locale.contains("UTF-8") || locale.contains("utf8") || locale.contains("utf-8");
    return wide ? GraphLetters::kBlocks : GraphLetters::kAscii;
  }
  return GraphLetters::kAscii;
}

std::string Sparkline(std::span<const double> values, double most, std::size_t cells, GraphLetters letters) {
  const Steps& steps = letters == GraphLetters::kBlocks ? kBlocks : kAscii;
  const auto last = values.last(std::min(cells, values.size()));
  std::string line(cells - last.size(), ' ');
  for (const double value : last) line += steps.at(StepOf(value, most));
  return line;
}

}  // namespace skerry::cli
