#include "bench/samples.hpp"

#include <algorithm>
#include <cmath>

namespace skerry::bench {
namespace {

Duration NearestRank(std::vector<Duration> durations, double percent) {
  if (durations.empty()) return {};
  const double share = std::ceil(percent / 100 * static_cast<double>(durations.size()));
  const auto rank = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(share, 1.0)), 1, durations.size());
  const auto at = durations.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(durations, at);
  return *at;
}

}  // namespace

void Samples::Add(const Sample& sample) {
  totals_.push_back(sample.total);
  for (const auto& [name, duration] : sample.steps) steps_[name].push_back(duration);
}

Duration Samples::Percentile(double percent) const {
  return NearestRank(totals_, percent);
}

Steps Samples::StepMedians() const {
  Steps medians;
  for (const auto& [name, durations] : steps_) medians[name] = NearestRank(durations, 50);
  return medians;
}

}  // namespace skerry::bench
