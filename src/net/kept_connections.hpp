// KeptConnections: the idle connections of a client, for its next requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "net/http_connection.hpp"

namespace skerry::net {

// Thread-safe. A connection that is past its time is closed by the next call.
class KeptConnections {
 public:
  using Clock = std::chrono::steady_clock;
  // Keeps the latest `max` connections, each for at most `kept_for`.
  KeptConnections(std::size_t max, Clock::duration kept_for) : max_(max), kept_for_(kept_for) {}

  void Keep(std::unique_ptr<HttpConnection> connection);
  // The latest connection that its server has not closed; null when there is none.
  std::unique_ptr<HttpConnection> Take();

 private:
  struct Entry {
    std::unique_ptr<HttpConnection> connection;
    Clock::time_point until;
  };
  // Both move the entries that are to be closed to `late`, so that they are closed outside of the lock.
  std::unique_ptr<HttpConnection> TakeLatest(std::deque<Entry>& late);
  void TakeLate(std::deque<Entry>& late);

  const std::size_t max_;
  const Clock::duration kept_for_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the oldest first
};

}  // namespace skerry::net
