#include "bench/samples.hpp"

#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

using std::chrono::microseconds;

Samples OneTo(int count) {
  Samples samples;
  // Not in order: steps of 7 visit every number once, because 7 shares no factor with the counts used here.
  for (int i = 0; i < count; ++i) samples.Add({.total = microseconds(i * 7 % count + 1)});
  return samples;
}

TEST(SamplesTest, AreZeroWhenThereAreNone) {
  const Samples samples;
  EXPECT_EQ(samples.count(), 0U);
  EXPECT_EQ(samples.P50(), Duration{});
  EXPECT_EQ(samples.P99(), Duration{});
  EXPECT_TRUE(samples.StepMedians().empty());
}

TEST(SamplesTest, PercentilesAreNearestRanks) {
  const Samples hundred = OneTo(100);
  EXPECT_EQ(hundred.count(), 100U);
  EXPECT_EQ(hundred.Min(), microseconds(1));
  EXPECT_EQ(hundred.P50(), microseconds(50));
  EXPECT_EQ(hundred.P99(), microseconds(99));
  EXPECT_EQ(hundred.Max(), microseconds(100));
  EXPECT_EQ(OneTo(1000).P99(), microseconds(990));
}

TEST(SamplesTest, TheP99OfAFewIsTheWorst) {
  EXPECT_EQ(OneTo(10).P99(), microseconds(10));
  EXPECT_EQ(OneTo(1).P50(), microseconds(1));
  EXPECT_EQ(OneTo(1).P99(), microseconds(1));
}

TEST(SamplesTest, TheMedianOfTwoIsTheSmaller) {
  EXPECT_EQ(OneTo(2).P50(), microseconds(1));
}

TEST(SamplesTest, AStepIsTheMedianOverTheRunsThatHadIt) {
  Samples samples;
  samples.Add({.total = microseconds(9), .steps = {{"claim", microseconds(3)}}});
  samples.Add({.total = microseconds(9), .steps = {{"claim", microseconds(1)}, {"fork", microseconds(7)}}});
  samples.Add({.total = microseconds(9), .steps = {{"claim", microseconds(2)}}});
  EXPECT_EQ(samples.StepMedians(), (Steps{{"claim", microseconds(2)}, {"fork", microseconds(7)}}));
}

}  // namespace
}  // namespace skerry::bench
