#include "watch/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::watch {
namespace {

constexpr std::array kBounds = {0.1, 1.0};

bool Has(const std::string& text, std::string_view line) {
  return ("\n" + text).contains("\n" + std::string(line) + "\n");
}

TEST(CounterTest, WhatIsNotMoreIsPassedOver) {
  Counter counter;
  counter.Add();
  counter.Add(0.5);
  counter.Add(-1);
  counter.Add(std::nan(""));
  counter.Add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(counter.value(), 1.5);
}

TEST(HistogramTest, ABoundBelongsToItsBucket) {
  Histogram histogram(kBounds);
  for (const double value : {0.05, 0.1, 0.5, 1.0, 1.5}) histogram.Observe(value);
  EXPECT_EQ(histogram.Read().counts, (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_DOUBLE_EQ(histogram.Read().sum, 3.15);
}

TEST(HistogramTest, WhatIsNotFiniteSpoilsNothing) {
  Histogram histogram(kBounds);
  histogram.Observe(std::nan(""));
  histogram.Observe(std::numeric_limits<double>::infinity());
  EXPECT_EQ(histogram.Read().counts, (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(histogram.Read().sum, 0);
}

TEST(HistogramTest, LatencyBoundsGrow) {
  const auto bounds = LatencyBounds();
  EXPECT_EQ(bounds.front(), 0.0005);
  EXPECT_EQ(bounds.back(), 300);
  EXPECT_TRUE(std::ranges::is_sorted(bounds, std::ranges::less_equal()));
}

TEST(MetricsTest, NothingCountedIsAnEmptyPage) {
  EXPECT_EQ(Metrics().Exposition(), "");
}

TEST(MetricsTest, AFamilyHasItsHeadOnceAndItsSeriesTogether) {
  Metrics metrics;
  metrics.CounterOf("runs_total", "Runs.", {{"risk", "low"}}).Add(2);
  metrics.CounterOf("other_total", "Others.").Add();
  metrics.CounterOf("runs_total", "Runs.", {{"risk", "high"}}).Add(1);
  EXPECT_EQ(metrics.Exposition(),
            "# HELP other_total Others.\n"
            "# TYPE other_total counter\n"
            "other_total 1\n"
            "# HELP runs_total Runs.\n"
            "# TYPE runs_total counter\n"
            "runs_total{risk=\"high\"} 1\n"
            "runs_total{risk=\"low\"} 2\n");
}

TEST(MetricsTest, TheSameLabelsAreTheSameCounterInAnyOrder) {
  Metrics metrics;
  Counter& counter = metrics.CounterOf("runs_total", "Runs.", {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(&metrics.CounterOf("runs_total", "Runs.", {{"b", "2"}, {"a", "1"}}), &counter);
  EXPECT_NE(&metrics.CounterOf("runs_total", "Runs.", {{"a", "1"}}), &counter);
}

TEST(MetricsTest, BucketsOfAHistogramAddUpToItsCount) {
  Metrics metrics;
  Histogram& histogram = metrics.HistogramOf("wait_seconds", "Waits.", kBounds, {{"start", "warm"}});
  for (const double value : {0.0625, 0.5, 0.75, 4.0}) histogram.Observe(value);
  EXPECT_EQ(metrics.Exposition(),
            "# HELP wait_seconds Waits.\n"
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{start=\"warm\",le=\"0.1\"} 1\n"
            "wait_seconds_bucket{start=\"warm\",le=\"1\"} 3\n"
            "wait_seconds_bucket{start=\"warm\",le=\"+Inf\"} 4\n"
            "wait_seconds_sum{start=\"warm\"} 5.3125\n"
            "wait_seconds_count{start=\"warm\"} 4\n");
}

TEST(MetricsTest, HelpAndLabelsAreEscaped) {
  Metrics metrics;
  metrics.CounterOf("a_total", "back\\slash, \"quote\"\nline", {{"l", "back\\slash, \"quote\"\nline\xff"}}).Add();
  EXPECT_EQ(metrics.Exposition(),
            "# HELP a_total back\\\\slash, \"quote\"\\nline\n"
            "# TYPE a_total counter\n"
            "a_total{l=\"back\\\\slash, \\\"quote\\\"\\nline\xEF\xBF\xBD\"} 1\n");
}

TEST(MetricsTest, ASampleIsOfTheMomentOfTheExposition) {
  Metrics metrics;
  double now = 1;
  metrics.Sample(
      [&now] { return std::vector<Sampled>{{"sessions", "Sessions.", Sampled::Kind::kGauge, {{{}, now}}}}; });
  EXPECT_TRUE(Has(metrics.Exposition(), "sessions 1"));
  now = 2;
  EXPECT_EQ(metrics.Exposition(), "# HELP sessions Sessions.\n# TYPE sessions gauge\nsessions 2\n");
}

TEST(MetricsTest, ASourceMayCount) {
  Metrics metrics;
  metrics.Sample([&metrics] {
    metrics.CounterOf("asked_total", "Asked.").Add();
    return std::vector<Sampled>{};
  });
  static_cast<void>(metrics.Exposition());
  EXPECT_TRUE(Has(metrics.Exposition(), "asked_total 1"));
}

TEST(MetricsTest, SourcesOfOneFamilyAreOneBlock) {
  Metrics metrics;
  for (const std::string state : {"idle", "active"})
    metrics.Sample([state] {
      return std::vector<Sampled>{{"sessions", "Sessions.", Sampled::Kind::kGauge, {{{{"state", state}}, 3}}}};
    });
  EXPECT_EQ(metrics.Exposition(),
            "# HELP sessions Sessions.\n# TYPE sessions gauge\n"
            "sessions{state=\"idle\"} 3\nsessions{state=\"active\"} 3\n");
}

TEST(MetricsTest, ASeriesThatComesTwiceIsTheFirst) {
  Metrics metrics;
  metrics.CounterOf("a_total", "A.").Add(5);
  metrics.Sample([] { return std::vector<Sampled>{{"a_total", "A.", Sampled::Kind::kCounter, {{{}, 9}}}}; });
  EXPECT_EQ(metrics.Exposition(), "# HELP a_total A.\n# TYPE a_total counter\na_total 5\n");
}

TEST(MetricsTest, AnotherKindOfTheSameNameIsLeftOut) {
  Metrics metrics;
  metrics.CounterOf("a_total", "A.").Add(5);
  metrics.Sample([] { return std::vector<Sampled>{{"a_total", "A.", Sampled::Kind::kGauge, {{{{"x", "y"}}, 9}}}}; });
  EXPECT_EQ(metrics.Exposition(), "# HELP a_total A.\n# TYPE a_total counter\na_total 5\n");
}

struct Written {
  double value;
  std::string text;
};

class NumberTest : public testing::TestWithParam<Written> {};

TEST_P(NumberTest, ReadsBackAsItIs) {
  Metrics metrics;
  metrics.Sample([] { return std::vector<Sampled>{{"a", "A.", Sampled::Kind::kGauge, {{{}, GetParam().value}}}}; });
  EXPECT_TRUE(Has(metrics.Exposition(), "a " + GetParam().text)) << metrics.Exposition();
}

INSTANTIATE_TEST_SUITE_P(Numbers, NumberTest,
                         testing::Values(Written{0, "0"}, Written{-1.5, "-1.5"}, Written{1'000'000, "1000000"},
                                         Written{1763321872.125, "1763321872.125"}, Written{0.0005, "0.0005"},
                                         Written{0.1, "0.1"}, Written{1e-9, "1e-09"}, Written{1e300, "1e+300"},
                                         Written{std::numeric_limits<double>::quiet_NaN(), "NaN"},
                                         Written{std::numeric_limits<double>::infinity(), "+Inf"},
                                         Written{-std::numeric_limits<double>::infinity(), "-Inf"}));

TEST(MetricsTest, NoCountOfAnyThreadIsLost) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 2000;
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&metrics] {
        for (int time = 0; time < kTimes; ++time) {
          metrics.CounterOf("a_total", "A.").Add();
          metrics.HistogramOf("b_seconds", "B.", kBounds).Observe(0.5);
        }
      });
  }
  EXPECT_TRUE(Has(metrics.Exposition(), "a_total 8000"));
  EXPECT_TRUE(Has(metrics.Exposition(), "b_seconds_count 8000"));
  EXPECT_TRUE(Has(metrics.Exposition(), "b_seconds_sum 4000"));
}

TEST(MetricsTest, PromtoolTakesThePage) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool (Debian's package prometheus) is not installed";
  Metrics metrics;
  metrics.CounterOf("a_total", "back\\slash, \"quote\"\nline", {{"l", "back\\slash, \"quote\"\nline\xff"}}).Add(1e300);
  metrics.HistogramOf("b_seconds", "B.", LatencyBounds(), {{"start", "warm"}}).Observe(0.003);
  metrics.HistogramOf("b_seconds", "B.", LatencyBounds(), {{"start", "exec"}}).Observe(1000);
  metrics.Sample([] {
    return std::vector<Sampled>{{"c", "C.", Sampled::Kind::kGauge, {{{}, std::nan("")}, {{{"x", ""}}, -0.25}}}};
  });
  const support::TemporaryDirectory directory;
  const std::string page = directory.path() / "page";
  std::ofstream(page) << metrics.Exposition();
  EXPECT_EQ(std::system(("promtool check metrics <" + page).c_str()), 0) << metrics.Exposition();
}

}  // namespace
}  // namespace skerry::watch
