#include "transport/kit/ticker.hpp"

#include <atomic>

#include <gtest/gtest.h>

namespace skerry::transport::kit {
namespace {

TEST(TickerTest, CallsThoseThatAreRegistered) {
  Ticker ticker(std::chrono::hours(1));
  std::atomic<int> one = 0;
  std::atomic<int> two = 0;
  auto first = ticker.Register([&] { ++one; });
  {
    const auto second = ticker.Register([&] { ++two; });
    ticker.TickNow();
  }
  ticker.TickNow();
  EXPECT_EQ(one, 2);
  EXPECT_EQ(two, 1);
  first = {};
  ticker.TickNow();
  EXPECT_EQ(one, 2);
}

TEST(TickerTest, TicksByItself) {
  Ticker ticker(std::chrono::milliseconds(1));
  std::atomic<int> ticks = 0;
  const auto registration = ticker.Register([&] { ++ticks; });
  for (int turn = 0; turn < 500 && ticks < 3; ++turn) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(ticks, 3);
}

}  // namespace
}  // namespace skerry::transport::kit
