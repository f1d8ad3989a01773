#include "base/deadline.hpp"

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;

TEST(DeadlineTest, NeverDoesNotExpireAndPollsWithoutLimit) {
  EXPECT_FALSE(Deadline::Never().Expired());
  EXPECT_EQ(Deadline::Never().PollTimeoutMs(), -1);
}

TEST(DeadlineTest, PastDeadlineIsExpiredAndPollsWithoutWaiting) {
  const Deadline past = Deadline::After(-5ms);
  EXPECT_TRUE(past.Expired());
  EXPECT_EQ(past.PollTimeoutMs(), 0);
}

TEST(DeadlineTest, ADurationTooLongForTheClockIsNever) {
  EXPECT_TRUE(Deadline::After(Deadline::Clock::duration::max()).IsNever());
}

TEST(DeadlineTest, PollTimeoutRoundsUp) {
  const Deadline soon = Deadline::After(std::chrono::microseconds(900));
  EXPECT_LE(soon.PollTimeoutMs(), 1);
  EXPECT_GT(Deadline::After(1h).PollTimeoutMs(), 3'599'000);
}

TEST(DeadlineTest, EarlierOfPicksTheSooner) {
  const Deadline soon = Deadline::After(1ms);
  EXPECT_FALSE(Deadline::Never().EarlierOf(soon).IsNever());
  EXPECT_FALSE(soon.EarlierOf(Deadline::Never()).IsNever());
}

}  // namespace
}  // namespace skerry::base
