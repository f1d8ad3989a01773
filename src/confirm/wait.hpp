// Waiting with a Deadline and a stop_token.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/deadline.hpp"

namespace skerry::confirm {

// Until `holds` does, the deadline has come or `stop` is asked for. What `holds` says at the end.
template <class Predicate>
bool WaitUntil(std::condition_variable_any& condition, std::unique_lock<std::mutex>& lock, base::Deadline deadline,
               const std::stop_token& stop, Predicate holds) {
  // In pieces: "never" is a duration that no clock can be moved by.
  constexpr base::Deadline::Clock::duration kPiece = std::chrono::hours(1);
  while (!holds() && !stop.stop_requested() && !deadline.Expired())
    condition.wait_for(lock, stop, std::min(kPiece, deadline.Remaining()), holds);
  return holds();
}

}  // namespace skerry::confirm
