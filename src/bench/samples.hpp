// The durations of many runs, and their statistics.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace skerry::bench {

using Duration = std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;
using Steps = std::map<std::string, Duration>;

// One run: how long it took, and which parts of it are known by name. The parts need not add up to the total.
struct Sample {
  Duration total{};
  Steps steps;
};

// Every figure is zero while nothing was added.
class Samples {
 public:
  void Add(const Sample& sample);

  [[nodiscard]] std::size_t count() const { return totals_.size(); }
  [[nodiscard]] Duration Min() const { return Percentile(0); }
  [[nodiscard]] Duration Max() const { return Percentile(100); }
  [[nodiscard]] Duration P50() const { return Percentile(50); }
  [[nodiscard]] Duration P99() const { return Percentile(99); }

  // The nearest rank: a duration that was measured, never one between two. `percent` is 0 to 100.
  [[nodiscard]] Duration Percentile(double percent) const;

  // The median of each step, over the runs that had it.
  [[nodiscard]] Steps StepMedians() const;

 private:
  std::vector<Duration> totals_;
  std::map<std::string, std::vector<Duration>> steps_;
};

}  // namespace skerry::bench
