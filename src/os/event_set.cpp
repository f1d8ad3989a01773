#include "os/event_set.hpp"

#include <sys/epoll.h>

#include <cerrno>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<EventSet> EventSet::Create() {
  base::UniqueFd fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd.valid()) return ErrnoErr("epoll_create1");
  return EventSet(std::move(fd));
}

base::Status EventSet::Add(int fd, std::uint64_t token) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  if (::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) < 0) return ErrnoErr("epoll_ctl");
  return {};
}

void EventSet::Remove(int fd) const {
  if (fd >= 0) (void)::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

base::Result<std::span<const std::uint64_t>> EventSet::Wait(base::Deadline deadline) {
  std::array<epoll_event, std::tuple_size_v<decltype(tokens_)>> events{};
  const int count = ::epoll_wait(fd_.get(), events.data(), static_cast<int>(events.size()), deadline.PollTimeoutMs());
  if (count < 0 && errno != EINTR) return ErrnoErr("epoll_wait");
  std::size_t ready = 0;
  for (; static_cast<int>(ready) < count; ++ready) tokens_[ready] = events[ready].data.u64;
  return std::span<const std::uint64_t>(tokens_).first(ready);
}

}  // namespace skerry::os
