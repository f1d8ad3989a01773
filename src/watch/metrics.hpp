// Metrics: counters, gauges and histograms, and their text for Prometheus (exposition format 0.0.4).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::watch {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Only grows: what is negative or not finite is passed over.
class Counter {
 public:
  void Add(double more = 1);
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// What is not finite is passed over.
class Histogram {
 public:
  // Upper bounds, which belong to their buckets; growing; the last, infinite one is not named.
  explicit Histogram(std::span<const double> bounds);
  void Observe(double value);

  struct Reading {
    std::vector<std::uint64_t> counts;  // of each bucket alone, the infinite one last
    double sum = 0;
  };
  [[nodiscard]] Reading Read() const;
  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  std::deque<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

// From half a millisecond to five minutes.
std::span<const double> LatencyBounds();

// A figure of this moment, asked for when it is wanted.
struct Sampled {
  enum class Kind { kGauge, kCounter };
  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<std::pair<Labels, double>> values;
};

// Thread-safe. What was given out stays where it is as long as the registry lives. A name has one kind and one help:
// those that came first; what is of another kind, or a series that is there already, is left out of the exposition.
class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The one with these labels; made where it is missing. Labels come from us, never from a caller's text: there is no
  // end to those.
  Counter& CounterOf(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& HistogramOf(const std::string& name, const std::string& help, std::span<const double> bounds,
                         const Labels& labels = {});
  // Asked at each Exposition, by its thread, with no lock held.
  void Sample(std::function<std::vector<Sampled>()> source);

  [[nodiscard]] std::string Exposition() const;

 private:
  template <class Instrument>
  struct Family {
    std::string help;
    std::map<Labels, std::unique_ptr<Instrument>> members;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Family<Counter>> counters_;
  std::map<std::string, Family<Histogram>> histograms_;
  std::vector<std::function<std::vector<Sampled>()>> sources_;
};

}  // namespace skerry::watch
