#include "watch/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/utf8.hpp"

namespace skerry::watch {
namespace {

constexpr std::array kLatencyBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,   0.25,
                                       0.5,    1.0,   2.5,    5.0,   10.0, 30.0,  60.0, 120.0, 300.0};

// The number without regard to the locale, in plain digits where those are readable.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr double kSmallestPlain = 1e-6;
  constexpr double kLargestPlain = 1e15;
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= kSmallestPlain && size < kLargestPlain);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end.ptr};
}

std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char byte : base::ToValidUtf8(text)) {
    if (special.contains(byte)) escaped += '\\';
    escaped += byte == '\n' ? 'n' : byte;
  }
  return escaped;
}

std::string HelpText(std::string_view text) {
  return Escaped(text, "\\\n");
}

std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += (text.empty() ? "{" : ",") + name + "=\"" + Escaped(value, "\\\"\n") + "\"";
  return text.empty() ? "" : text + "}";
}

Labels Sorted(Labels labels) {
  std::ranges::sort(labels);
  return labels;
}

// Puts all lines of a family together: a scraper refuses the whole page for a family in two places, of two kinds, or
// with one series twice.
class Page {
 public:
  void Add(const std::string& name, const std::string& help, std::string_view type, const Labels& labels,
           double value) {
    if (Block* block = BlockOf(name, help, type, labels)) block->text += Line(name, labels, value);
  }

  void Add(const std::string& name, const std::string& help, const Labels& labels, const Histogram& histogram) {
    Block* block = BlockOf(name, help, "histogram", labels);
    if (block == nullptr) return;
    const Histogram::Reading reading = histogram.Read();
    double total = 0;
    for (std::size_t i = 0; i < reading.counts.size(); ++i) {
      total += static_cast<double>(reading.counts[i]);
      const double bound = i < histogram.bounds().size() ? histogram.bounds()[i] : INFINITY;
      Labels with_bound = labels;
      with_bound.emplace_back("le", Number(bound));
      block->text += Line(name + "_bucket", with_bound, total);
    }
    block->text += Line(name + "_sum", labels, reading.sum);
    block->text += Line(name + "_count", labels, total);
  }

  [[nodiscard]] std::string Text() const {
    std::string text;
    for (const auto& [name, block] : blocks_) {
      text += "# HELP " + name + " " + HelpText(block.help) + "\n";
      text += "# TYPE " + name + " " + std::string(block.type) + "\n";
      text += block.text;
    }
    return text;
  }

 private:
  struct Block {
    std::string help;
    std::string_view type;
    std::set<Labels> seen;
    std::string text;
  };

  static std::string Line(const std::string& name, const Labels& labels, double value) {
    return name + LabelText(labels) + " " + Number(value) + "\n";
  }

  // nullptr for a series that must not be added.
  Block* BlockOf(const std::string& name, const std::string& help, std::string_view type, const Labels& labels) {
    Block& block = blocks_.try_emplace(name, Block{.help = help, .type = type, .seen = {}, .text = {}}).first->second;
    if (block.type != type || !block.seen.insert(labels).second) return nullptr;
    return &block;
  }

  std::map<std::string, Block> blocks_;
};

}  // namespace

void Counter::Add(double more) {
  if (std::isfinite(more) && more > 0) value_.fetch_add(more, std::memory_order_relaxed);
}

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

void Histogram::Observe(double value) {
  // One such value would spoil the sum for ever.
  if (!std::isfinite(value)) return;
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Reading Histogram::Read() const {
  Reading reading{.counts = {}, .sum = sum_.load(std::memory_order_relaxed)};
  for (const auto& count : counts_) reading.counts.push_back(count.load(std::memory_order_relaxed));
  return reading;
}

std::span<const double> LatencyBounds() {
  return kLatencyBounds;
}

Counter& Metrics::CounterOf(const std::string& name, const std::string& help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Family<Counter>& family = counters_.try_emplace(name, Family<Counter>{.help = help, .members = {}}).first->second;
  auto& member = family.members[Sorted(labels)];
  if (!member) member = std::make_unique<Counter>();
  return *member;
}

Histogram& Metrics::HistogramOf(const std::string& name, const std::string& help, std::span<const double> bounds,
                                const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Family<Histogram>& family =
      histograms_.try_emplace(name, Family<Histogram>{.help = help, .members = {}}).first->second;
  auto& member = family.members[Sorted(labels)];
  if (!member) member = std::make_unique<Histogram>(bounds);
  return *member;
}

void Metrics::Sample(std::function<std::vector<Sampled>()> source) {
  const std::lock_guard lock(mutex_);
  sources_.push_back(std::move(source));
}

std::string Metrics::Exposition() const {
  Page page;
  std::unique_lock lock(mutex_);
  for (const auto& [name, family] : counters_)
    for (const auto& [labels, counter] : family.members)
      page.Add(name, family.help, "counter", labels, counter->value());
  for (const auto& [name, family] : histograms_)
    for (const auto& [labels, histogram] : family.members) page.Add(name, family.help, labels, *histogram);
  const auto sources = sources_;
  lock.unlock();
  // Without the lock: a source takes locks of its own, whose holders may be counting.
  for (const auto& source : sources)
    for (const Sampled& sampled : source())
      for (const auto& [labels, value] : sampled.values)
        page.Add(sampled.name, sampled.help, sampled.kind == Sampled::Kind::kCounter ? "counter" : "gauge",
                 Sorted(labels), value);
  return page.Text();
}

}  // namespace skerry::watch
