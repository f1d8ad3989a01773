// Tunnels over time: other protocols, much data, slow ends, and what ends them.
#include <sys/resource.h>
#include <sys/socket.h>

#include <fstream>
#include <functional>

#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "support/sanitizer.hpp"
#include "transport/http/test_tunnel.hpp"

namespace skerry::transport::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class TunnelFlowTest : public TunnelTest {};

constexpr std::string_view kWebSocket =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const std::string kOther = "Connection: Upgrade\r\nUpgrade: echo\r\n";
const std::string kSwitches = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";

// Sends back what it receives, until the end.
void Echo(TestClient& connection) {
  for (std::string letter = connection.Read(1); !letter.empty(); letter = connection.Read(1)) connection.Send(letter);
}

void SwitchAndEcho(TestClient& connection) {
  (void)ReadRequest(connection);
  connection.Send(kSwitches);
  Echo(connection);
}

std::string MegabyteOf(std::size_t number) {
  std::string bytes(std::size_t{1} << 20U, '\0');
  for (std::size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<char>((at * 31 + number * 7 + at / 251) & 0xffU);
  return bytes;
}

// How much memory this process holds now.
std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

// A whole Server as the program, with its WebSocket that sends back what it receives.
TEST_P(TunnelFlowTest, AWebSocketPassesToARealServer) {
  more_headers = {{"Authorization", "Bearer reader"}};
  other_host = "localhost";
  ServerTest::Start();
  ServerOptions inner = options;
  inner.dialects.resize(1);
  auto socket = ListenTcp(*ParseListen("127.0.0.1:0"), nullptr);
  const std::uint16_t inner_port = *PortOf(*socket);
  std::vector<ListeningSocket> sockets;
  sockets.push_back(std::move(*socket));
  auto program_server = Server::Start(std::move(sockets), inner, workers);
  ASSERT_TRUE(program_server);
  const auto head = [&](const std::string& target, std::string_view more) {
    return "GET " + target + " HTTP/1.1\r\nHost: " + std::to_string(inner_port) +
           "-box.example.test\r\nX-Access-Token: reader\r\n" + std::string(more) + "\r\n";
  };
  EXPECT_EQ(Tcp().Ask(head("/hello", "")).body, "hello");
  EXPECT_EQ(Tcp().Ask(head("/weighty", "")).body.size(), std::size_t{8} << 20U);
  auto client = Tcp();
  const Answer answer = client.Ask(head("/echo", kWebSocket));
  EXPECT_EQ(answer.status, 101);
  EXPECT_EQ(answer.Find("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(answer.Find("Upgrade"), "websocket");
  for (int turn = 0; turn < 3; ++turn) {
    client.Send(std::string("\x81\x85\0\0\0\0hello", 11));
    EXPECT_EQ(client.Read(7), "\x81\x05hello");
  }
  client.Send(std::string("\x88\x82\0\0\0\0\x03\xe8", 8));
  EXPECT_EQ(client.Read(4), std::string("\x88\x02\x03\xe8", 4));
  EXPECT_TRUE(client.Ends(seconds(2)));
  EXPECT_EQ(Tcp().Ask(head("/echo", "")).status, 426) << "an ordinary request to it";
  server.reset();
}

TEST_P(TunnelFlowTest, AnyOtherProtocolPassesBothWays) {
  Start([](TestClient& connection) {
    const ProgramRequest request = ReadRequest(connection);
    EXPECT_EQ(request.Find("Connection"), "Upgrade");
    EXPECT_EQ(request.Find("Upgrade"), "echo");
    connection.Send(kSwitches + "first");
    Echo(connection);
  });
  auto client = Tcp();
  client.Send(To("/", kOther) + "early");
  const Answer answer = client.Receive();
  EXPECT_EQ(answer.status, 101);
  EXPECT_EQ(answer.Find("Connection"), "Upgrade");
  EXPECT_EQ(client.Read(10), "firstearly");
  client.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.Read(18), "GET / HTTP/1.1\r\n\r\n") << "nothing of it is a request";
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_TRUE(client.Ends(seconds(2))) << "the program saw the end, and ended";
  EXPECT_TRUE(Eventually([&] { return program->open() == 0 && server->Now().connections == 0; }));
}

TEST_P(TunnelFlowTest, AClientThatIsDoneStillHearsTheRest) {
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send(kSwitches);
    const std::string all = connection.Read(SIZE_MAX);
    std::this_thread::sleep_for(milliseconds(50));
    connection.Send("heard " + all);
  });
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).status, 101);
  client.Send("this");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.Read(100), "heard this");
}

TEST_P(TunnelFlowTest, AnUpgradeThatTheProgramDeclinesIsAnAnswer) {
  Start(TestProgram::Says("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"));
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).body, "no");
  EXPECT_EQ(client.Ask(To("/", kOther)).body, "no") << "the connection goes on";
  client.Send(To("/", kOther) + "early");
  EXPECT_EQ(client.Receive().Find("Connection"), "close") << "nobody knows what that was";
}

TEST_P(TunnelFlowTest, AProtocolThatNobodyAskedForIsRefused) {
  const std::vector<std::string> answers = {
      "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n",
      "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n\r\n", "HTTP/1.1 101 Switching\r\nUpgrade: echo\r\n\r\n",
      "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: echo\r\nUpgrade: echo\r\n\r\n"};
  std::atomic<std::size_t> which = 0;
  Start([&](TestClient& connection) { TestProgram::Says(answers[which])(connection); });
  for (which = 0; which < answers.size(); ++which) EXPECT_EQ(Ask("/", kOther).status, 502) << answers[which];
  which = 0;
  EXPECT_EQ(Tcp().Ask(To("/", kOther + "Content-Length: 1\r\n", "POST") + "x").status, 502)
      << "with a body it is no upgrade";
}

TEST_P(TunnelFlowTest, AHundredMegabytesPassDownToASlowReaderInLittleMemory) {
  constexpr std::size_t kMegabytes = 100;
  std::atomic<std::size_t> sent = 0;
  Start([&](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (std::size_t at = 0; at < kMegabytes && connection.Send("100000\r\n" + MegabyteOf(at) + "\r\n"); ++at)
      sent = at + 1;
    connection.Send("0\r\n\r\n");
  });
  auto client = Tcp();
  client.Send(To("/"));
  std::string head;
  while (!head.ends_with("\r\n\r\n")) head += client.Read(1);
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(sent, 40U) << "a program is not read from for a client that does not read";
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  const std::size_t before = ResidentBytes();
  std::size_t most = before;
  base::Sha256 got;
  base::Sha256 expected;
  std::size_t size = 0;
  for (;;) {
    const std::string line = client.ReadLine();
    const std::size_t chunk = line.empty() ? 0 : std::stoull(line, nullptr, 16);
    const std::string content = client.Read(chunk + 2);
    if (chunk == 0) break;
    got.Update(std::string_view(content).substr(0, chunk));
    size += chunk;
    if (size % 7 == 0) std::this_thread::sleep_for(milliseconds(1));
    most = std::max(most, ResidentBytes());
  }
  for (std::size_t at = 0; at < kMegabytes; ++at) expected.Update(MegabyteOf(at));
  EXPECT_EQ(size, kMegabytes << 20U);
  EXPECT_EQ(got.FinishHex(), expected.FinishHex());
  if (!support::kHasSanitizer) EXPECT_LT(most - before, std::size_t{24} << 20U);
}

TEST_P(TunnelFlowTest, AHundredMegabytesPassUpToASlowProgramInLittleMemory) {
  constexpr std::size_t kMegabytes = 100;
  std::atomic<bool> reads = false;
  std::string digest;
  Start([&](TestClient& connection) {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += connection.Read(1);
    while (!reads) std::this_thread::sleep_for(milliseconds(1));
    base::Sha256 hash;
    for (std::size_t at = 0; at < kMegabytes * 16; ++at) {
      hash.Update(connection.Read(std::size_t{64} << 10U));
      if (at % 64 == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    digest = hash.FinishHex();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  auto client = Tcp();
  client.Send(To("/", "Content-Length: " + std::to_string(kMegabytes << 20U) + "\r\n", "PUT"));
  std::atomic<std::size_t> sent = 0;
  std::thread sender([&] {
    for (std::size_t at = 0; at < kMegabytes && client.Send(MegabyteOf(at)); ++at) sent = at + 1;
  });
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(sent, 40U) << "a client is not read from for a program that does not read";
  const std::size_t before = ResidentBytes();
  reads = true;
  std::size_t most = before;
  while (sent < kMegabytes && most < before + (std::size_t{200} << 20U)) {
    most = std::max(most, ResidentBytes());
    std::this_thread::sleep_for(milliseconds(5));
  }
  sender.join();
  EXPECT_EQ(client.Receive().body, "ok");
  base::Sha256 expected;
  for (std::size_t at = 0; at < kMegabytes; ++at) expected.Update(MegabyteOf(at));
  EXPECT_EQ(digest, expected.FinishHex());
  if (!support::kHasSanitizer) EXPECT_LT(most - before, std::size_t{24} << 20U);
}

TEST_P(TunnelFlowTest, AClientThatDoesNotReadIsLeft) {
  options.limits.write_time = milliseconds(300);
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.Send(std::string(1 << 20U, 'x'))) {
    }
  });
  auto client = Tcp();
  client.Send(To("/"));
  EXPECT_TRUE(Eventually([&] { return program->open() == 1; }));
  EXPECT_TRUE(Eventually([&] { return program->open() == 0 && server->Now().connections == 0; }));
}

TEST_P(TunnelFlowTest, AProgramThatDoesNotReadIsLeft) {
  options.limits.tunnel_silence = milliseconds(300);
  Start([](TestClient&) { std::this_thread::sleep_for(seconds(2)); });
  auto client = Tcp();
  client.Send(To("/", "Content-Length: 100000000\r\n", "POST"));
  std::thread sender([&] {
    while (client.Send(std::string(1 << 20U, 'x'))) {
    }
  });
  EXPECT_EQ(client.Receive().status, 504);
  sender.join();
  EXPECT_TRUE(Eventually([&] { return server->Now().connections == 0; }));
}

TEST_P(TunnelFlowTest, AClientThatDoesNotSendItsBodyIsLeft) {
  options.limits.body_time = milliseconds(200);
  Start([](TestClient& connection) { (void)ReadRequest(connection); });
  auto client = Tcp();
  client.Send(To("/", "Content-Length: 10\r\n", "POST") + "half");
  EXPECT_TRUE(client.Ends(seconds(3)));
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
}

TEST_P(TunnelFlowTest, ATunnelOnWhichNothingMovesEnds) {
  options.limits.tunnel_silence = milliseconds(300);
  Start(SwitchAndEcho);
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).status, 101);
  for (int turn = 0; turn < 5; ++turn) {
    std::this_thread::sleep_for(milliseconds(150));
    client.Send("x");
    EXPECT_EQ(client.Read(1), "x");
  }
  EXPECT_TRUE(client.Ends(seconds(3)));
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
}

TEST_P(TunnelFlowTest, ATokenThatIsRevokedEndsItsTunnels) {
  Start(SwitchAndEcho);
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).status, 101);
  client.Send("x");
  EXPECT_EQ(client.Read(1), "x");
  tap->revoked = true;
  EXPECT_TRUE(client.Ends(seconds(3)));
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
}

TEST_P(TunnelFlowTest, TheEndOfTheServerEndsFirstWhatHasNoEnd) {
  std::atomic<bool> answer = false;
  Start([&](TestClient& connection) {
    const ProgramRequest request = ReadRequest(connection);
    if (request.head.starts_with("GET /switch")) {
      connection.Send(kSwitches);
      (void)connection.Ends(seconds(20));
    } else if (request.head.starts_with("GET /events")) {
      connection.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: 1\n\n");
      (void)connection.Ends(seconds(20));
    } else {
      while (!answer) std::this_thread::sleep_for(milliseconds(5));
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
    }
  });
  auto switched = Tcp();
  EXPECT_EQ(switched.Ask(To("/switch", kOther)).status, 101);
  auto events = Tcp();
  events.Send(To("/events"));
  EXPECT_EQ(events.Read(4), "HTTP");
  auto ordinary = Tcp();
  ordinary.Send(To("/ordinary"));
  ASSERT_TRUE(Eventually([&] { return server->Now().tunnels == 3; }));
  std::thread ending([&] { EXPECT_TRUE(server->Drain(base::Deadline::After(seconds(10)))); });
  EXPECT_TRUE(switched.Ends(seconds(2)));
  EXPECT_TRUE(events.Ends(seconds(2)));
  answer = true;
  const Answer last = ordinary.Receive();
  EXPECT_EQ(last.body, "late");
  EXPECT_EQ(last.Find("Connection"), "close");
  ending.join();
}

TEST_P(TunnelFlowTest, TheServerEndsWithItsTunnels) {
  Start(SwitchAndEcho);
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).status, 101);
  auto waiting = Tcp();
  waiting.Send(To("/", "Content-Length: 5\r\n", "POST") + "h");
  ASSERT_TRUE(Eventually([&] { return server->Now().tunnels == 2; }));
  const auto begun = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(3));
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
}

// A piece costs 16 KB besides its bytes.
TEST_P(TunnelFlowTest, WhatPassesIsOfTheTenantsShare) {
  options.limits.flow = {.per_second = 1, .at_once = 70 << 10U, .longest_wait = seconds(1000)};
  Start(SwitchAndEcho);
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", kOther)).status, 101);
  int heard = 0;
  for (int turn = 0; turn < 10; ++turn) {
    client.Send("x");
    std::this_thread::sleep_for(milliseconds(30));
    std::array<char, 16> room{};
    const ssize_t got = ::recv(client.fd(), room.data(), room.size(), MSG_DONTWAIT);
    heard += static_cast<int>(std::max<ssize_t>(got, 0));
  }
  EXPECT_GE(heard, 1);
  EXPECT_LE(heard, 5);
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
}

TEST_P(TunnelFlowTest, OneThatNeedsAThreadCountsAsARequest) {
  options.limits.requests_at_once = 2;
  Start(SwitchAndEcho);
  auto first = Tcp();
  auto second = Tcp();
  EXPECT_EQ(first.Ask(To("/", kOther)).status, 101);
  EXPECT_EQ(second.Ask(To("/", kOther)).status, 101);
  const bool blocks = GetParam() == StreamKind::kBlocking;
  EXPECT_EQ(server->Now().requests, blocks ? 2U : 0U);
  EXPECT_EQ(server->Now().tunnels, 2U);
  EXPECT_EQ(Tcp().Ask(To("/", kOther)).status, blocks ? 503 : 101);
  first.Close();
  second.Close();
  EXPECT_TRUE(Eventually([&] { return server->Now().requests == 0 && server->Now().tunnels == 0; }));
}

INSTANTIATE_TEST_SUITE_P(Streams, TunnelFlowTest, testing::Values(StreamKind::kSocket, StreamKind::kBlocking),
                         [](const auto& each) { return each.param == StreamKind::kSocket ? "Socket" : "Blocking"; });

}  // namespace
}  // namespace skerry::transport::http
