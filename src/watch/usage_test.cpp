#include "watch/usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::watch {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;

using Moment = std::chrono::steady_clock::time_point;
constexpr std::uint64_t kMegabyte = 1U << 20U;

Moment At(std::chrono::milliseconds time) {
  return Moment(1h) + time;
}

// ---- History

class UsageHistoryTest : public testing::Test {
 protected:
  const Sample& Add(std::chrono::milliseconds time, std::chrono::milliseconds cpu) {
    return history_.Add(core::TimePoint(time), At(time), {.cpu_time = cpu});
  }
  UsageHistory history_{3};
};

TEST_F(UsageHistoryTest, NothingIsKnownOfTheProcessorWithTheFirstSample) {
  EXPECT_EQ(Add(0s, 5s).cpu_percent, 0);
}

TEST_F(UsageHistoryTest, TheShareOfTheProcessorIsThatSinceTheSampleBefore) {
  Add(0s, 100ms);
  EXPECT_DOUBLE_EQ(Add(1s, 350ms).cpu_percent, 25);
  EXPECT_DOUBLE_EQ(Add(3s, 3'350ms).cpu_percent, 150);  // of one core; the machine has more
}

TEST_F(UsageHistoryTest, ACounterThatWentBackwardsIsAnotherOnes) {
  Add(0s, 10s);
  EXPECT_EQ(Add(1s, 200ms).cpu_percent, 0);
  EXPECT_DOUBLE_EQ(Add(2s, 700ms).cpu_percent, 50);
}

TEST_F(UsageHistoryTest, TwoSamplesOfOneMomentTellNothing) {
  Add(0s, 1s);
  EXPECT_EQ(Add(0s, 2s).cpu_percent, 0);
}

TEST_F(UsageHistoryTest, TheOldestGoesWhenThereAreTooMany) {
  for (int second = 0; second < 5; ++second) Add(std::chrono::seconds(second), 0s);
  ASSERT_EQ(history_.samples().size(), 3U);
  EXPECT_EQ(history_.samples().front().at, core::TimePoint(2s));
  EXPECT_EQ(history_.samples().back().at, core::TimePoint(4s));
}

TEST_F(UsageHistoryTest, ASampleKeepsTheFiguresThatItWasMadeFrom) {
  const core::SandboxUsage usage{.memory_bytes = 7, .pids = 3, .sent_bytes = 9};
  EXPECT_EQ(history_.Add(core::TimePoint(1s), At(1s), usage).usage, usage);
}

// ---- Alerts

enum class Change { kCpuRaised, kCpuCleared, kMemoryRaised, kMemoryCleared };

Change ChangeOf(const AlertChange& change) {
  if (change.kind == AlertKind::kCpu) return change.raised ? Change::kCpuRaised : Change::kCpuCleared;
  return change.raised ? Change::kMemoryRaised : Change::kMemoryCleared;
}

class AlertsTest : public testing::Test {
 protected:
  // Feeds one sample per second. Gives the changes that were reported.
  std::vector<Change> Feed(Alerts& alerts, std::initializer_list<double> cpu, std::uint64_t cpu_limit = 0) {
    for (const double percent : cpu) Tell(alerts, {.cpu_percent = percent, .usage = {.cpu_limit_percent = cpu_limit}});
    return std::exchange(told_, {});
  }
  std::vector<Change> FeedMemory(Alerts& alerts, std::initializer_list<std::uint64_t> megabytes) {
    for (const std::uint64_t each : megabytes)
      Tell(alerts, {.usage = {.memory_bytes = each * kMegabyte, .memory_limit_bytes = 100 * kMegabyte}});
    return std::exchange(told_, {});
  }

 private:
  void Tell(Alerts& alerts, const Sample& sample) {
    for (const AlertChange& change : alerts.Feed(At(second_), sample)) told_.push_back(ChangeOf(change));
    second_ += 1s;
  }
  std::chrono::milliseconds second_{0};
  std::vector<Change> told_;
};

constexpr AlertRules kRules{.cpu_percent = 80, .memory_percent = 90, .hold = 3s};

TEST_F(AlertsTest, OneIsRaisedOnceWhenTheFigureStaysOverItsThreshold) {
  Alerts alerts(kRules);
  EXPECT_THAT(Feed(alerts, {95, 95, 95}), IsEmpty());  // two seconds have passed
  EXPECT_THAT(Feed(alerts, {95}), ElementsAre(Change::kCpuRaised));
  EXPECT_THAT(Feed(alerts, {95, 95, 95, 95, 95, 95}), IsEmpty());
  EXPECT_THAT(alerts.raised(), ElementsAre(AlertKind::kCpu));
}

TEST_F(AlertsTest, OneIsClearedOnceWhenTheFigureStaysBelow) {
  Alerts alerts(kRules);
  Feed(alerts, {95, 95, 95, 95});
  EXPECT_THAT(Feed(alerts, {10, 10, 10}), IsEmpty());
  EXPECT_THAT(Feed(alerts, {10}), ElementsAre(Change::kCpuCleared));
  EXPECT_THAT(Feed(alerts, {10, 10, 10, 10, 10}), IsEmpty());
  EXPECT_THAT(alerts.raised(), IsEmpty());
}

TEST_F(AlertsTest, WhatGoesUpAndDownRaisesNothing) {
  Alerts alerts(kRules);
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Feed(alerts, {95, 95, 95, 10}), IsEmpty());
}

TEST_F(AlertsTest, WhatGoesDownAndUpClearsNothing) {
  Alerts alerts(kRules);
  Feed(alerts, {95, 95, 95, 95});
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Feed(alerts, {10, 10, 10, 95}), IsEmpty());
  EXPECT_THAT(alerts.raised(), ElementsAre(AlertKind::kCpu));
}

TEST_F(AlertsTest, WhatWasClearedCanBeRaisedAgain) {
  Alerts alerts(kRules);
  EXPECT_THAT(Feed(alerts, {95, 95, 95, 95, 10, 10, 10, 10, 95, 95, 95, 95}),
              ElementsAre(Change::kCpuRaised, Change::kCpuCleared, Change::kCpuRaised));
}

TEST_F(AlertsTest, TheThresholdItselfIsTooMuch) {
  Alerts alerts(kRules);
  EXPECT_THAT(Feed(alerts, {79.9, 79.9, 79.9, 79.9}), IsEmpty());
  EXPECT_THAT(Feed(alerts, {80, 80, 80, 80}), ElementsAre(Change::kCpuRaised));
}

TEST_F(AlertsTest, TheProcessorIsMeasuredByTheQuotaWhereThereIsOne) {
  Alerts half(kRules);
  EXPECT_THAT(Feed(half, {45, 45, 45, 45}, 50), ElementsAre(Change::kCpuRaised));
  Alerts two_cores(kRules);
  EXPECT_THAT(Feed(two_cores, {95, 95, 95, 95}, 200), IsEmpty());
}

TEST_F(AlertsTest, MemoryIsMeasuredByItsLimit) {
  Alerts alerts(kRules);
  EXPECT_THAT(FeedMemory(alerts, {89, 89, 89, 89}), IsEmpty());
  EXPECT_THAT(FeedMemory(alerts, {95, 95, 95, 95}), ElementsAre(Change::kMemoryRaised));
  EXPECT_THAT(alerts.raised(), ElementsAre(AlertKind::kMemory));
}

TEST_F(AlertsTest, MemoryWithoutALimitRaisesNothing) {
  Alerts alerts({.hold = 0s});
  EXPECT_THAT(alerts.Feed(At(0s), {.usage = {.memory_bytes = 1'000'000 * kMegabyte}}), IsEmpty());
}

TEST_F(AlertsTest, AThresholdOfZeroIsNone) {
  Alerts alerts({.cpu_percent = 0, .memory_percent = 0, .hold = 0s});
  EXPECT_THAT(Feed(alerts, {0, 100, 800}), IsEmpty());
  EXPECT_THAT(FeedMemory(alerts, {0, 100}), IsEmpty());
}

TEST_F(AlertsTest, WithoutAHoldTimeOneSampleIsEnough) {
  Alerts alerts({.hold = 0s});
  EXPECT_THAT(Feed(alerts, {95, 10, 95}), ElementsAre(Change::kCpuRaised, Change::kCpuCleared, Change::kCpuRaised));
}

TEST_F(AlertsTest, AChangeTellsTheFigureAndTheThreshold) {
  Alerts alerts({.cpu_percent = 80, .hold = 0s});
  const auto changes = alerts.Feed(At(0s), {.cpu_percent = 30, .usage = {.cpu_limit_percent = 25}});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_DOUBLE_EQ(changes[0].percent, 120);
  EXPECT_DOUBLE_EQ(changes[0].threshold, 80);
}

TEST_F(AlertsTest, TheEndOfASandboxClearsWhatWasRaisedOnce) {
  Alerts alerts({.hold = 0s});
  Feed(alerts, {95});
  const auto changes = alerts.End();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(ChangeOf(changes[0]), Change::kCpuCleared);
  EXPECT_DOUBLE_EQ(changes[0].threshold, 80);
  EXPECT_THAT(alerts.End(), IsEmpty());
  EXPECT_THAT(alerts.raised(), IsEmpty());
}

TEST_F(AlertsTest, TheEndOfASandboxThatWasNeverLoudIsSilent) {
  Alerts alerts(kRules);
  Feed(alerts, {95, 95});
  EXPECT_THAT(alerts.End(), IsEmpty());
}

TEST(AlertKindTest, EachHasAName) {
  EXPECT_EQ(NameOf(AlertKind::kCpu), "cpu");
  EXPECT_EQ(NameOf(AlertKind::kMemory), "memory");
}

}  // namespace
}  // namespace skerry::watch
