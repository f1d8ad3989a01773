#include "engine/monitor.hpp"

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "base/thread_time.hpp"

namespace skerry::engine {
namespace {

// What a counter grew by; one that went back belongs to another sandbox.
template <class Number>
Number Growth(Number before, Number now) {
  return now >= before ? now - before : now;
}

}  // namespace

Monitor::Monitor(Watched& watched, MonitorOptions options, AlertTold told)
    : watched_(watched),
      options_(options),
      told_(std::move(told)),
      thread_([this](const std::stop_token& stop) { Work(stop); }) {}

void Monitor::Work(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  auto next = std::chrono::steady_clock::now();
  for (;;) {
    // At fixed moments: the time of a look does not add to the interval.
    next = std::max(next + options_.interval, std::chrono::steady_clock::now());
    (void)waiting.wait_until(lock, stop, next, [&] { return stop.stop_requested(); });
    if (stop.stop_requested()) return;
    LookNow();
    const std::scoped_lock own(mutex_);
    totals_.own_time = base::ThreadTime();
  }
}

void Monitor::LookNow() {
  std::vector<Told> told;
  const auto round = std::chrono::steady_clock::now();
  watched_.ForEach([&](const WatchedSandbox& sandbox) { return Take(sandbox, told); });
  Retire(round, told);
  if (!told_) return;
  for (const Told& each : told) told_(each.session, each.execution, each.change);
}

std::optional<std::chrono::nanoseconds> Monitor::Take(const WatchedSandbox& watched, std::vector<Told>& told) {
  const auto usage = watched.sandbox->Sample(base::Deadline::After(options_.interval));
  const std::scoped_lock lock(mutex_);
  Entry& entry = entries_.try_emplace(watched.key(), options_).first->second;
  entry.session = watched.session;
  entry.execution = watched.execution;
  entry.since = watched.since;
  entry.seen = std::chrono::steady_clock::now();
  entry.present = true;
  if (!usage) return std::nullopt;  // the sandbox begins or ends just now, or cannot tell
  const watch::Sample& sample = entry.history.Add(std::chrono::system_clock::now(), entry.seen, *usage);
  Account(entry, *usage);
  for (const watch::AlertChange& change : entry.alerts.Feed(entry.seen, sample))
    told.push_back({entry.session, entry.execution, change});
  return usage->cpu_time;
}

void Monitor::Account(Entry& entry, const core::SandboxUsage& now) {
  totals_.cpu_seconds += std::chrono::duration<double>(Growth(entry.last.cpu_time, now.cpu_time)).count();
  totals_.received_bytes += Growth(entry.last.received_bytes, now.received_bytes);
  totals_.sent_bytes += Growth(entry.last.sent_bytes, now.sent_bytes);
  ++totals_.samples;
  entry.last = now;
}

// Sandboxes that were not seen in this round have ended. The last samples of a session are kept for a history's length.
void Monitor::Retire(std::chrono::steady_clock::time_point round, std::vector<Told>& told) {
  const std::scoped_lock lock(mutex_);
  totals_.sandboxes = 0;
  totals_.memory_bytes = 0;
  totals_.pids = 0;
  const auto kept = options_.interval * options_.history;
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    if (entry.seen >= round) {
      ++totals_.sandboxes;
      totals_.memory_bytes += entry.last.memory_bytes;
      totals_.pids += entry.last.pids;
      ++at;
      continue;
    }
    if (std::exchange(entry.present, false)) {
      entry.last = {};
      for (const watch::AlertChange& change : entry.alerts.End())
        told.push_back({entry.session, entry.execution, change});
    }
    const bool over = entry.session.empty() || round - entry.seen > kept;
    at = over ? entries_.erase(at) : std::next(at);
  }
}

MonitorReading Monitor::ReadingOf(const Entry& entry, std::size_t most) {
  MonitorReading reading{.session = entry.session,
                         .execution = entry.execution,
                         .since = entry.since,
                         .present = entry.present,
                         .alerts = entry.alerts.raised()};
  const auto& samples = entry.history.samples();
  const auto from = samples.end() - static_cast<std::ptrdiff_t>(std::min(most, samples.size()));
  reading.samples.assign(from, samples.end());
  return reading;
}

std::vector<MonitorReading> Monitor::All(std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  std::vector<MonitorReading> readings;
  for (const auto& [key, entry] : entries_)
    if (entry.present) readings.push_back(ReadingOf(entry, most));
  return readings;
}

std::optional<MonitorReading> Monitor::Of(const std::string& session, std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(session);
  if (found == entries_.end()) return std::nullopt;
  return ReadingOf(found->second, most);
}

MonitorTotals Monitor::Totals() const {
  const std::scoped_lock lock(mutex_);
  return totals_;
}

}  // namespace skerry::engine
