#include "net/kept_connections.hpp"

#include <utility>

namespace skerry::net {

void KeptConnections::TakeLate(std::deque<Entry>& late) {
  const auto now = Clock::now();
  while (!entries_.empty() && (entries_.size() > max_ || entries_.front().until <= now)) {
    late.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
}

void KeptConnections::Keep(std::unique_ptr<HttpConnection> connection) {
  std::deque<Entry> late;
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(connection), Clock::now() + kept_for_});
  TakeLate(late);
}

std::unique_ptr<HttpConnection> KeptConnections::TakeLatest(std::deque<Entry>& late) {
  const std::lock_guard lock(mutex_);
  TakeLate(late);
  if (entries_.empty()) return nullptr;
  auto connection = std::move(entries_.back().connection);
  entries_.pop_back();
  return connection;
}

std::unique_ptr<HttpConnection> KeptConnections::Take() {
  std::deque<Entry> late;
  auto connection = TakeLatest(late);
  while (connection && !connection->StillThere()) connection = TakeLatest(late);
  return connection;
}

}  // namespace skerry::net
