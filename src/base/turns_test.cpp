#include "base/turns.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(TurnsTest, ATenantHasOneAtATimeAndKeepsNobodyElseWaiting) {
  Turns turns(2);
  std::optional<Turns::Turn> first(*turns.Take("one"));
  std::atomic<int> begun = 0;
  std::vector<std::jthread> waiting;
  waiting.reserve(8);
  for (int i = 0; i < 8; ++i)
    waiting.emplace_back([&] {
      const auto turn = turns.Take("one");
      ++begun;
    });
  {
    const auto other = turns.Take("other");
    EXPECT_EQ(begun, 0);
  }
  first.reset();
  waiting.clear();
  EXPECT_EQ(begun, 8);
}

TEST(TurnsTest, ThereAreNoMoreAtOnceThanThat) {
  Turns turns(2);
  std::optional<Turns::Turn> first(*turns.Take("a"));
  const auto second = turns.Take("b");
  std::atomic<bool> begun = false;
  std::jthread third([&] {
    const auto turn = turns.Take("c");
    begun = true;
  });
  EXPECT_FALSE(begun);
  first.reset();
  third.join();
  EXPECT_TRUE(begun);
}

TEST(TurnsTest, WhoHasLeftWaitsNoMore) {
  Turns turns(1);
  const auto first = turns.Take("a");
  std::stop_source gone;
  std::jthread leaving([&] { gone.request_stop(); });
  EXPECT_EQ(turns.Take("a", gone.get_token()).error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace skerry::base
