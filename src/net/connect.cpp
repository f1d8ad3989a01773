#include "net/connect.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "base/printable.hpp"

namespace skerry::net {
namespace {

std::unexpected<base::Error> NobodyThere(const Endpoint& endpoint) {
  return base::Err(base::Code::kUnavailable, "no daemon at " + endpoint.Describe() + "; start one with: skerry serve");
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
      return base::Err(base::Code::kPermissionDenied, "the daemon at " + endpoint.Describe() + " is not yours to ask");
    default:
      return base::Err(base::Code::kUnavailable,
                       "cannot connect to " + endpoint.Describe() + ": " + std::generic_category().message(error));
  }
}

// errno of a connection that is under way; 0 when it is there.
int AwaitConnected(int fd, base::Deadline deadline) {
  pollfd entry{fd, POLLOUT, 0};
  int count = 0;
  do count = ::poll(&entry, 1, deadline.PollTimeoutMs());
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  if (count == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// A unix socket whose queue is full says EAGAIN, and nothing tells when it is not any more.
int ConnectOnce(int fd, const sockaddr* address, socklen_t size, base::Deadline deadline) {
  constexpr std::chrono::milliseconds kPause{5};
  for (;;) {
    if (::connect(fd, address, size) == 0) return 0;
    if (errno == EINPROGRESS || errno == EINTR) return AwaitConnected(fd, deadline);
    if (errno != EAGAIN) return errno;
    if (deadline.Expired()) return ETIMEDOUT;
    std::this_thread::sleep_for(std::min<base::Deadline::Clock::duration>(kPause, deadline.Remaining()));
  }
}

base::Result<base::UniqueFd> NewSocket(const Endpoint& endpoint, int family) {
  base::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Failed(endpoint, errno);
  return fd;
}

base::Result<base::UniqueFd> ConnectUnix(const Endpoint& endpoint, base::Deadline deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (endpoint.path.size() >= sizeof(address.sun_path))
    return base::Err(base::Code::kInvalidArgument, "the path is too long for a socket: " + endpoint.Describe());
  std::memcpy(address.sun_path, endpoint.path.data(), endpoint.path.size());
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, NewSocket(endpoint, AF_UNIX));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  const int error = ConnectOnce(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address), deadline);
  if (error != 0) return Failed(endpoint, error);
  return fd;
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

base::Result<Addresses> Resolve(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0)
    return base::Err(base::Code::kUnavailable,
                     "cannot find the host " + base::Printable(endpoint.host) + ": " + ::gai_strerror(error));
  return Addresses(found, ::freeaddrinfo);
}

base::Result<base::UniqueFd> ConnectTcp(const Endpoint& endpoint, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(endpoint));
  int error = ECONNREFUSED;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    auto fd = NewSocket(endpoint, each->ai_family);
    if (!fd) continue;  // a machine without IPv6
    error = ConnectOnce(fd->get(), each->ai_addr, each->ai_addrlen, deadline);
    if (error != 0) continue;
    const int on = 1;
    ::setsockopt(fd->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
  }
  return Failed(endpoint, error);
}

}  // namespace

base::Result<base::UniqueFd> ConnectSocket(const Endpoint& endpoint, base::Deadline deadline) {
  return endpoint.kind == Endpoint::Kind::kUnix ? ConnectUnix(endpoint, deadline) : ConnectTcp(endpoint, deadline);
}

}  // namespace skerry::net
