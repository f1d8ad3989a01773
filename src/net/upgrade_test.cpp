// Connections that leave HTTP: bytes both ways, over each kind of socket.
#include <poll.h>

#include <semaphore>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"
#include "net/test_tls.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSwitched =
    "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: "
    "tcp\r\n\r\n";

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

base::Result<Upgraded> Ask(Client& client) {
  return client.Upgrade({.method = "POST", .target = "/exec/1/start", .body = "{}"}, "tcp", Soon());
}

// What comes next; "" at the end.
std::string Next(core::ByteStream& stream) {
  std::string room(100, '\0');
  const auto size = stream.Read(room, Soon());
  if (!size) return "error: " + size.error().message;
  room.resize(*size);
  return room;
}

TEST(UpgradeTest, GivesBytesBothWays) {
  std::string head;
  TestServer server({[&](TestPeer& peer) {
    head = peer.ReadHead();
    peer.Read(2);
    peer.Write(std::string(kSwitched) + "early");
    EXPECT_EQ(peer.Read(5), "hello");
    peer.Write("late");
    peer.AwaitClose();  // the client says that it writes nothing more
    peer.Write("last");
  }});
  Client client(server.endpoint());
  auto upgraded = Ask(client);
  ASSERT_TRUE(upgraded.has_value()) << upgraded.error().message;
  EXPECT_TRUE(head.contains("\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n")) << head;
  EXPECT_EQ(upgraded->head.Header("content-type"), "application/vnd.docker.raw-stream");
  core::ByteStream& stream = *upgraded->stream;
  EXPECT_EQ(Next(stream), "early");
  ASSERT_TRUE(stream.Write("hello", Soon()).has_value());
  EXPECT_EQ(Next(stream), "late");
  ASSERT_TRUE(stream.CloseWrite().has_value());
  EXPECT_EQ(Next(stream), "last");
  EXPECT_EQ(Next(stream), "");
}

TEST(UpgradeTest, HasADescriptorOnlyWhereThatCarriesEverything) {
  TestServer server({[](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write(kSwitched);
                       peer.AwaitClose();
                     },
                     [](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write(std::string(kSwitched) + "early");
                       peer.AwaitClose();
                     }});
  Client client(server.endpoint());
  {
    const auto upgraded = Ask(client);
    ASSERT_TRUE(upgraded.has_value());
    EXPECT_GE(upgraded->stream->fd(), 0);
  }
  const auto upgraded = Ask(client);
  ASSERT_TRUE(upgraded.has_value());
  EXPECT_EQ(upgraded->stream->fd(), -1);
}

TEST(UpgradeTest, ATimeoutLosesNothing) {
  std::binary_semaphore go(0);
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(kSwitched);
    go.acquire();
    peer.Write("late");
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto upgraded = Ask(client);
  ASSERT_TRUE(upgraded.has_value());
  std::string room(10, '\0');
  const auto early = upgraded->stream->Read(room, base::Deadline::After(20ms));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, base::Code::kTimeout);
  go.release();
  EXPECT_EQ(Next(*upgraded->stream), "late");
}

TEST(UpgradeTest, CloseWakesBothThreads) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(kSwitched);
    pollfd entry{peer.fd(), 0, 0};
    ::poll(&entry, 1, 10'000);  // reads nothing until the client is gone
  }});
  Client client(server.endpoint());
  const auto upgraded = Ask(client);
  ASSERT_TRUE(upgraded.has_value());
  core::ByteStream& stream = *upgraded->stream;
  const auto begin = std::chrono::steady_clock::now();
  {
    const std::jthread reader([&] {
      std::string room(10, '\0');
      const auto size = stream.Read(room, base::Deadline::Never());
      EXPECT_TRUE(!size && size.error().code == base::Code::kUnavailable);
    });
    const std::jthread writer([&] {
      const std::string piece(1 << 20, 'x');
      base::Status written;
      while (written) written = stream.Write(piece, base::Deadline::Never());
      EXPECT_EQ(written.error().code, base::Code::kUnavailable);
    });
    std::this_thread::sleep_for(50ms);
    stream.Close();
    stream.Close();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
}

TEST(UpgradeTest, ARefusalIsTheErrorThatTheServerTells) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 404 Not Found\r\nContent-Length: 26\r\n\r\n{\"message\":\"no such exec\"}\n");
  }});
  Client client(server.endpoint());
  const auto upgraded = Ask(client);
  ASSERT_FALSE(upgraded.has_value());
  EXPECT_EQ(upgraded.error().code, base::Code::kNotFound);
  EXPECT_EQ(upgraded.error().message, "no such exec");
}

class NotSwitchedTest : public testing::TestWithParam<const char*> {};

TEST_P(NotSwitchedTest, IsAnError) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(GetParam());
  }});
  Client client(server.endpoint());
  const auto upgraded = Ask(client);
  ASSERT_FALSE(upgraded.has_value());
  EXPECT_EQ(upgraded.error().code, base::Code::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Answers, NotSwitchedTest,
                         testing::Values("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                                         "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
                                         "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 101"));

TEST(UpgradeTest, UnaskedIsAnError) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(kSwitched);
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST(UpgradeTest, ARequestToStopEndsTheWait) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  const auto upgraded = client.Upgrade({.target = "/"}, "tcp", base::Deadline::Never(), source.get_token());
  ASSERT_FALSE(upgraded.has_value());
  EXPECT_EQ(upgraded.error().code, base::Code::kTimeout);
}

TEST(UpgradeTest, ManyBytesAtOnceBothWaysOverTls) {
  constexpr std::size_t kSize = 3'000'000;
  const TestTls tls("DNS:localhost");
  TestServer server({[&](TestPeer& peer) {
                      const Tls session = tls.Accept(peer);
                      if (!session) return;
                      ReadHead(session.get());
                      Read(session.get());
                      Write(session.get(), std::string(kSwitched) + "early");
                      for (std::string piece = Read(session.get()); !piece.empty(); piece = Read(session.get()))
                        Write(session.get(), piece);
                      Write(session.get(), "end");
                      SSL_shutdown(session.get());
                    }},
                    Endpoint::Kind::kTls);
  Endpoint endpoint = server.endpoint();
  endpoint.certificates = tls.file();
  Client client(endpoint);
  const auto upgraded = Ask(client);
  ASSERT_TRUE(upgraded.has_value()) << upgraded.error().message;
  core::ByteStream& stream = *upgraded->stream;
  EXPECT_EQ(stream.fd(), -1);
  std::string sent(kSize, '\0');
  for (std::size_t i = 0; i < kSize; ++i) sent[i] = static_cast<char>(i * 31 / 7);
  const std::jthread writer([&] {
    EXPECT_TRUE(stream.Write(sent, Soon()).has_value());
    EXPECT_TRUE(stream.CloseWrite().has_value());
  });
  std::string received;
  for (;;) {
    std::string room(50'000, '\0');
    const auto size = stream.Read(room, Soon());
    ASSERT_TRUE(size.has_value()) << size.error().message;
    if (*size == 0) break;
    received.append(room, 0, *size);
  }
  EXPECT_TRUE(received == "early" + sent + "end") << received.size();
}

}  // namespace
}  // namespace skerry::net
