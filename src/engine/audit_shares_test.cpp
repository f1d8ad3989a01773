#include "engine/audit_shares.hpp"

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Weight = AuditShares::Weight;

TEST(AuditSharesTest, AShareComesBackInTheCourseOfADay) {
  AuditShares::Clock::time_point now;
  AuditShares shares(24'000, [&] { return now; });
  shares.Fill("one", 25'000);
  EXPECT_GT(shares.Wait("one", Weight::kUsual), hours(1));
  EXPECT_LT(shares.Wait("one", Weight::kUsual), hours(1) + seconds(5));
  EXPECT_EQ(shares.Wait("other", Weight::kUsual), seconds(0));
  now += hours(1) + seconds(5);
  EXPECT_EQ(shares.Wait("one", Weight::kUsual), seconds(0));
}

TEST(AuditSharesTest, WhoReadsLeavesHalfToThoseWhoWorkAndAStopIsAlwaysPossible) {
  AuditShares shares(1000, [] { return AuditShares::Clock::time_point(); });
  shares.Fill("one", 500);
  EXPECT_GT(shares.Wait("one", Weight::kReading), seconds(0));
  EXPECT_EQ(shares.Wait("one", Weight::kUsual), seconds(0));
  shares.Fill("one", 600);
  EXPECT_GT(shares.Wait("one", Weight::kUsual), seconds(0));
  EXPECT_EQ(shares.Wait("one", Weight::kEnding), seconds(0));
}

TEST(AuditSharesTest, WithoutALimitNobodyWaits) {
  AuditShares shares(0);
  shares.Fill("one", 1'000'000'000);
  EXPECT_EQ(shares.Wait("one", Weight::kReading), seconds(0));
}

}  // namespace
}  // namespace skerry::engine
