#include "watch/login_tally.hpp"

#include <gtest/gtest.h>

namespace skerry::watch {
namespace {

using std::chrono_literals::operator""s;
using Pace = LoginTally::Pace;

constexpr LoginTally::TimePoint kNow{};

TEST(LoginTallyTest, ThousandsOfRequestsAreOneReport) {
  LoginTally tally;
  EXPECT_FALSE(tally.Next());
  for (int at = 0; at < 10'000; ++at) tally.Add("a", at < 200 ? Pace::kInTime : Pace::kThrottled, kNow);
  EXPECT_EQ(tally.Next(), kNow + 1s);
  EXPECT_TRUE(tally.Take(kNow).empty());
  const auto reports = tally.Take(kNow + 1s);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].address, "a");
  EXPECT_EQ(reports[0].times, 10'000U);
  EXPECT_EQ(reports[0].throttled, 9'800U);
}

TEST(LoginTallyTest, WhoGoesOnIsReportedLessOften) {
  LoginTally tally;
  std::size_t reports = 0;
  for (int second = 0; second < 600; ++second) {
    tally.Add("a", Pace::kInTime, kNow + std::chrono::seconds(second));
    reports += tally.Take(kNow + std::chrono::seconds(second)).size();
  }
  EXPECT_EQ(reports, 2U + 9U);
}

TEST(LoginTallyTest, ManyAddressesAreNotManyReports) {
  LoginTally tally;
  for (int at = 0; at < 1000; ++at) tally.Add("address " + std::to_string(at), Pace::kInTime, kNow);
  const auto reports = tally.Take(kNow + 1s);
  EXPECT_EQ(reports.size(), LoginTally::kMostAddresses + 1);
  EXPECT_EQ(reports.front().address, "");
  EXPECT_EQ(reports.front().times, 1000 - LoginTally::kMostAddresses);
}

TEST(LoginTallyTest, ForgetsWhoIsQuiet) {
  LoginTally tally;
  tally.Add("a", Pace::kInTime, kNow);
  EXPECT_EQ(tally.Take(kNow + 1s).size(), 1U);
  EXPECT_TRUE(tally.Take(kNow + 11s).empty());
  EXPECT_FALSE(tally.Next());
}

TEST(LoginTallyTest, NothingIsLostAtTheEnd) {
  LoginTally tally;
  tally.Add("a", Pace::kInTime, kNow);
  EXPECT_EQ(tally.TakeAll().size(), 1U);
  EXPECT_TRUE(tally.TakeAll().empty());
}

}  // namespace
}  // namespace skerry::watch
