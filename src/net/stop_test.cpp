// A requested stop ends every wait, and loses as little as a deadline does.
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <semaphore>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

// Requests a stop while a call waits, and holds the call to it.
class StopTest : public testing::Test {
 protected:
  std::stop_token Token() { return source_.get_token(); }
  void StopSoon() {
    begin_ = Clock::now();
    stopper_ = std::jthread([this] {
      std::this_thread::sleep_for(30ms);
      source_.request_stop();
    });
  }
  template <class T>
  void ExpectStopped(const base::Result<T>& result) const {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, base::Code::kTimeout);
    EXPECT_TRUE(result.error().message.contains("given up")) << result.error().message;
    EXPECT_LT(Clock::now() - begin_, 5s);
  }

  std::stop_source source_;
  Clock::time_point begin_ = Clock::now();
  std::jthread stopper_;
};

// Accepts nothing; the next connection does not fit into its queue.
class FullServer {
 public:
  FullServer() {
    std::string pattern = std::filesystem::temp_directory_path() / "skerry-client-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    endpoint_.path = directory_ + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, endpoint_.path.data(), endpoint_.path.size());
    const auto* pointer = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listening_.get(), pointer, sizeof(address)), 0);
    EXPECT_EQ(::listen(listening_.get(), 0), 0);
    EXPECT_EQ(::connect(first_.get(), pointer, sizeof(address)), 0);
  }
  FullServer(const FullServer&) = delete;
  FullServer& operator=(const FullServer&) = delete;
  ~FullServer() { std::filesystem::remove_all(directory_); }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  std::string directory_;
  Endpoint endpoint_;
  base::UniqueFd listening_ = base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  base::UniqueFd first_ = base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
};

TEST_F(StopTest, EndsConnecting) {
  const FullServer server;
  Client client(server.endpoint());
  StopSoon();
  ExpectStopped(client.Send({.target = "/"}, base::Deadline::Never(), Token()));
}

TEST_F(StopTest, EndsTheHandshakeOfTls) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }}, Endpoint::Kind::kTls);
  Client client(server.endpoint());
  StopSoon();
  ExpectStopped(client.Send({.target = "/"}, base::Deadline::Never(), Token()));
}

TEST_F(StopTest, EndsTheWaitForAnAnswer) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  StopSoon();
  ExpectStopped(client.Send({.target = "/"}, base::Deadline::Never(), Token()));
}

TEST_F(StopTest, EndsSending) {
  std::binary_semaphore over(0);
  TestServer server({[&](TestPeer&) { over.acquire(); }});
  Client client(server.endpoint());
  StopSoon();
  ExpectStopped(client.Send({.method = "PUT", .target = "/", .body = std::string(std::size_t{32} << 20U, 'x')},
                            base::Deadline::Never(), Token()));
  over.release();
}

TEST_F(StopTest, EndsReadingAndLosesNothing) {
  std::binary_semaphore seen(0);
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
    seen.acquire();
    peer.Write("rest");
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon(), Token());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->Read(Soon(), Token()), "half");
  StopSoon();
  ExpectStopped(answer->Read(base::Deadline::Never(), Token()));
  seen.release();
  EXPECT_EQ(answer->Read(Soon()), "rest");
}

TEST_F(StopTest, BeforeASendNothingIsSent) {
  TestServer server({});
  Client client(server.endpoint());
  source_.request_stop();
  ExpectStopped(client.Send({.target = "/"}, base::Deadline::Never(), Token()));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(StopTest, EndsOpeningAWebSocket) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  StopSoon();
  ExpectStopped(client.Connect({.target = "/"}, base::Deadline::Never(), Token()));
}

}  // namespace
}  // namespace skerry::net
