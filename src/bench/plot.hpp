// Pictures for the documentation, as SVG text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report.hpp"

namespace skerry::bench {

// One bar for each subject that was measured: its p50, on a scale where each line is ten times the one before, with a
// whisker to its p99 and a mark where its target lies. Subjects whose names begin with `skerry` stand out.
std::string BarPlot(const Report& report);

// The values of one figure, run after run.
struct Series {
  std::string name;
  std::string unit;  // series of the same unit share a scale, which begins at 0
  std::vector<double> values;
};

struct LinePlotInput {
  std::string title;
  std::string x_label;  // "run"
  std::vector<Series> series;
};

// One panel for each unit, one above the other, over the same runs.
std::string LinePlot(const LinePlotInput& input);

struct SeriesPoint {
  std::size_t run = 0;
  double value = 0;
  bool operator==(const SeriesPoint&) const = default;
};

// At most `points` points (and 2 at least). Of each stretch the smallest and the largest value stay, so that no peak is
// lost. Values that are no finite number are dropped.
std::vector<SeriesPoint> Downsample(const std::vector<double>& values, std::size_t points);

}  // namespace skerry::bench
