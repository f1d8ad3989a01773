// Waiting with a Deadline and a stop_token.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/deadline.hpp"

namespace skerry::confirm {

// Waits until `holds` gives true, the deadline has come or `stop` is requested. Gives what `holds` says at the end.
template <class Predicate>
bool WaitUntil(std::condition_variable_any& condition, std::unique_lock<std::mutex>& lock, base::Deadline deadline,
               const std::stop_token& stop, Predicate holds) {
  // Waits in pieces: the duration of "never" is too long for any clock.
  constexpr base::Deadline::Clock::duration kPiece = std::chrono::hours(1);
  while (!holds() && !stop.stop_requested() && !deadline.Expired())
    condition.wait_for(lock, stop, std::min(kPiece, deadline.Remaining()), holds);
  return holds();
}

}  // namespace skerry::confirm
