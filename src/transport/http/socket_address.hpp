// SocketAddress: an address for bind and connect, or from getsockname.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace skerry::transport::http {

class SocketAddress {
 public:
  // A name that begins with "@" is an abstract one. kInvalidArgument when the name is too long.
  static base::Result<SocketAddress> Unix(const std::string& path);
  static base::Result<SocketAddress> OfSocket(int fd);

  [[nodiscard]] const sockaddr* get() const;
  [[nodiscard]] socklen_t size() const { return size_; }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const;  // 0 for a unix socket

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = sizeof(sockaddr_storage);
};

}  // namespace skerry::transport::http
