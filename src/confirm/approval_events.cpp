#include "confirm/approval_events.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace skerry::confirm {

struct BroadcasterState {
  struct Subscriber {
    Listener listener;
    std::uint64_t since = 0;  // number of the last event before the subscription
  };
  struct Numbered {
    std::uint64_t number = 0;
    Event event;
  };

  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable told;
  std::deque<Numbered> events;
  std::map<std::uint64_t, std::shared_ptr<Subscriber>> subscribers;
  std::uint64_t last_subscriber = 0;
  std::uint64_t last_event = 0;
  std::uint64_t told_up_to = 0;  // number of the last event that every listener got
  std::uint64_t telling = 0;     // the subscriber whose listener runs, 0 for none
  std::thread::id teller;
  bool closing = false;

  void Run();
  void Remove(std::uint64_t number);

 private:
  void Tell(std::unique_lock<std::mutex>& lock, const Numbered& numbered);
};

void BroadcasterState::Run() {
  std::unique_lock lock(mutex);
  teller = std::this_thread::get_id();
  while (true) {
    work.wait(lock, [this] { return closing || !events.empty(); });
    if (events.empty()) return;
    const Numbered numbered = std::move(events.front());
    events.pop_front();
    Tell(lock, numbered);
    told_up_to = numbered.number;
    told.notify_all();
  }
}

void BroadcasterState::Tell(std::unique_lock<std::mutex>& lock, const Numbered& numbered) {
  std::uint64_t last = 0;
  // The map may change during a call: the loop goes on behind the number that was called last.
  for (auto next = subscribers.begin(); next != subscribers.end(); next = subscribers.upper_bound(last)) {
    last = telling = next->first;
    std::shared_ptr<Subscriber> subscriber = next->second;
    lock.unlock();
    if (subscriber->since < numbered.number) subscriber->listener(numbered.event);
    // The listener may hold a subscription, so it is destroyed without the lock.
    subscriber.reset();
    lock.lock();
    telling = 0;
    told.notify_all();
  }
}

void BroadcasterState::Remove(std::uint64_t number) {
  std::shared_ptr<Subscriber> removed;  // destroyed after the lock
  std::unique_lock lock(mutex);
  const auto found = subscribers.find(number);
  if (found == subscribers.end()) return;
  removed = std::move(found->second);
  subscribers.erase(found);
  if (std::this_thread::get_id() != teller) told.wait(lock, [&] { return telling != number; });
}

Subscription::Subscription(Subscription&& other) noexcept
    : state_(std::move(other.state_)), number_(std::exchange(other.number_, 0)) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  Cancel();
  state_ = std::move(other.state_);
  number_ = std::exchange(other.number_, 0);
  return *this;
}

void Subscription::Cancel() {
  const std::uint64_t number = std::exchange(number_, 0);
  if (number == 0) return;
  if (const auto state = state_.lock()) state->Remove(number);
}

Broadcaster::Broadcaster()
    : state_(std::make_shared<BroadcasterState>()), teller_([state = state_] { state->Run(); }) {}

Broadcaster::~Broadcaster() {
  const std::scoped_lock lock(state_->mutex);
  state_->closing = true;
  state_->work.notify_all();
}

void Broadcaster::Publish(Event event) {
  const std::scoped_lock lock(state_->mutex);
  state_->events.push_back({++state_->last_event, std::move(event)});
  state_->work.notify_all();
}

bool Broadcaster::AwaitTold(base::Deadline deadline) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t last = state_->last_event;
  const auto is_told = [&] { return state_->told_up_to >= last; };
  constexpr base::Deadline::Clock::duration kPiece = std::chrono::hours(1);  // a clock cannot wait for "never"
  while (!is_told() && !deadline.Expired())
    state_->told.wait_for(lock, std::min(kPiece, deadline.Remaining()), is_told);
  return is_told();
}

Subscription Broadcaster::Subscribe(Listener listener) {
  auto subscriber = std::make_shared<BroadcasterState::Subscriber>();
  subscriber->listener = std::move(listener);
  const std::scoped_lock lock(state_->mutex);
  subscriber->since = state_->last_event;
  const std::uint64_t number = ++state_->last_subscriber;
  state_->subscribers.emplace(number, std::move(subscriber));
  return {state_, number};
}

}  // namespace skerry::confirm
