#include "transport/http/test_program.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include <arpa/inet.h>

#include "os/errno_error.hpp"

namespace skerry::transport::http {
namespace {

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A stream over a connected socket. Close wakes threads that wait.
class SocketStream : public core::ByteStream {
 public:
  SocketStream(base::UniqueFd fd, StreamKind kind)
      : fd_(std::move(fd)), closed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), kind_(kind) {}

  base::Result<std::size_t> Read(std::span<char> room, base::Deadline deadline) override {
    for (;;) {
      SKERRY_RETURN_IF_ERROR(WaitFor(POLLIN, deadline));
      const ssize_t got = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EAGAIN && errno != EINTR) return os::ErrnoErr("recv");
    }
  }

  base::Status Write(std::string_view bytes, base::Deadline deadline) override {
    while (!bytes.empty()) {
      SKERRY_RETURN_IF_ERROR(WaitFor(POLLOUT, deadline));
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return os::ErrnoErr("send");
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return {};
  }

  base::Status CloseWrite() override {
    ::shutdown(fd_.get(), SHUT_WR);
    return {};
  }

  void Close() override {
    const std::uint64_t one = 1;
    (void)::write(closed_.get(), &one, sizeof(one));
    ::shutdown(fd_.get(), SHUT_RDWR);
  }

  [[nodiscard]] int fd() const override { return kind_ == StreamKind::kSocket ? fd_.get() : -1; }

 private:
  base::Status WaitFor(short events, base::Deadline deadline) {
    std::array<pollfd, 2> entries = {pollfd{.fd = fd_.get(), .events = events},
                                     pollfd{.fd = closed_.get(), .events = POLLIN}};
    const int ready = ::poll(entries.data(), entries.size(), deadline.PollTimeoutMs());
    if (ready == 0) return base::Err(base::Code::kTimeout, "nothing came");
    if (entries[1].revents != 0) return base::Err(base::Code::kUnavailable, "closed");
    return {};
  }

  base::UniqueFd fd_;
  base::UniqueFd closed_;
  StreamKind kind_;
};

}  // namespace

TestProgram::TestProgram(Talk talk)
    : talk_(std::move(talk)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
      ::listen(listener_.get(), 64) == 0 &&
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0)
    port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

TestProgram::~TestProgram() {
  ending_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& connection : connections_) ::shutdown(connection->fd(), SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

void TestProgram::Accept() {
  while (!ending_) {
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) continue;
    const std::lock_guard lock(mutex_);
    const auto connection = std::make_shared<TestClient>(std::move(fd));
    connections_.push_back(connection);
    ++open_;
    threads_.emplace_back([this, connection] {
      talk_(*connection);
      const std::lock_guard removing(mutex_);
      connections_.remove(connection);
      connection->Close();
      --open_;
    });
  }
}

TestProgram::Talk TestProgram::Says(std::string bytes) {
  return [bytes = std::move(bytes)](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send(bytes);
  };
}

std::optional<std::string> ProgramRequest::Find(std::string_view name) const {
  return Answer{.head = head}.Find(name);
}

ProgramRequest ReadRequest(TestClient& connection) {
  ProgramRequest request;
  while (!request.head.ends_with("\r\n\r\n")) {
    const std::string letter = connection.Read(1);
    if (letter.empty()) return request;
    request.head += letter;
  }
  if (const auto length = request.Find("Content-Length")) {
    const std::size_t size = std::stoull(*length);
    request.body = connection.Read(size);
    request.whole = request.body.size() == size;
  } else if (request.Find("Transfer-Encoding") == "chunked") {
    request.body = connection.ReadChunks();
    request.whole = !request.body.ends_with("<cut>");
  } else {
    request.whole = true;
  }
  return request;
}

std::unique_ptr<core::ByteStream> ConnectTo(std::uint16_t port, StreamKind kind) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0) return nullptr;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return std::make_unique<SocketStream>(std::move(fd), kind);
}

}  // namespace skerry::transport::http
