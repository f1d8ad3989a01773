// Deadline: a moment on the monotonic clock. Every wait takes one; a clock that is set does not move it.
#pragma once

#include <chrono>

namespace skerry::base {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline Never() { return Deadline(Clock::time_point::max()); }
  static Deadline After(Clock::duration duration);

  [[nodiscard]] bool IsNever() const { return at_ == Clock::time_point::max(); }
  [[nodiscard]] bool Expired() const { return !IsNever() && Clock::now() >= at_; }
  [[nodiscard]] Clock::duration Remaining() const;

  // For poll(2): -1 for never, 0 when expired, else milliseconds rounded up so that a wait never ends early.
  [[nodiscard]] int PollTimeoutMs() const;

  [[nodiscard]] Deadline EarlierOf(Deadline other) const { return other.at_ < at_ ? other : *this; }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace skerry::base
