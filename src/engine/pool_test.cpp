#include "engine/pool.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using std::chrono::milliseconds;

// Where the boxes of a pool are made; outlives the pool. A closed gate holds up the threads that pass it.
struct Yard {
  class Gate {
   public:
    void Close() { closed_ = true; }
    void Open() {
      closed_ = false;
      closed_.notify_all();
    }
    void Pass() {
      ++waiting_;
      closed_.wait(true);
      --waiting_;
    }
    [[nodiscard]] int waiting() const { return waiting_; }

   private:
    std::atomic<bool> closed_ = false;
    std::atomic<int> waiting_ = 0;
  };

  std::atomic<int> attempts = 0;
  std::atomic<int> live = 0;
  std::atomic<int> most_live = 0;
  std::atomic<bool> failing = false;
  std::atomic<milliseconds> clock = milliseconds(0);
  std::atomic<std::thread::id> last_maker;
  std::atomic<std::thread::id> last_destroyer;
  Gate making;
  Gate looking;
  Gate ending;
  std::function<void()> called = [] {};  // by every hook, and by the destructor of a box
};

struct Box {
  Box(Yard& of, int with_number) : yard(of), number(with_number) {
    const int live = ++yard.live;
    if (live > yard.most_live) yard.most_live = live;
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  ~Box() {
    yard.called();
    yard.ending.Pass();
    yard.last_destroyer = std::this_thread::get_id();
    --yard.live;
  }

  Yard& yard;
  int number;
  std::atomic<bool> broken = false;
};

using BoxPool = Pool<Box>;
constexpr milliseconds kNever{3'600'000};

class PoolTest : public testing::Test {
 protected:
  // Options under which nothing happens by itself that a test does not name.
  static PoolOptions Bounds(std::size_t min, std::size_t max) {
    return {.max_instances = max, .min_instances = min, .idle_timeout = milliseconds(1000), .cleanup_interval = kNever};
  }
  static PoolOptions Cleaning(std::size_t min, std::size_t max) {
    auto options = Bounds(min, max);
    options.cleanup_interval = milliseconds(1);
    return options;
  }
  BoxPool& Start(PoolOptions options) {
    const auto usable = [this](const Box& box) {
      yard_.called();
      yard_.looking.Pass();
      return !box.broken;
    };
    const auto now = [this] {
      yard_.called();
      return BoxPool::TimePoint(yard_.clock.load());
    };
    pool_ = std::make_unique<BoxPool>(options,
                                      BoxPool::Hooks{.make = [this] { return Make(); }, .usable = usable, .now = now});
    if (!yard_.failing) pool_->AwaitWarm(base::Deadline::After(std::chrono::seconds(10)));
    return *pool_;
  }
  base::Result<std::unique_ptr<Box>> Make() {
    yard_.called();
    const int number = ++yard_.attempts;
    yard_.last_maker = std::this_thread::get_id();
    yard_.making.Pass();
    if (yard_.failing) return base::Err(base::Code::kExecutionFailed, "no wood");
    return std::make_unique<Box>(yard_, number);
  }
  void Advance(milliseconds by) { yard_.clock = yard_.clock.load() + by; }

  static testing::AssertionResult Eventually(const std::function<bool()>& holds) {
    const auto deadline = base::Deadline::After(std::chrono::seconds(10));
    while (!deadline.Expired()) {
      if (holds()) return testing::AssertionSuccess();
      std::this_thread::sleep_for(milliseconds(1));
    }
    return testing::AssertionFailure() << "not within 10 seconds";
  }
  // Long enough for many rounds of the pool's thread.
  static void LetItRun() { std::this_thread::sleep_for(milliseconds(30)); }
  int NumberOf(const std::string& session) { return pool_->Acquire(session).value()->number; }

  Yard yard_;
  std::unique_ptr<BoxPool> pool_;
};

TEST_F(PoolTest, KeepsTheMinimumWarm) {
  const auto statistics = Start(Bounds(3, 10)).Statistics();
  EXPECT_EQ(statistics.warm, 3U);
  EXPECT_EQ(statistics.total, 3U);
  LetItRun();
  EXPECT_EQ(yard_.attempts, 3);
}

TEST_F(PoolTest, TheStockLeavesTheMaximumAlone) {
  EXPECT_EQ(Start(Bounds(5, 2)).Statistics().warm, 2U);
  EXPECT_EQ(yard_.most_live, 2);
}

TEST_F(PoolTest, TakingAWarmOneStartsTheNext) {
  auto& pool = Start(Bounds(1, 3));
  const auto lease = pool.TryAcquireWarm("a");
  ASSERT_TRUE(lease.has_value());
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().warm == 1; }));
  EXPECT_EQ(pool.Statistics().warm_hits, 1U);
}

TEST_F(PoolTest, TheSameSessionGetsTheSameInstance) {
  Start(Bounds(2, 10));
  const int first = NumberOf("a");
  EXPECT_NE(NumberOf("b"), first);
  EXPECT_EQ(NumberOf("a"), first);
  EXPECT_EQ(pool_->TryAcquireWarm("a").value()->number, first);
}

TEST_F(PoolTest, WithoutStockTheCallerMakesOne) {
  auto& pool = Start(Bounds(0, 10));
  EXPECT_EQ(NumberOf("a"), 1);
  EXPECT_EQ(pool.Statistics().misses, 1U);
  EXPECT_EQ(pool.Statistics().warm_hits, 0U);
}

TEST_F(PoolTest, TryAcquireWarmNeverMakesOne) {
  auto& pool = Start(Bounds(0, 10));
  EXPECT_FALSE(pool.TryAcquireWarm("a").has_value());
  EXPECT_EQ(yard_.attempts, 0);
  EXPECT_EQ(pool.Statistics().total, 0U);
}

TEST_F(PoolTest, ABusySessionIsAConflict) {
  auto& pool = Start(Bounds(2, 10));
  auto lease = pool.Acquire("a");
  EXPECT_EQ(pool.Acquire("a").error().code, base::Code::kConflict);
  EXPECT_FALSE(pool.TryAcquireWarm("a").has_value());
  lease->Release();
  EXPECT_TRUE(pool.Acquire("a").has_value());
}

TEST_F(PoolTest, ASessionThatIsBeingAcquiredIsAConflict) {
  auto& pool = Start(Bounds(0, 10));
  yard_.making.Close();
  std::jthread first([&] { EXPECT_TRUE(pool.Acquire("a").has_value()); });
  EXPECT_TRUE(Eventually([&] { return yard_.making.waiting() == 1; }));
  EXPECT_EQ(pool.Statistics().acquiring, 1U);
  EXPECT_EQ(pool.Acquire("a").error().code, base::Code::kConflict);
  yard_.making.Open();
  first.join();
  EXPECT_EQ(yard_.attempts, 1);
}

TEST_F(PoolTest, ALeaseThatEndsOrMovesGivesBackOnce) {
  auto& pool = Start(Bounds(0, 10));
  auto first = pool.Acquire("a");
  {
    const auto moved = std::move(*first);
    EXPECT_EQ(pool.Statistics().busy, 1U);
  }
  EXPECT_EQ(pool.Statistics().idle, 1U);
  auto second = pool.Acquire("a");
  first->Discard();  // moved from: does nothing to the present holder
  EXPECT_EQ(pool.Statistics().busy, 1U);
  auto other = pool.Acquire("b");
  *other = std::move(*second);  // gives back b's
  EXPECT_EQ(pool.Statistics().busy, 1U);
  EXPECT_TRUE(pool.Acquire("b").has_value());
  EXPECT_FALSE(pool.Acquire("a").has_value());
}

TEST_F(PoolTest, ADiscardedInstanceIsDestroyedAndReplaced) {
  auto& pool = Start(Bounds(0, 10));
  auto lease = pool.Acquire("a");
  const int first = (*lease)->number;
  lease->Discard();
  EXPECT_TRUE(Eventually([&] { return yard_.live == 0; }));
  EXPECT_NE(NumberOf("a"), first);
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().destroyed == 1; }));  // counted when it is gone
}

TEST_F(PoolTest, NobodyWaitsForADestruction) {
  auto& pool = Start(Bounds(0, 10));
  auto lease = pool.Acquire("a");
  (void)pool.Acquire("b");
  yard_.ending.Close();
  lease->Discard();
  pool.Forget("b");
  EXPECT_TRUE(pool.Acquire("a").has_value());
  EXPECT_EQ(pool.Statistics().ending, 2U);
  EXPECT_EQ(yard_.live, 3);
  yard_.ending.Open();
  EXPECT_TRUE(Eventually([&] { return yard_.live == 1; }));
  EXPECT_NE(yard_.last_destroyer.load(), std::this_thread::get_id());
}

TEST_F(PoolTest, AForgottenSessionsInstanceIsGivenToNobody) {
  auto& pool = Start(Bounds(0, 10));
  const int first = NumberOf("a");
  pool.Forget("a");
  EXPECT_NE(NumberOf("b"), first);
  EXPECT_NE(NumberOf("a"), first);
  EXPECT_TRUE(Eventually([&] { return yard_.live == 2; }));
  pool.Forget("nobody");
}

TEST_F(PoolTest, ForgettingABusySessionTakesEffectWhenItsUseEnds) {
  auto& pool = Start(Bounds(0, 10));
  auto lease = pool.Acquire("a");
  const int first = (*lease)->number;
  pool.Forget("a");
  LetItRun();
  EXPECT_EQ(yard_.live, 1);
  EXPECT_EQ(pool.Acquire("a").error().code, base::Code::kConflict);
  lease->Release();
  EXPECT_TRUE(Eventually([&] { return yard_.live == 0; }));
  EXPECT_NE(NumberOf("a"), first);
}

TEST_F(PoolTest, WhatAForgottenSessionNeverHadGoesToTheStockAndTheSurplusEnds) {
  auto& pool = Start(Cleaning(1, 10));
  yard_.making.Close();
  auto taken = pool.TryAcquireWarm("a");  // the pool's thread makes the next
  std::jthread acquiring([&] { EXPECT_EQ(pool.Acquire("b").error().code, base::Code::kConflict); });
  EXPECT_TRUE(Eventually([&] { return yard_.making.waiting() == 2; }));
  pool.Forget("b");
  yard_.making.Open();
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().warm == 2; }));
  Advance(milliseconds(999));
  LetItRun();
  EXPECT_EQ(pool.Statistics().warm, 2U);
  Advance(milliseconds(1));
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().warm == 1; }));
  LetItRun();
  EXPECT_EQ(pool.Statistics().warm, 1U);
}

TEST_F(PoolTest, WhatASessionHadEndsWhenItIsForgottenWhileItIsLookedAt) {
  auto& pool = Start(Bounds(0, 10));
  NumberOf("a");
  yard_.looking.Close();
  std::jthread acquiring([&] { EXPECT_EQ(pool.Acquire("a").error().code, base::Code::kConflict); });
  EXPECT_TRUE(Eventually([&] { return yard_.looking.waiting() == 1; }));
  pool.Forget("a");
  yard_.looking.Open();
  acquiring.join();
  EXPECT_TRUE(Eventually([&] { return yard_.live == 0; }));
}

TEST_F(PoolTest, AWornInstanceIsReplaced) {
  auto options = Bounds(0, 1);
  options.max_use_count = 2;
  Start(options);
  EXPECT_EQ(NumberOf("a"), 1);
  EXPECT_EQ(NumberOf("a"), 1);
  EXPECT_EQ(NumberOf("a"), 2);
  EXPECT_EQ(yard_.most_live, 1);
}

TEST_F(PoolTest, AnUnusableInstanceEndsAtRelease) {
  auto& pool = Start(Bounds(0, 10));
  (*pool.Acquire("a"))->broken = true;
  EXPECT_TRUE(Eventually([&] { return yard_.live == 0; }));
  EXPECT_EQ(NumberOf("a"), 2);
}

TEST_F(PoolTest, AnUnusableInstanceOfTheSessionIsReplacedAtAcquire) {
  auto& pool = Start(Bounds(0, 10));
  auto lease = pool.Acquire("a");
  Box& box = **lease;
  lease->Release();
  box.broken = true;
  EXPECT_EQ(NumberOf("a"), 2);
  EXPECT_TRUE(Eventually([&] { return yard_.live == 1; }));
}

TEST_F(PoolTest, AnUnusableWarmOneIsPassedOver) {
  BoxPool pool(Bounds(2, 10), {.make = [&]() -> base::Result<std::unique_ptr<Box>> {
                                 auto box = std::make_unique<Box>(yard_, ++yard_.attempts);
                                 box->broken = box->number == 1;
                                 return box;
                               },
                               .usable = [](const Box& box) { return !box.broken; }});
  pool.AwaitWarm(base::Deadline::After(std::chrono::seconds(10)));
  EXPECT_EQ(pool.TryAcquireWarm("a").value()->number, 2);
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().destroyed == 1; }));
}

TEST_F(PoolTest, AnIdleInstanceEndsAfterTheTimeout) {
  auto& pool = Start(Cleaning(0, 10));
  Advance(milliseconds(5000));
  (void)pool.Acquire("a");
  const auto busy = pool.Acquire("b");
  Advance(milliseconds(999));
  LetItRun();
  EXPECT_EQ(pool.Statistics().idle, 1U);
  Advance(milliseconds(1));
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().total == 1; }));
  EXPECT_EQ(pool.Statistics().busy, 1U);
}

TEST_F(PoolTest, TheMinimumStaysWarmForever) {
  auto& pool = Start(Cleaning(2, 10));
  Advance(kNever);
  LetItRun();
  EXPECT_EQ(pool.Statistics().warm, 2U);
  EXPECT_EQ(yard_.attempts, 2);
}

TEST_F(PoolTest, AFullPoolSaysWhatToDo) {
  auto& pool = Start(Bounds(0, 2));
  (void)pool.Acquire("a");
  const auto busy = pool.Acquire("b");
  const auto refused = pool.Acquire("c");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, base::Code::kUnavailable);
  EXPECT_NE(refused.error().message.find("max_instances"), std::string::npos);
  EXPECT_EQ(NumberOf("a"), 1);  // idle, but its session's
  EXPECT_EQ(pool.Statistics().total, 2U);
}

TEST_F(PoolTest, AFullPoolTakesBackTheLongestIdlePastTheTimeout) {
  auto& pool = Start(Bounds(0, 3));
  for (const auto* session : {"a", "b", "c"}) {
    (void)pool.Acquire(session);
    Advance(milliseconds(100));
  }
  Advance(milliseconds(850));
  EXPECT_EQ(NumberOf("d"), 4);
  EXPECT_EQ(NumberOf("b"), 2);
  EXPECT_EQ(NumberOf("c"), 3);
  EXPECT_EQ(yard_.most_live, 3);
}

TEST_F(PoolTest, AFullPoolIsWaitedForOnlyWithinTheRoomTimeout) {
  auto options = Bounds(0, 1);
  options.room_timeout = milliseconds(20);
  auto& pool = Start(options);
  auto lease = pool.Acquire("a");
  yard_.ending.Close();
  lease->Discard();
  EXPECT_EQ(pool.Acquire("b").error().code, base::Code::kUnavailable);
  yard_.ending.Open();
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().total == 0; }));
  EXPECT_TRUE(pool.Acquire("b").has_value());
}

TEST_F(PoolTest, AnAcquisitionGetsWhatWasBeingMadeForTheStock) {
  yard_.making.Close();
  BoxPool pool(Bounds(1, 1), {.make = [this] { return Make(); }});
  EXPECT_TRUE(Eventually([&] { return yard_.making.waiting() == 1; }));
  std::jthread acquiring([&] { EXPECT_EQ((*pool.Acquire("a"))->number, 1); });
  LetItRun();
  yard_.making.Open();
  acquiring.join();
  EXPECT_EQ(yard_.attempts, 1);
}

TEST_F(PoolTest, TheStockLeavesTheRoomAloneThatAnAcquisitionWaitsFor) {
  auto& pool = Start(Bounds(1, 1));
  auto lease = pool.Acquire("a");
  yard_.ending.Close();
  lease->Discard();
  std::jthread acquiring([&] {
    EXPECT_TRUE(pool.Acquire("b").has_value());
    EXPECT_EQ(yard_.last_maker.load(), std::this_thread::get_id());
  });
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().misses == 1; }));
  yard_.ending.Open();
}

TEST_F(PoolTest, AFailedCreationIsTheCallersErrorAndLeaksNothing) {
  auto& pool = Start(Bounds(0, 1));
  yard_.failing = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.Acquire("a").error().message, "no wood");
  EXPECT_EQ(pool.Statistics().failures, 3U);
  EXPECT_EQ(pool.Statistics().total, 0U);
  yard_.failing = false;
  EXPECT_TRUE(pool.Acquire("b").has_value());
}

TEST_F(PoolTest, AFailingStockIsTriedAgainLaterAndLater) {
  yard_.failing = true;
  auto& pool = Start(Cleaning(1, 10));
  pool.AwaitWarm(base::Deadline::Never());
  int attempts = 1;
  for (const int delay : {100, 200, 400, 800, 1600, 3200, 6400, 10'000, 10'000}) {
    Advance(milliseconds(delay - 1));
    LetItRun();
    ASSERT_EQ(yard_.attempts, attempts) << delay;
    Advance(milliseconds(1));
    ++attempts;
    ASSERT_TRUE(Eventually([&] { return yard_.attempts == attempts; })) << delay;
    ASSERT_TRUE(Eventually([&] { return pool.Statistics().acquiring == 0; }));
  }
  yard_.failing = false;
  Advance(milliseconds(10'000));
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().warm == 1; }));
  yard_.failing = true;
  (void)pool.Acquire("a");
  ++attempts;
  ++attempts;
  EXPECT_TRUE(Eventually([&] { return yard_.attempts == attempts; }));  // at once: the last one was good
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().acquiring == 0; }));
  Advance(milliseconds(100));
  EXPECT_TRUE(Eventually([&] { return yard_.attempts == attempts + 1; }));
}

TEST_F(PoolTest, NothingIsCalledUnderTheLock) {
  std::atomic<BoxPool*> asked = nullptr;
  yard_.called = [&] {
    if (BoxPool* const pool = asked) (void)pool->Statistics();  // would never return
  };
  auto& pool = Start(Cleaning(2, 4));
  asked = &pool;
  NumberOf("a");
  pool.Acquire("b").value()->broken = true;
  pool.Acquire("a").value().Discard();
  NumberOf("c");
  pool.Forget("c");
  NumberOf("d");
  Advance(kNever);
  EXPECT_TRUE(Eventually([&] { return pool.Statistics().destroyed == 4; }));
  asked = nullptr;
  pool_.reset();
}

TEST_F(PoolTest, ThePoolEndsWithEverythingInIt) {
  auto& pool = Start(Bounds(2, 10));
  (void)pool.Acquire("a");
  pool.Acquire("b")->Discard();
  pool_.reset();
  EXPECT_EQ(yard_.live, 0);
}

TEST_F(PoolTest, TheStatisticsAddUp) {
  auto& pool = Start(Bounds(1, 5));
  const auto busy = pool.Acquire("a");
  (void)pool.Acquire("b");
  (void)pool.Acquire("c");
  pool.AwaitWarm(base::Deadline::After(std::chrono::seconds(10)));
  yard_.ending.Close();
  pool.Forget("b");
  const auto statistics = pool.Statistics();
  EXPECT_EQ(statistics.max, 5U);
  EXPECT_EQ(statistics.busy, 1U);
  EXPECT_EQ(statistics.idle, 2U);
  EXPECT_EQ(statistics.warm, 1U);
  EXPECT_EQ(statistics.ending, 1U);
  EXPECT_EQ(statistics.acquiring, 0U);
  EXPECT_EQ(statistics.total, 4U);
  EXPECT_EQ(statistics.created, 4U);
  yard_.ending.Open();
}

}  // namespace
}  // namespace skerry::engine
