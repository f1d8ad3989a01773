#include "confirm/approval_events.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::confirm {
namespace {

using std::chrono_literals::operator""ms;

Event EventOf(std::string id) {
  return {.kind = EventKind::kAsked, .approval = std::make_shared<const Approval>(std::move(id))};
}

// The ids that a listener got. Complete when the broadcaster is destroyed.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> ids;

  Listener AsListener() {
    return [this](const Event& event) {
      const std::scoped_lock lock(mutex);
      ids.push_back(event.approval->id);
    };
  }
};

TEST(BroadcasterTest, EveryListenerHearsEverythingInOrder) {
  Heard first;
  Heard second;
  std::vector<std::string> expected;
  {
    Subscription keep_first;
    Subscription keep_second;
    Broadcaster broadcaster;
    keep_first = broadcaster.Subscribe(first.AsListener());
    keep_second = broadcaster.Subscribe(second.AsListener());
    for (int i = 0; i < 1'000; ++i) {
      expected.push_back(std::to_string(i));
      broadcaster.Publish(EventOf(expected.back()));
    }
  }
  EXPECT_EQ(first.ids, expected);
  EXPECT_EQ(second.ids, expected);
}

TEST(BroadcasterTest, AListenerHearsNothingFromBeforeItsSubscription) {
  Heard early;
  Heard late;
  std::promise<void> may_go_on;
  {
    Subscription keep_slow;
    Subscription keep_early;
    Subscription keep_late;
    Broadcaster broadcaster;
    keep_slow = broadcaster.Subscribe([done = may_go_on.get_future().share()](const Event&) { done.wait(); });
    keep_early = broadcaster.Subscribe(early.AsListener());
    broadcaster.Publish(EventOf("before"));  // the slow listener is still busy
    keep_late = broadcaster.Subscribe(late.AsListener());
    broadcaster.Publish(EventOf("after"));
    may_go_on.set_value();
  }
  EXPECT_EQ(early.ids, (std::vector<std::string>{"before", "after"}));
  EXPECT_EQ(late.ids, (std::vector<std::string>{"after"}));
}

TEST(BroadcasterTest, AListenerThatUnsubscribedHearsNothingMore) {
  Heard heard;
  {
    Broadcaster broadcaster;
    std::promise<void> told;
    Subscription witness = broadcaster.Subscribe([&](const Event&) { told.set_value(); });
    {
      const Subscription subscription = broadcaster.Subscribe(heard.AsListener());
      broadcaster.Publish(EventOf("heard"));
      told.get_future().wait();
      while (true) {
        const std::scoped_lock lock(heard.mutex);
        if (!heard.ids.empty()) break;
      }
    }
    witness.Cancel();
    broadcaster.Publish(EventOf("not heard"));
  }
  EXPECT_EQ(heard.ids, (std::vector<std::string>{"heard"}));
}

TEST(BroadcasterTest, UnsubscribingWaitsForTheListenerThatRuns) {
  Broadcaster broadcaster;
  std::promise<void> running;
  std::atomic<bool> ended = false;
  Subscription subscription = broadcaster.Subscribe([&](const Event&) {
    running.set_value();
    std::this_thread::sleep_for(50ms);
    ended = true;
  });
  broadcaster.Publish(EventOf("x"));
  running.get_future().wait();
  subscription.Cancel();
  EXPECT_TRUE(ended);
}

TEST(BroadcasterTest, WhoWaitsUntilAllIsToldFindsItTold) {
  Broadcaster broadcaster;
  EXPECT_TRUE(broadcaster.AwaitTold(base::Deadline::Never())) << "nothing was published";
  std::atomic<int> heard = 0;
  const Subscription subscription = broadcaster.Subscribe([&](const Event&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++heard;
  });
  for (int i = 0; i < 3; ++i) broadcaster.Publish({});
  EXPECT_TRUE(broadcaster.AwaitTold(base::Deadline::Never()));
  EXPECT_EQ(heard, 3);
}

TEST(BroadcasterTest, AListenerThatHangsIsNotWaitedForWithoutEnd) {
  std::promise<void> may_go_on;
  Broadcaster broadcaster;
  const Subscription subscription =
      broadcaster.Subscribe([done = may_go_on.get_future().share()](const Event&) { done.wait(); });
  broadcaster.Publish({});
  EXPECT_FALSE(broadcaster.AwaitTold(base::Deadline::After(std::chrono::milliseconds(20))));
  may_go_on.set_value();
  EXPECT_TRUE(broadcaster.AwaitTold(base::Deadline::Never()));
}

TEST(BroadcasterTest, AListenerMayUnsubscribeItself) {
  std::atomic<int> calls = 0;
  Subscription subscription;
  {
    Broadcaster broadcaster;
    subscription = broadcaster.Subscribe([&](const Event&) {
      ++calls;
      subscription.Cancel();
    });
    broadcaster.Publish(EventOf("1"));
    broadcaster.Publish(EventOf("2"));
  }
  EXPECT_EQ(calls, 1);
}

TEST(BroadcasterTest, ASubscriptionMayOutliveTheBroadcaster) {
  std::optional<Broadcaster> broadcaster(std::in_place);
  Subscription subscription = broadcaster->Subscribe([](const Event&) {});
  broadcaster.reset();
  subscription.Cancel();
}

}  // namespace
}  // namespace skerry::confirm
