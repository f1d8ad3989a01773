#include "watch/background.hpp"

#include <atomic>
#include <memory>
#include <semaphore>

#include <gtest/gtest.h>

namespace skerry::watch {
namespace {

TEST(BackgroundTest, WaitsForWorkThatStopsWhenItIsAsked) {
  std::atomic<bool> ended = false;
  {
    const Background background([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      ended = true;
    });
  }
  EXPECT_TRUE(ended);
}

TEST(BackgroundTest, WhatWorkOwnsIsGoneAfterTheEnd) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = owned;
  Background background([owned = std::move(owned)](const std::stop_token&) {});
  background.End();
  EXPECT_TRUE(seen.expired());
}

TEST(BackgroundTest, LeavesBehindWhatHangs) {
  struct Doors {
    std::binary_semaphore let_go{0};
    std::binary_semaphore gone{0};
  };
  const auto doors = std::make_shared<Doors>();
  {
    const Background background([doors](const std::stop_token&) {
      doors->let_go.acquire();
      doors->gone.release();
    });
  }
  EXPECT_FALSE(doors->gone.try_acquire());
  doors->let_go.release();
  doors->gone.acquire();
}

}  // namespace
}  // namespace skerry::watch
