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

// A counter only grows: an amount that is negative or not finite is passed over.
class Counter {
 public:
  void Add(double more = 1);
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// A value that is not finite is passed over.
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

// Thread-safe. Counters and histograms that were given out stay where they are as long as the registry lives. A name
// has one kind and one help text: the first ones given. A series of another kind, or one that is there already, is left
// out of the exposition.
class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The counter or histogram with these labels; made where it is missing. Labels come from Skerry's code, never from a
  // client's text: there is no end to those.
  Counter& CounterOf(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& HistogramOf(const std::string& name, const std::string& help, std::span<const double> bounds,
                         const Labels& labels = {});
  // `source` is called at each Exposition, by the thread that wants it, with no lock held.
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
