#include "transport/http/test_client.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>

#include <arpa/inet.h>

#include "transport/http/socket_address.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {

std::optional<std::string> Answer::Find(std::string_view name) const {
  for (std::size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
    const std::string_view line = std::string_view(head).substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() > name.size() && line[name.size()] == ':' && EqualsIgnoringCase(line.substr(0, name.size()), name))
      return std::string(Trim(line.substr(name.size() + 1)));
  }
  return std::nullopt;
}

TestClient TestClient::Unix(const std::string& path) {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = SocketAddress::Unix(path);
  if (!address || ::connect(fd.get(), address->get(), address->size()) < 0) fd.Reset();
  return TestClient(std::move(fd));
}

TestClient TestClient::Tcp(std::uint16_t port, const std::string& from) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (::inet_pton(AF_INET, from.c_str(), &address.sin_addr) != 1 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0)
    return TestClient(base::UniqueFd());
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0) fd.Reset();
  return TestClient(std::move(fd));
}

bool TestClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd entry{.fd = fd_.get(), .events = POLLOUT};
    if (::poll(&entry, 1, static_cast<int>(patience_.count())) <= 0) return false;
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TestClient::Fill() {
  pollfd entry{.fd = fd_.get(), .events = POLLIN};
  if (::poll(&entry, 1, static_cast<int>(patience_.count())) <= 0) return false;
  std::array<char, 65536> piece{};
  const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got <= 0) return false;
  buffer_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

std::string TestClient::Read(std::size_t size) {
  while (buffer_.size() < size && Fill()) {
  }
  const std::string taken = buffer_.substr(0, size);
  buffer_.erase(0, taken.size());
  return taken;
}

std::string TestClient::ReadLine() {
  while (!buffer_.contains("\r\n"))
    if (!Fill()) return {};
  return Read(buffer_.find("\r\n") + 2);
}

std::string TestClient::ReadChunks() {
  std::string body;
  for (;;) {
    const std::string line = ReadLine();
    std::size_t size = 0;
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (line.empty()) return body + "<cut>";
    body += Read(size);
    ReadLine();
    if (size == 0) return body;
  }
}

Answer TestClient::Receive(Expect expect) {
  Answer answer;
  while (!buffer_.contains("\r\n\r\n"))
    if (!Fill()) return answer;
  answer.head = Read(buffer_.find("\r\n\r\n") + 4);
  std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
  if (expect == Expect::kNoBody || answer.status < 200 || answer.status == 204) return answer;
  if (answer.Find("Transfer-Encoding") == "chunked") {
    answer.body = ReadChunks();
  } else if (const auto length = answer.Find("Content-Length")) {
    answer.body = Read(static_cast<std::size_t>(std::stoull(*length)));
  } else {
    answer.body = Read(SIZE_MAX);
  }
  return answer;
}

bool TestClient::Ends(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  std::array<char, 65536> piece{};
  while (std::chrono::steady_clock::now() < until) {
    pollfd entry{.fd = fd_.get(), .events = POLLIN};
    if (::poll(&entry, 1, 20) > 0 && ::recv(fd_.get(), piece.data(), piece.size(), MSG_DONTWAIT) <= 0) return true;
  }
  return false;
}

}  // namespace skerry::transport::http
