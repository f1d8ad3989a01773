#include "net/test_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

namespace skerry::net {
namespace {

constexpr time_t kPatience = 10;

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
base::UniqueFd ListenUnix(const std::string& path) {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) std::abort();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

base::UniqueFd ListenTcp(std::uint16_t& port) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) std::abort();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  port = ntohs(address.sin_port);
  return fd;
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

// Only for the server's threads: the client must not need it.
void BlockSigpipe() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

bool TestPeer::Fill() {
  std::array<char, 65536> piece{};
  const ssize_t size = ::recv(fd_, piece.data(), piece.size(), 0);
  if (size > 0) buffer_.append(piece.data(), static_cast<std::size_t>(size));
  return size > 0;
}

std::string TestPeer::ReadHead() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  while (!buffer_.contains(kEnd))
    if (!Fill()) return {};
  return Read(buffer_.find(kEnd) + kEnd.size());
}

std::string TestPeer::Read(std::size_t size) {
  while (buffer_.size() < size)
    if (!Fill()) break;
  std::string bytes = buffer_.substr(0, size);
  buffer_.erase(0, bytes.size());
  return bytes;
}

std::string TestPeer::ReadSome() {
  if (buffer_.empty()) Fill();
  return std::exchange(buffer_, {});
}

std::string TestPeer::ReadChunks() {
  std::string all;
  for (;;) {
    while (!buffer_.contains("\r\n"))
      if (!Fill()) return all;
    const std::string line = Read(buffer_.find("\r\n") + 2);
    const std::size_t size = std::strtoull(line.c_str(), nullptr, 16);
    const std::string chunk = Read(size + 2);
    if (size == 0) return all;
    all += chunk.substr(0, size);
  }
}

void TestPeer::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

void TestPeer::AwaitClose() {
  while (Fill()) continue;
}

void TestPeer::Answer(std::string_view body) {
  ASSERT_NE(ReadHead(), "");
  Write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
}

void TestServer::Listen(Endpoint::Kind kind) {
  endpoint_.kind = kind;
  if (kind == Endpoint::Kind::kUnix) {
    std::string pattern = std::filesystem::temp_directory_path() / "skerry-client-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    endpoint_.path = directory_ + "/socket";
    listening_ = ListenUnix(endpoint_.path);
  } else {
    endpoint_.host = kind == Endpoint::Kind::kTls ? "localhost" : "127.0.0.1";
    listening_ = ListenTcp(endpoint_.port);
  }
}

TestServer::TestServer(std::vector<Script> scripts, Endpoint::Kind kind) : stop_(::eventfd(0, EFD_CLOEXEC)) {
  Listen(kind);
  thread_ = std::thread([this, scripts = std::move(scripts)] { ServeInTurn(scripts); });
}

TestServer::TestServer(Endpoint::Kind kind, Script script) : stop_(::eventfd(0, EFD_CLOEXEC)) {
  Listen(kind);
  thread_ = std::thread([this, script = std::move(script)] { ServeAtOnce(script); });
}

TestServer::~TestServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  if (!directory_.empty()) std::filesystem::remove_all(directory_);
}

base::UniqueFd TestServer::Accept() {
  std::array<pollfd, 2> entries = {pollfd{listening_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  ::poll(entries.data(), entries.size(), -1);
  if (entries[1].revents != 0) return {};
  base::UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ++connections_;
  const timeval patience{.tv_sec = kPatience};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return fd;
}

void TestServer::ServeInTurn(const std::vector<Script>& scripts) {
  BlockSigpipe();
  for (const Script& script : scripts) {
    const base::UniqueFd fd = Accept();
    if (!fd.valid()) return;
    TestPeer peer(fd.get());
    script(peer);
  }
}

void TestServer::ServeAtOnce(const Script& script) {
  BlockSigpipe();
  std::vector<std::jthread> serving;
  for (base::UniqueFd fd = Accept(); fd.valid(); fd = Accept())
    serving.emplace_back([&script, fd = std::move(fd)] {
      TestPeer peer(fd.get());
      script(peer);
    });
}

}  // namespace skerry::net
