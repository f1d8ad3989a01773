#include "base/deadline.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace skerry::base {

Deadline Deadline::After(Clock::duration duration) {
  const auto now = Clock::now();
  if (duration > Clock::time_point::max() - now) return Never();
  return Deadline(now + duration);
}

Deadline::Clock::duration Deadline::Remaining() const {
  if (IsNever()) return Clock::duration::max();
  return std::max(Clock::duration::zero(), at_ - Clock::now());
}

int Deadline::PollTimeoutMs() const {
  if (IsNever()) return -1;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(Remaining()).count();
  return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

}  // namespace skerry::base
