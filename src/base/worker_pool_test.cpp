#include "base/worker_pool.hpp"

#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

using std::chrono_literals::operator""ms;

TEST(WorkerPoolTest, WorkRunsBesideOtherWork) {
  std::latch both(2);
  std::latch done(2);
  WorkerPool pool;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(pool.Submit([&] {
      both.arrive_and_wait();
      done.count_down();
    }));
  done.wait();
}

TEST(WorkerPoolTest, NeverMoreThreadsThanAllowedAndNothingIsLost) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  {
    WorkerPool pool({.max_threads = 3, .max_waiting = 100});
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(pool.Submit([&] {
        const int now = ++running;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::sleep_for(1ms);
        --running;
        ++done;
      }));
  }
  EXPECT_LE(most, 3);
  EXPECT_EQ(done, 50);
}

TEST(WorkerPoolTest, RefusesWhatWouldWaitBehindTooMuch) {
  std::latch go(1);
  WorkerPool pool({.max_threads = 1, .max_waiting = 2});
  ASSERT_TRUE(pool.Submit([&] { go.wait(); }));
  while (pool.Now().waiting != 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_FALSE(pool.Submit([] {}));
  go.count_down();
}

TEST(WorkerPoolTest, ThreadsThatHaveNothingToDoEnd) {
  WorkerPool pool({.idle_for = 5ms});
  std::latch done(1);
  ASSERT_TRUE(pool.Submit([&] { done.count_down(); }));
  done.wait();
  for (int i = 0; i < 2000 && pool.Now().threads != 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(pool.Now().threads, 0U);
}

}  // namespace
}  // namespace skerry::base
