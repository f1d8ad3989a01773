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
  turns.reserve(52);
  for (int at = 0; at < 50; ++at) turns.push_back(shares.Take("a", {}));
}

TEST(RunSharesTest, WhoHasBegunNothingDoesNotWait) {
  RunShares shares({.at_once = 2, .beginning = kLong, .remembered = kLong});
  std::vector<RunShares::Turn> turns;
  turns.reserve(52);
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

constexpr base::Flow kOutput{.per_second = 1000, .beside_others = 10, .at_once = 10, .longest_wait = 250ms};

TEST(RunSharesTest, WhoWritesBesideOthersIsSlowedDown) {
  RunShares shares({.output = kOutput});
  (void)shares.Take("a", {});
  EXPECT_LE(shares.Write("a", 12), 2ms);
  std::this_thread::sleep_for(5ms);
  (void)shares.Take("b", {});
  EXPECT_EQ(shares.Write("a", 1000), 250ms);
}

class CountingSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    taken += bytes.size();
    return {.accepted = bytes.size(), .wants_more = taken < 10'000};
  }
  void Drop(std::size_t bytes, base::Deadline) override { dropped += bytes; }
  std::size_t taken = 0;
  std::size_t dropped = 0;
};

TEST(SharingSinkTest, WhatIsDroppedCountsToo) {
  RunShares shares({.output = kOutput});
  (void)shares.Take("b", {});
  (void)shares.Take("a", {});
  CountingSink counting;
  SharingSink sink(counting, shares, "a", {});
  const auto start = std::chrono::steady_clock::now();
  sink.Drop(1000, base::Deadline::Never());
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
  EXPECT_EQ(counting.dropped, 1000U);
}

TEST(SharingSinkTest, WaitsAndPassesTheAnswerOn) {
  RunShares shares({.output = kOutput});
  (void)shares.Take("b", {});
  (void)shares.Take("a", {});
  CountingSink counting;
  const std::stop_source stop;
  SharingSink sink(counting, shares, "a", stop.get_token());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(sink.Write(core::Stream::kStdout, std::string(1000, 'x'), base::Deadline::Never()).wants_more);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
  EXPECT_FALSE(sink.Write(core::Stream::kStdout, std::string(9000, 'x'), base::Deadline::After(1ms)).wants_more);
  EXPECT_EQ(counting.taken, 10'000U);
}

TEST(SharingSinkTest, WhoIsEndedDoesNotWait) {
  RunShares shares(
      {.output = {.per_second = 1, .beside_others = 1, .at_once = 1, .longest_wait = std::chrono::hours(1)}});
  CountingSink counting;
  std::stop_source stop;
  stop.request_stop();
  SharingSink sink(counting, shares, "a", stop.get_token());
  (void)sink.Write(core::Stream::kStdout, std::string(9000, 'x'), base::Deadline::Never());
}

TEST(RunSharesTest, ManyTakeTurnsAtOnce) {
  RunShares shares({.at_once = 2, .beginning = 1ms, .remembered = 2ms});
  std::atomic<int> taken = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
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
