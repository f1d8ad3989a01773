// What happens in an ApprovalQueue, and the listeners that are told.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/deadline.hpp"
#include "confirm/confirmation.hpp"

namespace skerry::confirm {

// A question in the queue. Never changes.
struct Approval {
  std::string id;  // "apr_…", cannot be guessed
  Question question;
  // For showing to people. What counts is a monotonic deadline.
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point expires;
};

enum class EventKind {
  kAsked,
  kAnswered,   // by a person, or rejected because the queue ends
  kExpired,    // nobody answered in time
  kCancelled,  // the caller of Ask requested a stop
};

struct Event {
  EventKind kind = EventKind::kAsked;
  std::shared_ptr<const Approval> approval;
  Answer answer;  // empty for kAsked
};

// Called by the queue's own thread, which holds no lock meanwhile. A listener must not block: it holds up the other
// listeners, though no Ask and no Decide.
using Listener = std::function<void(const Event&)>;

struct BroadcasterState;

// While the Subscription lives, its listener is called. After its destructor the listener is not running and is never
// called again, except when the destructor runs inside of the listener itself. It must not be destroyed under a lock
// that the listener takes. It may outlive the queue.
class Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { Cancel(); }

  void Cancel();

 private:
  friend class Broadcaster;
  Subscription(std::weak_ptr<BroadcasterState> state, std::uint64_t number)
      : state_(std::move(state)), number_(number) {}

  std::weak_ptr<BroadcasterState> state_;
  std::uint64_t number_ = 0;
};

// Tells every listener every event that was published after it subscribed, in the order of publishing, on a thread of
// its own. Thread-safe.
class Broadcaster {
 public:
  Broadcaster();
  Broadcaster(const Broadcaster&) = delete;
  Broadcaster& operator=(const Broadcaster&) = delete;
  // Tells the listeners what is left first. No listener may destroy the Broadcaster.
  ~Broadcaster();

  // Returns at once.
  void Publish(Event event);
  // Waits until every listener has heard what was published before; false when the deadline came first. No listener may
  // call it.
  bool AwaitTold(base::Deadline deadline);
  [[nodiscard]] Subscription Subscribe(Listener listener);

 private:
  std::shared_ptr<BroadcasterState> state_;
  std::jthread teller_;
};

}  // namespace skerry::confirm
