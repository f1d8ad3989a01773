#include "net/patience.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace skerry::net {

void Patience::Wake::operator()() const {
  (void)::eventfd_write(fd, 1);
}

// -1 where no stop can be requested, or the process has no descriptor left.
int Patience::StopDescriptor() {
  if (!stop_.stop_possible()) return -1;
  if (!wake_) {
    event_.Reset(::eventfd(0, EFD_CLOEXEC));
    if (event_.valid()) wake_.emplace(stop_, Wake{event_.get()});
  }
  return event_.get();
}

bool Patience::Poll(int fd, short events, base::Deadline until) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const int stop_fd = StopDescriptor();
  const bool blind = stop_.stop_possible() && stop_fd < 0;
  for (;;) {
    const auto slice = blind ? until.EarlierOf(base::Deadline::After(kBetweenLooks)) : until;
    std::array entries = {pollfd{fd, events, 0}, pollfd{stop_fd, POLLIN, 0}};
    const int count = ::poll(entries.data(), entries.size(), stop_.stop_requested() ? 0 : slice.PollTimeoutMs());
    if (entries[0].revents != 0 && count > 0) return true;
    if (stop_.stop_requested() || until.Expired()) return false;
    if (count < 0 && errno != EINTR) return true;  // the caller's next read or write reports the error
  }
}

bool Patience::Await(int fd, short events) {
  return Poll(fd, events, deadline_);
}

bool Patience::Pause(base::Deadline::Clock::duration duration) {
  (void)Poll(-1, 0, deadline_.EarlierOf(base::Deadline::After(duration)));
  return !IsOver();
}

std::unexpected<base::Error> Patience::Fault(const std::string& whom) const {
  if (stop_.stop_requested()) return base::Err(base::Code::kTimeout, "the request to the " + whom + " was given up");
  return base::Err(base::Code::kTimeout, "the " + whom + " did not answer in time");
}

}  // namespace skerry::net
