// What coroutines of the socket thread wait with. Used by that thread only, except for Waker::Wake.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skerry::transport::http {

namespace asio = boost::asio;
using Loop = std::shared_ptr<asio::io_context>;
using TimePoint = std::chrono::steady_clock::time_point;

// The moment at which a connection is given up; the server checks it every tick. Setting it costs nothing, unlike a
// timer for every read and write.
class TimeLimit {
 public:
  void Within(std::chrono::milliseconds time) { at_ = std::chrono::steady_clock::now() + time; }
  void Off() { at_ = TimePoint::max(); }
  [[nodiscard]] bool Passed(TimePoint now) const { return now >= at_; }

 private:
  TimePoint at_ = TimePoint::max();
};

// One coroutine waits, others notify it. A notification before the wait is not lost.
class Event {
 public:
  explicit Event(asio::io_context& loop) : timer_(loop) {}
  void Notify() {
    told_ = true;
    timer_.cancel();
  }
  asio::awaitable<void> Wait() {
    while (!told_) {
      timer_.expires_at(TimePoint::max());
      co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    told_ = false;
  }
  // Returns also when no notification came within that time.
  asio::awaitable<void> WaitFor(std::chrono::milliseconds time) {
    if (!told_) {
      timer_.expires_after(time);
      co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    told_ = false;
  }

 private:
  asio::steady_timer timer_;
  bool told_ = false;
};

// The `wake` of a stream. The function that it gives out holds only a weak pointer, so the function may outlive
// everything.
class Waker : public std::enable_shared_from_this<Waker> {
 public:
  Waker(Loop loop, std::function<void()> on_wake) : loop_(std::move(loop)), on_wake_(std::move(on_wake)) {}
  std::function<void()> Function() {
    return [weak = weak_from_this()] {
      if (const auto waker = weak.lock()) waker->Wake();
    };
  }
  // From now on a wake-up does nothing.
  void Disarm() { on_wake_ = nullptr; }

 private:
  void Wake() {
    if (posted_.exchange(true)) return;
    // Every other owner of the loop may drop it in this moment; and the loop must not own itself through its own queue.
    const Loop loop = loop_;
    asio::post(*loop, [weak = weak_from_this()] {
      if (const auto waker = weak.lock()) waker->Run();
    });
  }
  void Run() {
    posted_ = false;
    if (on_wake_) on_wake_();
  }

  Loop loop_;
  std::function<void()> on_wake_;
  std::atomic<bool> posted_ = false;
};

}  // namespace skerry::transport::http
