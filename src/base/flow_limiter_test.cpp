#include "base/flow_limiter.hpp"

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr FlowLimiter::TimePoint kNow{};

TEST(FlowLimiterTest, WhatFitsCostsNoTime) {
  FlowLimiter limiter({.per_second = 100, .at_once = 50});
  EXPECT_EQ(limiter.Charge("a", 50, kNow), milliseconds(0));
  EXPECT_EQ(limiter.Charge("b", 50, kNow), milliseconds(0));
}

TEST(FlowLimiterTest, WhatDoesNotFitIsWaitedFor) {
  FlowLimiter limiter({.per_second = 100, .at_once = 50});
  EXPECT_EQ(limiter.Charge("a", 60, kNow), milliseconds(100));
  EXPECT_EQ(limiter.Charge("a", 10, kNow), milliseconds(200)) << "a second connection waits behind the first";
  EXPECT_EQ(limiter.Charge("a", 0, kNow + milliseconds(200)), milliseconds(0));
}

TEST(FlowLimiterTest, ADebtHasABound) {
  FlowLimiter limiter({.per_second = 100, .at_once = 50, .longest_wait = milliseconds(500)});
  EXPECT_EQ(limiter.Charge("a", 1e12, kNow), milliseconds(500));
  EXPECT_EQ(limiter.Charge("a", 0, kNow + milliseconds(500)), milliseconds(0));
}

TEST(FlowLimiterTest, WhoRestedLongHasNoMoreThanWhoRestedALittle) {
  FlowLimiter limiter({.per_second = 100, .at_once = 50});
  (void)limiter.Charge("a", 1, kNow);
  EXPECT_EQ(limiter.Charge("a", 50, kNow + seconds(1000)), milliseconds(0));
  EXPECT_EQ(limiter.Charge("a", 1, kNow + seconds(1000)), milliseconds(10));
}

TEST(FlowLimiterTest, BesideOthersThereIsLess) {
  FlowLimiter limiter({.per_second = 100, .beside_others = 50, .at_once = 50});
  EXPECT_EQ(limiter.Charge("a", 60, kNow), milliseconds(100)) << "alone";
  EXPECT_EQ(limiter.Charge("a", 0, kNow + milliseconds(100)), milliseconds(0));
  (void)limiter.Charge("b", 1, kNow + milliseconds(100));
  EXPECT_EQ(limiter.Charge("a", 10, kNow + milliseconds(100)), milliseconds(200));
  EXPECT_EQ(limiter.Charge("a", 0, kNow + milliseconds(300)), milliseconds(0));
  EXPECT_EQ(limiter.Charge("a", 10, kNow + milliseconds(1100)), milliseconds(0));
  EXPECT_EQ(limiter.Charge("a", 90, kNow + milliseconds(1100)), milliseconds(500)) << "alone again";
}

TEST(FlowLimiterTest, ForgetsThoseWhoOweNothing) {
  FlowLimiter limiter({.per_second = 100, .at_once = 50});
  for (int at = 0; at < 5000; ++at) (void)limiter.Charge(std::to_string(at), 1, kNow + seconds(at));
  EXPECT_LT(limiter.size(), 1100U);
}

}  // namespace
}  // namespace skerry::base
