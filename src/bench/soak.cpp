#include "bench/soak.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "bench/footprint.hpp"
#include "bench/report.hpp"
#include "engine/warm_sandboxes.hpp"

namespace skerry::bench {
namespace {

using std::chrono_literals::operator""s;

constexpr std::uint64_t kLooks = 200;  // at memory and descriptors, over the whole run

double Megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

// The series of the plot, in this order.
std::vector<Series> EmptySeries() {
  return {{"latency", "ms", {}},
          {"skerry", "MB", {}},
          {"launcher", "MB", {}},
          {"zygote", "MB", {}},
          {"descriptors of skerry", "", {}},
          {"descriptors of the launcher", "", {}},
          {"cgroups", "", {}}};
}

void Add(std::vector<Series>& series, double latency_ms, const ProcessFacts& facts) {
  const std::array values = {latency_ms,
                             Megabytes(facts.own_bytes),
                             Megabytes(facts.launcher_bytes),
                             Megabytes(facts.zygote_bytes),
                             static_cast<double>(facts.own_descriptors),
                             static_cast<double>(facts.launcher_descriptors),
                             static_cast<double>(facts.cgroups)};
  for (std::size_t i = 0; i < values.size(); ++i) series[i].values.push_back(values.at(i));
}

std::string Summary(const SoakResult& result) {
  std::string text = std::to_string(result.latency.count()) + " runs, " + std::to_string(result.failures) +
                     " failures; p50 " + HumanDuration(result.latency.P50()) + ", p99 " +
                     HumanDuration(result.latency.P99()) + ", slowest " + HumanDuration(result.latency.Max()) + "\n";
  for (const Series& series : result.plot.series) {
    if (series.values.size() < 4 || series.unit == "ms") continue;
    // The first tenth is warming up.
    const std::size_t first = series.values.size() / 10;
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(), "%-28s %10.2f → %10.2f %s\n", series.name.c_str(), series.values[first],
                  series.values.back(), series.unit.c_str());
    text += line.data();
  }
  return text;
}

}  // namespace

base::Result<SoakResult> Soak(Stand& stand, std::uint64_t runs, const std::function<void(std::uint64_t)>& on_progress,
                              const std::stop_token& stop) {
  SoakResult result;
  result.plot = {.title = std::to_string(runs) + " warm Python runs", .x_label = "run", .series = EmptySeries()};
  const std::uint64_t between = std::max<std::uint64_t>(runs / kLooks, 1);
  base::Error last;
  for (std::uint64_t run = 0; run < runs && !stop.stop_requested(); ++run) {
    stand.manager().warm()->AwaitWarm(core::Preload::kPython, base::Deadline::After(30s));
    const auto sample = stand.RunWarm(core::Language::kPython, "print(1)", "1\n");
    if (!sample) {
      ++result.failures;
      last = sample.error();
      continue;
    }
    result.latency.Add(*sample);
    if (run % between != 0) continue;
    Add(result.plot.series, std::chrono::duration<double, std::milli>(sample->total).count(), ProcessFacts::Look());
    on_progress(run);
  }
  result.summary = Summary(result);
  if (result.failures != 0) result.summary += "last failure: " + last.message + "\n";
  return result;
}

}  // namespace skerry::bench
