// Monitor: what every sandbox uses, second by second, and alerts when that is too much (S10).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/watched.hpp"
#include "watch/usage.hpp"

namespace skerry::engine {

struct MonitorOptions {
  std::chrono::milliseconds interval{1'000};
  std::size_t history = 300;  // samples of each sandbox
  watch::AlertRules alerts;
};

// One sandbox as the monitor last saw it.
struct MonitorReading {
  std::string session;  // "" for a run of its own
  std::string execution;
  core::TimePoint since;
  bool present = false;  // the sandbox is there now; else these are the samples of its last minutes
  std::vector<watch::Sample> samples;
  std::vector<watch::AlertKind> alerts;
};

struct MonitorTotals {
  std::size_t sandboxes = 0;
  double cpu_seconds = 0;  // of all sandboxes that there ever were
  std::uint64_t memory_bytes = 0;
  std::uint64_t pids = 0;
  std::uint64_t received_bytes = 0;  // of all sandboxes that there ever were
  std::uint64_t sent_bytes = 0;
  std::uint64_t samples = 0;
  std::chrono::nanoseconds own_time{0};  // processor time of the monitor itself
};

// Thread-safe. `watched` outlives it.
class Monitor {
 public:
  using AlertTold =
      std::function<void(const std::string& session, const std::string& execution, const watch::AlertChange& change)>;
  // `told` is called by the monitor's thread.
  Monitor(Watched& watched, MonitorOptions options, AlertTold told);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() { Stop(); }
  void Stop() { thread_ = {}; }

  // Sorted by name; the newest `most` samples of each.
  [[nodiscard]] std::vector<MonitorReading> All(std::size_t most) const;
  [[nodiscard]] std::optional<MonitorReading> Of(const std::string& session, std::size_t most) const;
  [[nodiscard]] MonitorTotals Totals() const;
  [[nodiscard]] const MonitorOptions& options() const { return options_; }

  // For tests: one look now.
  void LookNow();

 private:
  struct Entry {
    Entry(const MonitorOptions& options) : history(options.history), alerts(options.alerts) {}
    std::string session;
    std::string execution;
    core::TimePoint since;
    watch::UsageHistory history;
    watch::Alerts alerts;
    core::SandboxUsage last;
    std::chrono::steady_clock::time_point seen;
    bool present = false;
  };
  struct Told {
    std::string session;
    std::string execution;
    watch::AlertChange change;
  };

  void Work(const std::stop_token& stop);
  // Takes a sample of the sandbox. Gives the processor time that the sandbox has used.
  std::optional<std::chrono::nanoseconds> Take(const WatchedSandbox& watched, std::vector<Told>& told);
  void Retire(std::chrono::steady_clock::time_point round, std::vector<Told>& told);
  void Account(Entry& entry, const core::SandboxUsage& now);
  [[nodiscard]] static MonitorReading ReadingOf(const Entry& entry, std::size_t most);

  Watched& watched_;
  const MonitorOptions options_;
  const AlertTold told_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  MonitorTotals totals_;
  std::jthread thread_;
};

}  // namespace skerry::engine
