// What clients cannot do to a server, and how a server ends.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <gmock/gmock.h>

#include "transport/http/socket_address.hpp"
#include "transport/http/test_server.hpp"

namespace skerry::transport::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kToken = "Authorization: Bearer reader\r\n";

TEST_F(ServerTest, HeadsSentLetterByLetterEndAtTheirDeadlineWhileOthersAreServed) {
  options.limits.header_time = milliseconds(600);
  Start();
  std::vector<TestClient> slow;
  for (int at = 0; at < 200; ++at) {
    slow.push_back(Tcp());
    slow.back().Send("GET / HTTP/1.1\r\nHost: loc");
  }
  ASSERT_TRUE(Eventually([&] { return server->Now().connections == 200; }));
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begun < milliseconds(1000)) {
    for (auto& client : slow) client.Send("x");
    EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 200);
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_TRUE(Eventually([&] { return server->Now().connections == 0; }));
}

TEST_F(ServerTest, AConnectionWithoutAnyRequestEnds) {
  options.limits.header_time = milliseconds(150);
  options.limits.idle_time = milliseconds(150);
  Start();
  EXPECT_TRUE(Unix().Ends(seconds(1)));
  auto client = Unix();
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
  EXPECT_TRUE(client.Ends(seconds(1)));
}

TEST_F(ServerTest, ABodyThatDoesNotComeEndsTheConnection) {
  options.limits.body_time = milliseconds(200);
  Start();
  auto client = Unix();
  client.Send("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhel");
  EXPECT_TRUE(client.Ends(seconds(1)));
}

// Answers of 8 MB, more than the buffers of a socket hold.
TEST_F(ServerTest, AnswersThatNobodyReadsTakeNoMoreMemoryThanTheyMay) {
  options.limits.body_memory = std::size_t{32} << 20U;  // half of it for a tenant: two answers
  Start();
  std::vector<TestClient> idle;
  for (int at = 0; at < 2; ++at) {
    idle.push_back(Tcp());
    idle.back().Send(Get("/weighty", kToken));
    EXPECT_EQ(idle.back().Read(12), "HTTP/1.1 200");
  }
  EXPECT_EQ(Tcp().Ask(Get("/weighty", kToken)).status, 429);
  EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 200);
  idle.clear();
  EXPECT_TRUE(Eventually([&] { return Tcp().Ask(Get("/weighty", kToken)).status == 200; }));
}

// The bytes of the body are few, its pieces many: the pieces are charged too.
TEST_F(ServerTest, ABodyInPiecesOfOneByteKeepsNobodyWaiting) {
  options.limits.flow = {.per_second = 64 << 20U, .at_once = 1 << 20U};
  Start();
  auto slow = Tcp();
  std::string pieces = "PUT /large HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" + kToken + "\r\n";
  constexpr int kPieces = 100'000;  // each charged with 512 bytes: 50 MB
  for (int at = 0; at < kPieces; ++at) pieces += "1\r\nx\r\n";
  const auto begun = std::chrono::steady_clock::now();
  std::jthread sender([&] { slow.Send(pieces + "0\r\n\r\n"); });
  EXPECT_EQ(slow.Receive().status, 200);
  EXPECT_GT(std::chrono::steady_clock::now() - begun, milliseconds(500));
}

TEST_F(ServerTest, TooManyConnectionsAreTurnedAway) {
  options.limits.connections = 8;
  options.limits.connections_per_peer = 2;
  Start();
  auto one = Tcp();
  EXPECT_EQ(one.Ask(Get("/hello", kToken)).status, 200);
  auto two = Tcp();
  EXPECT_EQ(two.Ask(Get("/hello", kToken)).status, 200);
  EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 429) << "a quarter is a tenant's";
  auto local = Unix();
  EXPECT_EQ(local.Ask(Get("/hello")).status, 200);
  auto another = Unix();
  EXPECT_EQ(another.Ask(Get("/hello")).status, 200);
  const Answer answer = Unix().Receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.Find("Retry-After"), "1");
  another.Close();
  ASSERT_TRUE(Eventually([&] { return server->Now().connections == 3; }));
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
}

// From many addresses, so that none reaches the limit of one address.
TEST_F(ServerTest, IdleStrangersKeepNobodyOut) {
  options.limits.connections = 32;
  options.limits.connections_per_peer = 16;
  Start();
  auto known = Tcp();
  EXPECT_EQ(known.Ask(Get("/hello", kToken)).status, 200);
  std::vector<TestClient> idle;
  for (int at = 0; at < 100; ++at) idle.push_back(TestClient::Tcp(port, "127.0.1." + std::to_string(1 + at % 20)));
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 200);
  EXPECT_EQ(known.Ask(Get("/hello", kToken)).status, 200);
  EXPECT_LE(server->Now().connections, 32U);
}

TEST_F(ServerTest, ATenantHasAShareOfTheConnections) {
  options.limits.connections = 16;
  Start();
  std::vector<TestClient> held;
  for (int at = 0; at < 4; ++at) {
    held.push_back(Tcp());
    EXPECT_EQ(held.back().Ask(Get("/hello", kToken)).status, 200);
  }
  const Answer answer = Tcp().Ask(Get("/hello", kToken));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.Find("Connection"), "close");
  EXPECT_EQ(Tcp().Ask(Get("/hello", "Authorization: Bearer often\r\n")).status, 200);
  held.pop_back();
  EXPECT_TRUE(Eventually([&] { return Tcp().Ask(Get("/hello", kToken)).status == 200; }));
}

TEST_F(ServerTest, SomeHandlersAreTheOwnersAlone) {
  options.limits.requests_at_once = 8;
  Start();
  std::vector<TestClient> busy;
  for (int at = 0; at < 7; ++at) {
    busy.push_back(Tcp());
    busy.back().Send(Get("/wait", kToken));
  }
  ASSERT_TRUE(Eventually([&] { return tap->inside == 7; }));
  EXPECT_EQ(Tcp().Ask(Get("/work", kToken)).status, 503);
  EXPECT_EQ(Unix().Ask(Get("/work")).status, 200);
}

TEST_F(ServerTest, WrongTokensAreAnsweredLateAndRightOnesAtOnce) {
  std::atomic<int> told = 0;
  std::atomic<int> throttled = 0;
  options.limits.mistakes = {.per_second = 0.001, .at_once = 5, .longest_wait = seconds(1000)};
  options.on_mistake = [&](const Mistake& mistake) {
    EXPECT_EQ(mistake.address, "127.0.0.1");
    ++told;
    if (mistake.throttled) ++throttled;
  };
  Start();
  const std::string wrong = Get("/hello", "Authorization: Bearer wrong\r\n");
  auto client = Tcp();
  for (int at = 0; at < 5; ++at) EXPECT_EQ(client.Ask(wrong).status, 401);
  auto late = Tcp();
  late.Send(wrong);
  ASSERT_TRUE(Eventually([&] { return throttled == 1; }));
  EXPECT_EQ(told, 6);
  EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 200);
  EXPECT_EQ(client.Ask(Get("/hello", kToken)).status, 200);
  EXPECT_EQ(TestClient::Tcp(port, "127.0.0.9").Ask(Get("/hello", kToken)).status, 200);
  EXPECT_FALSE(late.Ends(milliseconds(50))) << "its answer waits";
}

TEST_F(ServerTest, WhoIsThrottledIsToldSo) {
  options.limits.mistakes = {.per_second = 2, .at_once = 1, .longest_wait = milliseconds(300)};
  Start();
  EXPECT_EQ(Tcp().Ask(Get("/hello")).status, 401);
  const Answer answer = Tcp().Ask(Get("/hello"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.Find("Connection"), "close");
  EXPECT_TRUE(answer.Find("Retry-After"));
}

TEST_F(ServerTest, CallersHaveTheirRate) {
  Start();
  auto client = Tcp();
  const std::string request = Get("/hello", "Authorization: Bearer often\r\n");
  for (int at = 0; at < 10; ++at) EXPECT_EQ(client.Ask(request).status, 200);
  const Answer answer = client.Ask(request);
  EXPECT_EQ(answer.status, 429);
  EXPECT_TRUE(answer.Find("Retry-After"));
  EXPECT_TRUE(answer.body.starts_with("rate_limited|"));
  EXPECT_EQ(Tcp().Ask(Get("/hello", kToken)).status, 200);
}

TEST_F(ServerTest, TooManyHandlersAtOnceAreRefusedAndHealthIsNot) {
  options.limits.requests_at_once = 1;
  Start();
  auto busy = Unix();
  busy.Send(Get("/wait"));
  ASSERT_TRUE(Eventually([&] { return tap->inside == 1; }));
  EXPECT_EQ(server->Now().requests, 1U);
  const Answer answer = Unix().Ask(Get("/work"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_TRUE(answer.Find("Retry-After"));
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  tap->may_return = true;
  EXPECT_EQ(busy.Receive().body, "waited");
}

TEST_F(ServerTest, AHandlerHearsThatItsClientHasLeft) {
  Start();
  auto client = Unix();
  client.Send(Get("/wait"));
  ASSERT_TRUE(Eventually([&] { return tap->inside == 1; }));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return tap->told_gone.load(); }));
}

// Without the modes of the directory and the socket, which would prevent this: the server also asks the kernel for the
// client's uid.
TEST_F(ServerTest, TheUnixSocketServesItsOwnerAndRootOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to become another user";
  Start();
  ::chmod(directory.path().c_str(), 0755);
  ::chmod((directory.path() / "run").c_str(), 0755);
  ::chmod(socket_path.c_str(), 0666);
  const auto address = SocketAddress::Unix(socket_path);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    char byte = 0;
    const bool other = ::setresuid(54321, 54321, 54321) == 0;
    if (!other || fd < 0 || ::connect(fd, address->get(), address->size()) < 0) ::_exit(2);
    (void)::send(fd, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 40, MSG_NOSIGNAL);
    ::_exit(::recv(fd, &byte, 1, 0) <= 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
}

TEST_F(ServerTest, AClientThatLeavesInTheMiddleIsInTheLog) {
  Start();
  Unix().Send("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhel");
  ASSERT_TRUE(Eventually([&] { return Records().size() == 1; }));
  EXPECT_EQ(Records()[0].status, 0);
}

TEST_F(ServerTest, WithoutDescriptorsItWaitsAndGoesOn) {
  Start();
  // One request ahead: UBSan opens a pipe when it sees an object for the first time, and would find no descriptor
  // later.
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  ASSERT_TRUE(Eventually([&] { return server->Now().connections == 0; }));
  base::UniqueFd ready(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = SocketAddress::Unix(socket_path);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const int connected = ::connect(ready.get(), address->get(), address->size());
  std::this_thread::sleep_for(milliseconds(50));
  const auto without = server->Now().connections;
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_EQ(connected, 0);
  EXPECT_EQ(without, 0U);
  EXPECT_EQ(TestClient(std::move(ready)).Ask(Get("/hello")).status, 200);
}

TEST_F(ServerTest, DrainingFinishesWhatIsUnderWayAndEndsTheIdle) {
  Start();
  auto idle = Unix();
  EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
  auto busy = Unix();
  busy.Send(Get("/wait"));
  ASSERT_TRUE(Eventually([&] { return tap->inside == 1; }));
  bool drained = false;
  std::thread draining([&] { drained = server->Drain(base::Deadline::After(seconds(5))); });
  EXPECT_TRUE(idle.Ends(seconds(2)));
  EXPECT_TRUE(Eventually([&] { return Unix().fd() < 0; }));
  tap->may_return = true;
  const Answer answer = busy.Receive();
  EXPECT_EQ(answer.body, "waited");
  EXPECT_EQ(answer.Find("Connection"), "close");
  busy.Close();
  draining.join();
  EXPECT_TRUE(drained);
}

TEST_F(ServerTest, DrainingGivesUpAtItsDeadline) {
  Start();
  auto client = Unix();
  client.Send(Get("/stream"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  EXPECT_FALSE(server->Drain(base::Deadline::After(milliseconds(200))));
  EXPECT_TRUE(client.Ends(seconds(2)));
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
}

TEST_F(ServerTest, TheEndStopsHandlersThatWatchAndWaitsForThem) {
  Start();
  auto client = Unix();
  client.Send(Get("/wait"));
  ASSERT_TRUE(Eventually([&] { return tap->inside == 1; }));
  server.reset();
  EXPECT_EQ(tap->inside, 0);
  EXPECT_TRUE(tap->told_gone);
}

TEST_F(ServerTest, CountsWhatItDoes) {
  Start();
  auto client = Tcp();
  client.Ask(Get("/hello", kToken));
  client.Ask(Get("/hello"));
  EXPECT_EQ(server->Now().served, 1U);
  EXPECT_EQ(server->Now().refused, 1U);
  EXPECT_EQ(server->Now().connections, 1U);
}

TEST_F(ServerTest, NeedsADialectAndAnAuthenticator) {
  EXPECT_FALSE(Server::Start({}, ServerOptions{}, workers));
}

}  // namespace
}  // namespace skerry::transport::http
