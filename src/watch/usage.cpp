#include "watch/usage.hpp"

#include <array>
#include <utility>

namespace skerry::watch {
namespace {

struct Figure {
  AlertKind kind;
  double percent;  // of the allowance
  double threshold;
};

double PercentOf(double figure, std::uint64_t allowance) {
  return allowance == 0 ? 0 : figure * 100 / static_cast<double>(allowance);
}

// A sandbox without a quota raises the alert at one core: a program with one thread cannot use more.
double CpuPercent(const Sample& sample) {
  constexpr std::uint64_t kOneCore = 100;
  const std::uint64_t quota = sample.usage.cpu_limit_percent;
  return PercentOf(sample.cpu_percent, quota != 0 ? quota : kOneCore);
}

double ThresholdOf(AlertKind kind, const AlertRules& rules) {
  return kind == AlertKind::kCpu ? rules.cpu_percent : rules.memory_percent;
}

}  // namespace

const Sample& UsageHistory::Add(core::TimePoint at, std::chrono::steady_clock::time_point now,
                                const core::SandboxUsage& usage) {
  Sample sample{.at = at, .usage = usage};
  if (before_ && now > before_->first && usage.cpu_time >= before_->second)
    sample.cpu_percent = std::chrono::duration<double>(usage.cpu_time - before_->second) /
                         std::chrono::duration<double>(now - before_->first) * 100;
  before_.emplace(now, usage.cpu_time);
  samples_.push_back(sample);
  while (samples_.size() > most_ && samples_.size() > 1) samples_.pop_front();
  return samples_.back();
}

std::string_view NameOf(AlertKind kind) {
  return kind == AlertKind::kCpu ? "cpu" : "memory";
}

std::vector<AlertChange> Alerts::Feed(std::chrono::steady_clock::time_point now, const Sample& sample) {
  const std::array figures = {
      Figure{AlertKind::kCpu, CpuPercent(sample), ThresholdOf(AlertKind::kCpu, rules_)},
      Figure{AlertKind::kMemory,
             PercentOf(static_cast<double>(sample.usage.memory_bytes), sample.usage.memory_limit_bytes),
             ThresholdOf(AlertKind::kMemory, rules_)},
  };
  std::vector<AlertChange> changes;
  for (const auto& [kind, percent, threshold] : figures) {
    State& state = states_[kind];
    const bool over = threshold > 0 && percent >= threshold;
    if (over == state.raised) {
      state.since.reset();
      continue;
    }
    if (!state.since) state.since = now;
    if (now - *state.since < rules_.hold) continue;
    state = {.raised = over, .since = std::nullopt};
    changes.push_back({.kind = kind, .raised = over, .percent = percent, .threshold = threshold});
  }
  return changes;
}

std::vector<AlertChange> Alerts::End() {
  std::vector<AlertChange> changes;
  for (const auto& [kind, state] : std::exchange(states_, {}))
    if (state.raised) changes.push_back({.kind = kind, .threshold = ThresholdOf(kind, rules_)});
  return changes;
}

std::vector<AlertKind> Alerts::raised() const {
  std::vector<AlertKind> kinds;
  for (const auto& [kind, state] : states_)
    if (state.raised) kinds.push_back(kind);
  return kinds;
}

}  // namespace skerry::watch
