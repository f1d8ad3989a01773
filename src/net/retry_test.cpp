// Requests that are sent again because their sender asked for that.
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;
using Which = Retry::Which;

constexpr const char* kBusy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy";

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

OutgoingRequest Patient(const char* method, int attempts, Which which = Which::kIdempotent) {
  return {.method = method, .target = "/", .retry = {.attempts = attempts, .which = which, .pause = 1ms}};
}

// The body, or "lost".
std::string Ask(Client& client, const OutgoingRequest& request) {
  auto answer = client.Send(request, Soon());
  return answer ? answer->ReadAll(1000, Soon()).value_or("lost") : "lost";
}

void Leave(TestPeer& peer) {
  peer.ReadHead();
}
void SayBusy(TestPeer& peer) {
  peer.ReadHead();
  peer.Write(kBusy);
}
void SayOk(TestPeer& peer) {
  peer.Answer("ok");
}

TEST(RetryTest, NothingIsSentAgainUnasked) {
  TestServer server({SayBusy, SayOk});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, {.target = "/"}), "busy");
  EXPECT_EQ(server.connections(), 1);
}

TEST(RetryTest, AnIdempotentRequestIsSentAgain) {
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    TestServer server({Leave, SayBusy, SayOk});
    Client client(server.endpoint());
    EXPECT_EQ(Ask(client, Patient(method, 3)), "ok") << method;
    EXPECT_EQ(server.connections(), 3);
  }
}

TEST(RetryTest, TheLastAnswerIsGiven) {
  TestServer server({Leave, SayBusy, SayOk});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, Patient("GET", 2)), "busy");
}

TEST(RetryTest, APostIsNotSentAgain) {
  for (const auto& script : {Leave, SayBusy}) {
    TestServer server({script, SayOk});
    Client client(server.endpoint());
    EXPECT_NE(Ask(client, Patient("POST", 3)), "ok");
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(RetryTest, APostIsSentAgainWhereItsSenderSaysThatThisDoesNoHarm) {
  TestServer server({Leave, SayBusy, SayOk});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, Patient("POST", 3, Which::kAll)), "ok");
}

TEST(RetryTest, APostIsSentAgainThatFoundNoServer) {
  OutgoingRequest request = Patient("POST", 50);
  request.retry.pause = request.retry.longest_pause = 20ms;
  Endpoint endpoint{.kind = Endpoint::Kind::kPlain, .host = "127.0.0.1"};
  endpoint.port = TestServer({}, Endpoint::Kind::kPlain).endpoint().port;  // free again
  Client client(endpoint);
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client.Send(request, base::Deadline::After(100ms));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);  // it went on trying
}

TEST(RetryTest, OtherAnswersAreNotAskedForAgain) {
  TestServer server({[](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write("HTTP/1.1 500 Broken\r\nContent-Length: 3\r\n\r\nbug");
                     },
                     SayOk});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, Patient("GET", 3)), "bug");
}

TEST(RetryTest, ThePauseThatTheServerWantsIsKept) {
  const auto limited = [](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 429 Slow Down\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nslow");
  };
  TestServer server({limited, SayOk, limited, SayOk});
  Client client(server.endpoint());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Ask(client, Patient("GET", 2)), "ok");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  OutgoingRequest hasty = Patient("GET", 2);
  hasty.retry.longest_pause = 500ms;
  EXPECT_EQ(Ask(client, hasty), "slow");
}

TEST(RetryTest, ARequestToStopEndsThePause) {
  TestServer server({SayBusy});
  Client client(server.endpoint());
  OutgoingRequest request = Patient("GET", 2);
  request.retry.pause = request.retry.longest_pause = 1min;
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.request_stop();
  });
  const auto answer = client.Send(request, base::Deadline::Never(), source.get_token());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
}

// A feed gives its pieces once.
TEST(RetryTest, AFedBodyCannotBeSentAgain) {
  Client client(Endpoint{.path = "/nowhere"});
  OutgoingRequest request = Patient("PUT", 2);
  request.feed = []() -> base::Result<std::string> { return ""; };
  const auto answer = client.Send(request, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace skerry::net
