// What a sandbox uses, sample by sample, and when that is too much.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.hpp"
#include "core/usage.hpp"

namespace skerry::watch {

// One moment of one sandbox.
struct Sample {
  core::TimePoint at;
  double cpu_percent = 0;  // of one core, since the sample before
  core::SandboxUsage usage;
};

// The samples of the last minutes. Not thread-safe.
class UsageHistory {
 public:
  explicit UsageHistory(std::size_t most) : most_(most) {}

  // Adds a sample. Its share of the processor comes from the difference to the sample before; it is not known for the
  // first one, nor when the counter went backwards (another sandbox).
  const Sample& Add(core::TimePoint at, std::chrono::steady_clock::time_point now, const core::SandboxUsage& usage);
  [[nodiscard]] const std::deque<Sample>& samples() const { return samples_; }

 private:
  std::size_t most_;
  std::deque<Sample> samples_;
  std::optional<std::pair<std::chrono::steady_clock::time_point, std::chrono::nanoseconds>> before_;
};

struct AlertRules {
  double cpu_percent = 80;     // of what the sandbox may have: its quota, or one core
  double memory_percent = 90;  // of the sandbox's memory limit
  std::chrono::milliseconds hold{5'000};
};

enum class AlertKind { kCpu, kMemory };
std::string_view NameOf(AlertKind kind);

struct AlertChange {
  AlertKind kind = AlertKind::kCpu;
  bool raised = false;  // false: the alert is cleared
  double percent = 0;   // of the allowance, at that moment
  double threshold = 0;
};

// An alert is raised once when its figure was at or over the threshold for the hold time, and cleared once when the
// figure was below it for as long. A threshold of 0 switches the alert off. Not thread-safe.
class Alerts {
 public:
  explicit Alerts(AlertRules rules) : rules_(rules) {}
  std::vector<AlertChange> Feed(std::chrono::steady_clock::time_point now, const Sample& sample);
  // The sandbox is gone: clears the alerts that are raised.
  std::vector<AlertChange> End();
  [[nodiscard]] std::vector<AlertKind> raised() const;

 private:
  struct State {
    bool raised = false;
    std::optional<std::chrono::steady_clock::time_point>
        since;  // when the figure came to the other side of the threshold
  };
  AlertRules rules_;
  std::map<AlertKind, State> states_;
};

}  // namespace skerry::watch
