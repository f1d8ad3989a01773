#include "engine/run_shares.hpp"

#include <atomic>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using std::chrono_literals::operator""ms;
constexpr std::chrono::milliseconds kLong = std::chrono::hours(1);

bool Until(const auto& condition) {
  for (int tries = 0; tries < 1000 && !condition(); ++tries) std::this_thread::sleep_for(10ms);
  return condition();
}

// Takes turns in a thread of its own, and keeps them.
class Taker {
 public:
  Taker(RunShares& shares, std::string tenant, int count)
      : thread_([this, &shares, tenant = std::move(tenant), count](const std::stop_token& stop) {
          for (int at = 0; at < count && !stop.stop_requested(); ++at) {
            turns_.push_back(shares.Take(tenant, stop));
            if (!stop.stop_requested()) ++taken_;
          }
        }) {}

  [[nodiscard]] int taken() const { return taken_; }
  void Cancel() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  std::atomic<int> taken_ = 0;
  std::vector<RunShares::Turn> turns_;
  std::jthread thread_;
};

TEST(RunSharesTest, WhoIsAloneBeginsAsManyAsItLikes) {
  RunShares shares({.at_once = 2, .beginning = kLong, .remembered = kLong});
  std::vector<RunShares::Turn> turns;
  for (int at = 0; at < 50; ++at) turns.push_back(shares.Take("a", {}));
}

TEST(RunSharesTest, WhoHasBegunNothingDoesNotWait) {
  RunShares shares({.at_once = 2, .beginning = kLong, .remembered = kLong});
  std::vector<RunShares::Turn> turns;
  for (int at = 0; at < 50; ++at) turns.push_back(shares.Take("a", {}));
  turns.push_back(shares.Take("b", {}));
  turns.push_back(shares.Take("c", {}));
}

TEST(RunSharesTest, BesideOthersATenantHasItsShare) {
  RunShares shares({.at_once = 4, .beginning = kLong, .remembered = kLong});
  (void)shares.Take("b", {});
  Taker taker(shares, "a", 3);
  EXPECT_TRUE(Until([&] { return taker.taken() == 2; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(taker.taken(), 2);
  taker.Cancel();
  EXPECT_EQ(taker.taken(), 2);
}

TEST(RunSharesTest, TheNextBeginsWhenOneIsOver) {
  RunShares shares({.at_once = 2, .beginning = kLong, .remembered = kLong});
  (void)shares.Take("b", {});
  std::optional<RunShares::Turn> first(shares.Take("a", {}));
  Taker taker(shares, "a", 1);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(taker.taken(), 0);
  first.reset();
  EXPECT_TRUE(Until([&] { return taker.taken() == 1; }));
}

TEST(RunSharesTest, TheNextBeginsWhenOneHasTakenItsTime) {
  RunShares shares({.at_once = 2, .beginning = 100ms, .remembered = kLong});
  (void)shares.Take("b", {});
  const RunShares::Turn first = shares.Take("a", {});
  const auto start = std::chrono::steady_clock::now();
  const RunShares::Turn second = shares.Take("a", {});
  EXPECT_GT(std::chrono::steady_clock::now() - start, 50ms);
}

TEST(RunSharesTest, OthersAreForgotten) {
  RunShares shares({.at_once = 2, .beginning = kLong, .remembered = 100ms});
  (void)shares.Take("b", {});
  std::vector<RunShares::Turn> turns;
  turns.push_back(shares.Take("a", {}));
  std::this_thread::sleep_for(150ms);
  for (int at = 0; at < 10; ++at) turns.push_back(shares.Take("a", {}));
}

TEST(RunSharesTest, ATurnThatIsOverIsTakenAgain) {
  RunShares shares({.at_once = 2, .beginning = 100ms, .remembered = kLong});
  (void)shares.Take("b", {});
  RunShares::Turn first = shares.Take("a", {});
  first.Renew({});  // is still its turn
  std::this_thread::sleep_for(150ms);
  const RunShares::Turn second = shares.Take("a", {});
  const auto start = std::chrono::steady_clock::now();
  first.Renew({});
  EXPECT_GT(std::chrono::steady_clock::now() - start, 50ms);
}

TEST(RunSharesTest, ManyTakeTurnsAtOnce) {
  RunShares shares({.at_once = 2, .beginning = 1ms, .remembered = 2ms});
  std::atomic<int> taken = 0;
  {
    std::vector<std::jthread> threads;
    for (int at = 0; at < 8; ++at)
      threads.emplace_back([&shares, &taken, name = std::string(1, static_cast<char>('a' + at % 3))] {
        for (int turn = 0; turn < 50; ++turn) {
          const RunShares::Turn mine = shares.Take(name, {});
          ++taken;
        }
      });
  }
  EXPECT_EQ(taken, 400);
}

}  // namespace
}  // namespace skerry::engine
