#include "transport/http/socket_address.hpp"

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "os/errno_error.hpp"

namespace skerry::transport::http {

base::Result<SocketAddress> SocketAddress::Unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return base::Err(base::Code::kInvalidArgument, path + " is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  const bool abstract = path.starts_with('@');
  if (abstract) address.sun_path[0] = '\0';
  SocketAddress result;
  std::memcpy(&result.storage_, &address, sizeof(address));
  // An abstract name has no NUL at its end; a path has one.
  result.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return result;
}

base::Result<SocketAddress> SocketAddress::OfSocket(int fd) {
  SocketAddress result;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the interface of sockets demands
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&result.storage_), &result.size_) < 0)
    return os::ErrnoErr("address of a socket");
  return result;
}

const sockaddr* SocketAddress::get() const {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the interface of sockets demands
  return reinterpret_cast<const sockaddr*>(&storage_);
}

std::uint16_t SocketAddress::port() const {
  if (family() != AF_INET && family() != AF_INET6) return 0;
  sockaddr_in address{};  // the port is at the same place in both address families
  std::memcpy(&address, &storage_, sizeof(address));
  return ntohs(address.sin_port);
}

}  // namespace skerry::transport::http
