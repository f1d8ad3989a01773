// What coroutines of the socket thread wait with. Everything here is used by that thread, except Waker::Wake.
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

// A moment at which the connection is given up; the server looks at it every tick. Setting it costs nothing, which a
// timer for every read and write would not.
class TimeLimit {
 public:
  void Within(std::chrono::milliseconds time) { at_ = std::chrono::steady_clock::now() + time; }
  void Off() { at_ = TimePoint::max(); }
  [[nodiscard]] bool Passed(TimePoint now) const { return now >= at_; }

 private:
  TimePoint at_ = TimePoint::max();
};

// One coroutine waits, others tell. What was told before the wait is not lost.
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
  // Returns also when nobody told within that time.
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

// The `wake` of a stream. The function given out holds no more than a weak pointer, so it may outlive everything.
class Waker : public std::enable_shared_from_this<Waker> {
 public:
  Waker(Loop loop, std::function<void()> on_wake) : loop_(std::move(loop)), on_wake_(std::move(on_wake)) {}
  std::function<void()> Function() {
    return [weak = weak_from_this()] {
      if (const auto waker = weak.lock()) waker->Wake();
    };
  }
  // From now on nothing happens any more.
  void Disarm() { on_wake_ = nullptr; }

 private:
  void Wake() {
    if (posted_.exchange(true)) return;
    // The loop may be left by everybody else in this moment; and it must not own itself through its own queue.
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
