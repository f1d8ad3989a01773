#include "transport/daemon/login_watch.hpp"

#include <utility>
#include <vector>

namespace skerry::transport::daemon {

LoginWatch::LoginWatch(Tell tell)
    : tell_(std::move(tell)), thread_([this](const std::stop_token& stop) { Watch(stop); }) {}

void LoginWatch::Saw(const http::Mistake& mistake) {
  using Pace = watch::LoginTally::Pace;
  const std::scoped_lock lock(mutex_);
  const bool first = !tally_.Next();
  tally_.Add(mistake.address, mistake.throttled ? Pace::kThrottled : Pace::kInTime, std::chrono::steady_clock::now());
  // The watcher only needs to know of the first mistake: later ones are due later.
  if (first) changed_.notify_one();
}

void LoginWatch::Watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<watch::LoginReport> reports;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return tally_.Next().has_value(); })) break;
      (void)changed_.wait_until(lock, stop, *tally_.Next(), [] { return false; });
      reports = tally_.Take(std::chrono::steady_clock::now());
    }
    for (const auto& report : reports) tell_(report);
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& report : tally_.TakeAll()) tell_(report);
}

}  // namespace skerry::transport::daemon
