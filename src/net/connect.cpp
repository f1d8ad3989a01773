#include "net/connect.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "net/lookup.hpp"

namespace skerry::net {
namespace {

std::unexpected<base::Error> NobodyThere(const Endpoint& endpoint) {
  return base::Err(base::Code::kUnavailable, "no " + endpoint.called + " at " + endpoint.Describe() +
                                                 (endpoint.advice.empty() ? "" : "; " + endpoint.advice));
}

std::unexpected<base::Error> Failed(const Endpoint& endpoint, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return NobodyThere(endpoint);
    case ETIMEDOUT:
      return base::Err(base::Code::kTimeout, "no answer from " + endpoint.Describe());
    case EACCES:
    case EPERM:
      return base::Err(base::Code::kPermissionDenied,
                       "the " + endpoint.called + " at " + endpoint.Describe() + " is not yours to ask");
    default:
      return base::Err(base::Code::kUnavailable,
                       "cannot connect to " + endpoint.Describe() + ": " + std::generic_category().message(error));
  }
}

// The errno of an attempt to connect that is under way; 0 when it succeeded.
int AwaitConnected(int fd, Patience& patience) {
  if (!patience.Await(fd, POLLOUT)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// Returns an errno, 0 for success. A unix socket whose queue is full gives EAGAIN, and nothing to poll for: hence the
// pause.
int ConnectOnce(int fd, const sockaddr* address, socklen_t size, Patience& patience) {
  constexpr std::chrono::milliseconds kPause{5};
  for (;;) {
    if (::connect(fd, address, size) == 0) return 0;
    if (errno == EINPROGRESS || errno == EINTR) return AwaitConnected(fd, patience);
    if (errno != EAGAIN) return errno;
    if (!patience.Pause(kPause)) return ETIMEDOUT;
  }
}

base::Result<base::UniqueFd> NewSocket(const Endpoint& endpoint, int family) {
  base::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Failed(endpoint, errno);
  return fd;
}

base::Result<base::UniqueFd> ConnectUnix(const Endpoint& endpoint, Patience& patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (endpoint.path.size() >= sizeof(address.sun_path))
    return base::Err(base::Code::kInvalidArgument, "the path is too long for a socket: " + endpoint.Describe());
  std::memcpy(address.sun_path, endpoint.path.data(), endpoint.path.size());
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, NewSocket(endpoint, AF_UNIX));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  const int error = ConnectOnce(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address), patience);
  if (error != 0) return Failed(endpoint, error);
  return fd;
}

int CountOf(const addrinfo* address) {
  int count = 0;
  for (; address != nullptr; address = address->ai_next) ++count;
  return count;
}

// Until when one of `left` addresses is tried: an address that swallows packets must not use up the time of the next.
base::Deadline ShareOf(base::Deadline deadline, int left) {
  constexpr base::Deadline::Clock::duration kLongest = std::chrono::seconds(5);
  if (left <= 1) return deadline;
  return base::Deadline::After(deadline.IsNever() ? kLongest : std::min(kLongest, deadline.Remaining() / left));
}

base::Result<base::UniqueFd> ConnectTcp(const Endpoint& endpoint, Patience& patience) {
  SKERRY_ASSIGN_OR_RETURN(const Addresses addresses, Lookup(endpoint, patience));
  int error = ECONNREFUSED;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    auto fd = NewSocket(endpoint, each->ai_family);
    if (!fd) continue;  // a machine without IPv6
    Patience share(ShareOf(patience.deadline(), CountOf(each)), patience.stop());
    error = ConnectOnce(fd->get(), each->ai_addr, each->ai_addrlen, share);
    if (error == 0) {
      const int on = 1;
      ::setsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return fd;
    }
    if (each->ai_next != nullptr && patience.IsOver()) return Failed(endpoint, ETIMEDOUT);
  }
  return Failed(endpoint, error);
}

}  // namespace

base::Result<base::UniqueFd> ConnectSocket(const Endpoint& endpoint, Patience& patience) {
  auto fd = endpoint.kind == Endpoint::Kind::kUnix ? ConnectUnix(endpoint, patience) : ConnectTcp(endpoint, patience);
  if (!fd && patience.stop().stop_requested()) return patience.Fault(endpoint.called);
  return fd;
}

}  // namespace skerry::net
