#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/plot.hpp"
#include "bench/svg.hpp"

namespace skerry::bench {
namespace {

constexpr double kWidth = 880;
constexpr double kLeft = 90;
constexpr double kRight = 860;
constexpr double kTop = 44;
constexpr double kPanel = 130;
constexpr double kGap = 40;
constexpr double kFooter = 20;
constexpr std::size_t kPoints = 800;

constexpr std::string_view kGrid = "#e4e7eb";
constexpr std::string_view kQuiet = "#616e7c";
// Colours that colour-blind people can tell apart (Okabe and Ito).
constexpr std::array<std::string_view, 6> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};

struct Panel {
  std::string unit;
  std::vector<const Series*> series;
};

std::vector<Panel> PanelsOf(const std::vector<Series>& all) {
  std::vector<Panel> panels;
  for (const Series& series : all) {
    auto panel = std::ranges::find(panels, series.unit, &Panel::unit);
    if (panel == panels.end()) panel = panels.insert(panels.end(), {.unit = series.unit, .series = {}});
    panel->series.push_back(&series);
  }
  return panels;
}

// A round number, not below `value`, whose half is round too.
double RoundUp(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (value <= step * power) return step * power;
  return 10 * power;
}

double LargestOf(const Panel& panel) {
  double largest = 0;
  for (const Series* series : panel.series)
    for (const double value : series->values)
      if (std::isfinite(value)) largest = std::max(largest, value);
  return largest;
}

std::size_t RunsOf(const std::vector<Series>& all) {
  std::size_t runs = 0;
  for (const Series& series : all) runs = std::max(runs, series.values.size());
  return runs;
}

std::string TickText(double value) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
  return std::string(buffer.data(), static_cast<std::size_t>(std::clamp(size, 0, 63)));
}

// Where a panel lies and which values its edges stand for.
struct Frame {
  double bottom = 0;
  double top_value = 1;
  std::size_t runs = 1;

  [[nodiscard]] SvgPoint At(SeriesPoint point) const {
    const double across = runs < 2 ? 0 : static_cast<double>(point.run) / static_cast<double>(runs - 1);
    const double up = std::clamp(point.value / top_value, 0.0, 1.0);
    return {kLeft + across * (kRight - kLeft), bottom - up * kPanel};
  }
};

void DrawPanel(SvgDrawing& drawing, const Panel& panel, const Frame& frame) {
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = frame.bottom - share * kPanel;
    drawing.Line({kLeft, y}, {kRight, y}, kGrid);
    drawing.Text({.at = {kLeft - 8, y + 4},
                  .text = TickText(share * frame.top_value),
                  .anchor = Anchor::kEnd,
                  .size = 11,
                  .color = kQuiet});
  }
  drawing.Text({.at = {16, frame.bottom - kPanel - 10}, .text = panel.unit, .size = 12, .weight = "bold"});
  double legend = kLeft;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = *panel.series[i];
    const std::string_view color = kColors[i % kColors.size()];
    std::vector<SvgPoint> line;
    for (const SeriesPoint& point : Downsample(series.values, kPoints)) line.push_back(frame.At(point));
    drawing.Polyline(line, color);
    drawing.Text({.at = {legend, frame.bottom - kPanel - 10}, .text = series.name, .color = color, .weight = "bold"});
    legend += 24 + 7.5 * static_cast<double>(series.name.size());
  }
}

}  // namespace

std::vector<SeriesPoint> Downsample(const std::vector<double>& values, std::size_t points) {
  std::vector<SeriesPoint> finite;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) finite.push_back({i, values[i]});
  const std::size_t stretches = std::max<std::size_t>(points / 2, 1);
  if (finite.size() <= 2 * stretches) return finite;
  std::vector<SeriesPoint> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto from = finite.begin() + static_cast<std::ptrdiff_t>(i * finite.size() / stretches);
    const auto to = finite.begin() + static_cast<std::ptrdiff_t>((i + 1) * finite.size() / stretches);
    auto [low, high] = std::minmax_element(from, to, [](const auto& a, const auto& b) { return a.value < b.value; });
    if (low->run > high->run) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

std::string LinePlot(const LinePlotInput& input) {
  const std::vector<Panel> panels = PanelsOf(input.series);
  const std::size_t runs = std::max<std::size_t>(RunsOf(input.series), 1);
  const double bottom = kTop + static_cast<double>(panels.size()) * (kPanel + kGap);
  SvgDrawing drawing(kWidth, bottom + kFooter + 16, input.title);
  drawing.Text({.at = {16, 24}, .text = input.title, .size = 16, .weight = "bold"});
  for (std::size_t i = 0; i < panels.size(); ++i)
    DrawPanel(drawing, panels[i],
              {.bottom = kTop + static_cast<double>(i + 1) * (kPanel + kGap) - 8,
               .top_value = RoundUp(LargestOf(panels[i])),
               .runs = runs});
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const long run = std::max(std::lround(share * static_cast<double>(runs)), 1L);
    drawing.Text({.at = {kLeft + share * (kRight - kLeft), bottom + 10},
                  .text = std::to_string(run),
                  .anchor = Anchor::kMiddle,
                  .size = 11,
                  .color = kQuiet});
  }
  drawing.Text({.at = {kLeft, bottom + 26}, .text = input.x_label, .size = 11, .color = kQuiet});
  return drawing.Finish();
}

}  // namespace skerry::bench
