#include "transport/http/client_of.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <arpa/inet.h>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

struct Address {
  std::string host;  // IPv6 in brackets
  std::uint16_t port = 0;
  std::string network;  // the /64 of an IPv6 address: a client that has one address of it has them all
};

template <class Sockaddr>
Sockaddr As(const sockaddr_storage& storage) {
  Sockaddr address{};
  std::memcpy(&address, &storage, sizeof(address));
  return address;
}

std::optional<Address> TextOf(const sockaddr_storage& storage) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto address = As<sockaddr_in>(storage);
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return Address{.host = text.data(), .port = ntohs(address.sin_port), .network = text.data()};
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  auto address = As<sockaddr_in6>(storage);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    ::inet_ntop(AF_INET, address.sin6_addr.s6_addr + 12, text.data(), text.size());
    return Address{.host = text.data(), .port = ntohs(address.sin6_port), .network = text.data()};
  }
  ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  Address found{.host = "[" + std::string(text.data()) + "]", .port = ntohs(address.sin6_port)};
  std::fill(address.sin6_addr.s6_addr + 8, address.sin6_addr.s6_addr + 16, std::uint8_t{0});
  ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  found.network = "[" + std::string(text.data()) + "]/64";
  return found;
}

template <class Ask>
std::optional<Address> AddressOf(int fd, Ask ask) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the interface of sockets demands
  if (ask(fd, reinterpret_cast<sockaddr*>(&storage), &length) < 0) return std::nullopt;
  return TextOf(storage);
}

std::optional<Client> UnixClient(int fd) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return std::nullopt;
  if (credentials.uid != ::geteuid() && credentials.uid != 0) return std::nullopt;
  const std::string name = "uid " + std::to_string(credentials.uid);
  return Client{.peer = {.transport = Transport::kUnix, .address = name, .uid = credentials.uid}, .key = name};
}

}  // namespace

std::optional<Client> ClientOf(int fd, Transport transport, const std::string& host) {
  if (transport == Transport::kUnix) return UnixClient(fd);
  const auto remote = AddressOf(fd, ::getpeername);
  const auto local = AddressOf(fd, ::getsockname);
  if (!remote || !local) return std::nullopt;
  Client client{.peer = {.transport = transport, .address = remote->host + ":" + std::to_string(remote->port)},
                .key = remote->network,
                .local = {local->host}};
  if (!host.empty()) client.local.push_back(Lower(host));
  return client;
}

}  // namespace skerry::transport::http
