#include "net/client.hpp"

#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "net/test_server.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

// The whole body, or what went wrong.
std::string Ask(Client& client, const OutgoingRequest& request = {.target = "/"}) {
  auto answer = client.Send(request, Soon());
  if (!answer) return "error: " + answer.error().message;
  auto body = answer->ReadAll(1 << 20, Soon());
  return body ? *body : "error: " + body.error().message;
}

TEST(ClientTest, SendsWhatARequestNeeds) {
  std::string head;
  std::string body;
  TestServer server({[&](TestPeer& peer) {
    head = peer.ReadHead();
    body = peer.Read(4);
    peer.Write("HTTP/1.1 204 No Content\r\n\r\n");
  }});
  Endpoint endpoint = server.endpoint();
  endpoint.token = "sk_abc";
  Client client(endpoint);
  EXPECT_EQ(Ask(client, {.method = "POST", .target = "/v1/x?a=b", .headers = {{"X-A", "1"}}, .body = "four"}), "");
  EXPECT_TRUE(head.starts_with("POST /v1/x?a=b HTTP/1.1\r\nHost: localhost\r\nUser-Agent: skerry/")) << head;
  EXPECT_TRUE(head.contains("\r\nAuthorization: Bearer sk_abc\r\n")) << head;
  EXPECT_TRUE(head.contains("\r\nX-A: 1\r\n")) << head;
  EXPECT_TRUE(head.contains("\r\nContent-Length: 4\r\n")) << head;
  EXPECT_EQ(body, "four");
}

TEST(ClientTest, UsesAConnectionAgainWhenItsAnswerWasRead) {
  TestServer server({[](TestPeer& peer) {
    peer.Answer("one");
    peer.Answer("");
    peer.Answer("three");
  }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "one");
  EXPECT_EQ(Ask(client), "");
  EXPECT_EQ(Ask(client), "three");
  EXPECT_EQ(server.connections(), 1);
}

TEST(ClientTest, MakesAnotherConnectionWhenAnAnswerWasNotRead) {
  TestServer server({[](TestPeer& peer) { peer.Answer("one"); }, [](TestPeer& peer) { peer.Answer("two"); }});
  Client client(server.endpoint());
  {
    auto unread = client.Send({.target = "/"}, Soon());
    ASSERT_TRUE(unread.has_value());
  }
  EXPECT_EQ(Ask(client), "two");
}

TEST(ClientTest, DoesNotUseAConnectionAgainThatTheServerWantsToClose) {
  TestServer server({[](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na");
                       peer.AwaitClose();
                     },
                     [](TestPeer& peer) { peer.Answer("b"); }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "a");
  EXPECT_EQ(Ask(client, {.method = "POST", .target = "/"}), "b");
}

// Over TCP: there the first write to a closed connection seems to succeed, and a POST must not be sent again then.
TEST(ClientTest, AConnectionThatWasClosedWhileItWaitedIsNotUsed) {
  TestServer server({[](TestPeer& peer) { peer.Answer("a"); }, [](TestPeer& peer) { peer.Answer("b"); },
                     [](TestPeer& peer) { peer.Answer("c"); }},
                    Endpoint::Kind::kPlain);
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "a");
  Client other(server.endpoint());
  EXPECT_EQ(Ask(other), "b");  // it is served after the first connection was closed
  EXPECT_EQ(Ask(client, {.method = "POST", .target = "/"}), "c");
}

// Reads the second request, and closes without an answer.
void AnswerOnceThenLeave(TestPeer& peer) {
  peer.Answer("first");
  peer.ReadHead();
}

TEST(ClientTest, AsksAGetAgainWhenAReusedConnectionGivesNoAnswer) {
  TestServer server({AnswerOnceThenLeave, [](TestPeer& peer) { peer.Answer("again"); }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "first");
  EXPECT_EQ(Ask(client), "again");
  EXPECT_EQ(server.connections(), 2);
}

TEST(ClientTest, NeverSendsAPostTwice) {
  TestServer server({AnswerOnceThenLeave, [](TestPeer& peer) { peer.Answer("again"); }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "first");
  const auto answer = client.Send({.method = "POST", .target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_EQ(server.connections(), 1);
}

TEST(ClientTest, AsksAGetOnlyOnceOnANewConnection) {
  TestServer server({[](TestPeer& peer) { peer.ReadHead(); }, [](TestPeer& peer) { peer.Answer("again"); }});
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST(ClientTest, ReadsChunksAndHeaders) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Request-Id: req1\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.Write("5\r\nhello\r\n1;a=b\r\n,\r");
    peer.Write("\n6\r\n world\r\n0\r\n\r\n");
    peer.Answer("next");
  }});
  Client client(server.endpoint());
  {
    auto answer = client.Send({.target = "/"}, Soon());
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->status(), 200);
    EXPECT_EQ(answer->Header("x-request-id"), "req1");
    EXPECT_EQ(answer->Header("x-nothing"), std::nullopt);
    EXPECT_EQ(answer->ReadAll(100, Soon()), "hello, world");
  }
  EXPECT_EQ(Ask(client), "next");
}

TEST(ClientTest, GivesAnAnswerAsItComes) {
  std::binary_semaphore seen(0);
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: a\n\r\n");
    seen.acquire();
    peer.Write("8\r\ndata: b\n\r\n0\r\n\r\n");
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->Read(Soon()), "data: a\n");
  const auto early = answer->Read(base::Deadline::After(20ms));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, base::Code::kTimeout);
  seen.release();
  EXPECT_EQ(answer->Read(Soon()), "data: b\n");
  EXPECT_EQ(answer->Read(Soon()), "");
  EXPECT_EQ(answer->Read(Soon()), "");
}

TEST(ClientTest, DoesNotWaitForEverForTheAnswerBehindItsPromises) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    for (int i = 0; i < 1000; ++i) peer.Write("HTTP/1.1 100 Continue\r\n\r\n");
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST(ClientTest, DoesNotReadHeadersWithoutEnd) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000; ++i) peer.Write("X-" + std::to_string(i) + ": " + std::string(50, 'x') + "\r\n");
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST(ClientTest, DoesNotReadHeadersWithoutEndThatComeOneByOne) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(200us);
      peer.Write("X-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n");
    }
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST(ClientTest, AHostThatNobodyKnowsIsNotThere) {
  Client client(Endpoint{.kind = Endpoint::Kind::kPlain, .host = "skerry-test.invalid", .port = 1});
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client.Send({.target = "/"}, base::Deadline::After(2s));
  ASSERT_FALSE(answer.has_value());
  // Where no server of names answers, the deadline does.
  EXPECT_TRUE(answer.error().code == base::Code::kUnavailable || answer.error().code == base::Code::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
}

class TruncatedTest : public testing::TestWithParam<const char*> {};

TEST_P(TruncatedTest, AnAnswerThatEndsTooEarlyIsAnError) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(GetParam());
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  auto body = answer ? answer->ReadAll(1000, Soon()) : std::unexpected(answer.error());
  ASSERT_FALSE(body.has_value()) << *body;
  EXPECT_EQ(body.error().code, base::Code::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Answers, TruncatedTest,
                         testing::Values("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                                         "HTTP/1.1 200 OK\r\nContent-Len", "SSH-2.0-OpenSSH_9.2\r\n",
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"));

TEST(ClientTest, AnAnswerWithoutALengthEndsWithItsConnection) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\n\r\nall of it");
  }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "all of it");
}

TEST(ClientTest, AServerThatSaysNothingIsATimeout) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client.Send({.target = "/"}, base::Deadline::After(50ms));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(ClientTest, ARefusalIsAnAnswer) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}");
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status(), 404);
  EXPECT_EQ(answer->ReadAll(10, Soon()), "{}");
}

TEST(ClientTest, AnAnswerAboveTheLimitIsTooLarge) {
  TestServer server({[](TestPeer& peer) { peer.Answer(std::string(1000, 'x')); }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->ReadAll(999, Soon()).error().code, base::Code::kTooLarge);
}

constexpr std::size_t kFedPiece = 100'000;
constexpr std::size_t kFedPieces = 200;

// Twenty megabytes; each piece has another letter.
std::function<base::Result<std::string>()> LargeFeed() {
  return [count = std::size_t{0}]() mutable -> base::Result<std::string> {
    if (count == kFedPieces) return std::string();
    return std::string(kFedPiece, static_cast<char>('a' + count++ % 26));
  };
}

std::string AllOfLargeFeed() {
  std::string all;
  for (std::size_t i = 0; i < kFedPieces; ++i) all += std::string(kFedPiece, static_cast<char>('a' + i % 26));
  return all;
}

TEST(ClientTest, FeedsABodyOfUnknownSizeInChunks) {
  std::string received;
  TestServer server({[&](TestPeer& peer) {
    const std::string head = peer.ReadHead();
    EXPECT_TRUE(head.contains("Transfer-Encoding: chunked")) << head;
    EXPECT_FALSE(head.contains("Content-Length")) << head;
    received = peer.ReadChunks();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer.Answer("next");
  }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, {.method = "PUT", .target = "/", .feed = LargeFeed()}), "ok");
  EXPECT_TRUE(received == AllOfLargeFeed()) << received.size();
  EXPECT_EQ(Ask(client), "next");
}

TEST(ClientTest, FeedsABodyOfKnownSizeAsItIs) {
  std::string received;
  TestServer server({[&](TestPeer& peer) {
    EXPECT_TRUE(peer.ReadHead().contains("Content-Length: 20000000"));
    received = peer.Read(kFedPiece * kFedPieces);
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }});
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client, {.method = "PUT", .target = "/", .feed = LargeFeed(), .feed_size = kFedPiece * kFedPieces}),
            "ok");
  EXPECT_TRUE(received == AllOfLargeFeed()) << received.size();
}

TEST(ClientTest, ABodyThatIsNotAsLargeAsPromisedIsAConflict) {
  for (const std::uint64_t promised : {kFedPiece * kFedPieces - 1, kFedPiece * kFedPieces + 1}) {
    TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
    Client client(server.endpoint());
    const auto answer =
        client.Send({.method = "PUT", .target = "/", .feed = LargeFeed(), .feed_size = promised}, Soon());
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, base::Code::kConflict);
  }
}

TEST(ClientTest, AFeedThatFailsFailsTheRequest) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  const auto feed = []() -> base::Result<std::string> { return base::Err(base::Code::kNotFound, "no such file"); };
  const auto answer = client.Send({.method = "PUT", .target = "/", .feed = feed}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "no such file");
}

class EarlyRefusalTest : public testing::TestWithParam<Endpoint::Kind> {};

// The rest of the upload meets a closed connection: neither a signal nor an error hides the answer.
TEST_P(EarlyRefusalTest, IsSeenInTheMiddleOfAnUpload) {
  TestServer server({[](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
                     },
                     [](TestPeer& peer) { peer.Answer("next"); }},
                    GetParam());
  Client client(server.endpoint());
  {
    auto answer = client.Send({.method = "PUT", .target = "/", .feed = LargeFeed()}, Soon());
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->status(), 413);
    EXPECT_EQ(answer->ReadAll(10, Soon()), "big");
  }
  EXPECT_EQ(Ask(client, {.method = "POST", .target = "/"}), "next");
}

INSTANTIATE_TEST_SUITE_P(Sockets, EarlyRefusalTest, testing::Values(Endpoint::Kind::kUnix, Endpoint::Kind::kPlain));

TEST(ClientTest, AnInterimAnswerDoesNotEndAnUpload) {
  std::binary_semaphore promised(0);
  std::string received;
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 1");
    promised.release();
    received = peer.ReadChunks();
    peer.Write("03 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }});
  Client client(server.endpoint());
  const auto feed = [&, count = 0]() mutable -> base::Result<std::string> {
    if (count == 0) promised.acquire();
    return count++ < 3 ? "piece" : "";
  };
  EXPECT_EQ(Ask(client, {.method = "PUT", .target = "/", .feed = feed}), "ok");
  EXPECT_EQ(received, "piecepiecepiece");
}

// Docker tells how far it is while it reads an image.
TEST(ClientTest, ASuccessThatBeginsEarlyDoesNotEndAnUpload) {
  for (const std::size_t chunks : {1U, 60'000U}) {
    std::string early = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t i = 0; i < chunks; ++i) early += "a\r\n0123456789\r\n";
    std::string received;
    TestServer server({[&](TestPeer& peer) {
      peer.ReadHead();
      peer.Write(early);
      received = peer.ReadChunks();
      peer.Write("3\r\nend\r\n0\r\n\r\n");
      peer.Answer("next");
    }});
    Client client(server.endpoint());
    const std::string body = Ask(client, {.method = "PUT", .target = "/", .feed = LargeFeed()});
    EXPECT_EQ(body.size(), chunks * 10 + 3) << body.substr(0, 100);
    EXPECT_TRUE(received == AllOfLargeFeed()) << received.size();
    EXPECT_EQ(Ask(client), "next");
  }
}

// The next request would be read as the rest of the body.
TEST(ClientTest, DoesNotUseAConnectionAgainWhoseRequestWasLeft) {
  std::binary_semaphore answered(0);
  TestServer server({[&](TestPeer& peer) {
                       peer.ReadHead();
                       peer.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
                       answered.release();
                       peer.AwaitClose();
                     },
                     [](TestPeer& peer) { peer.Answer("next"); }});
  Client client(server.endpoint());
  const auto feed = [&, first = true]() mutable -> base::Result<std::string> {
    if (std::exchange(first, false)) answered.acquire();
    return std::string(10, 'x');
  };
  EXPECT_EQ(Ask(client, {.method = "PUT", .target = "/", .feed = feed}), "big");
  EXPECT_EQ(Ask(client, {.method = "POST", .target = "/"}), "next");
}

TEST(ClientTest, SpeaksOverTcp) {
  std::string head;
  TestServer server({[&](TestPeer& peer) {
                      head = peer.ReadHead();
                      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }},
                    Endpoint::Kind::kPlain);
  Client client(server.endpoint());
  EXPECT_EQ(Ask(client), "ok");
  EXPECT_TRUE(head.contains("\r\nHost: 127.0.0.1:" + std::to_string(server.endpoint().port) + "\r\n")) << head;
}

TEST(ClientTest, SaysHowToStartADaemonWhenNobodyListens) {
  const std::string advice = "start one with: skerry serve";
  Client missing(Endpoint{.path = "/nowhere/skerry/socket", .called = "daemon", .advice = advice});
  const auto answer = missing.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_EQ(answer.error().message, "no daemon at unix:/nowhere/skerry/socket; start one with: skerry serve");

  Client closed(
      Endpoint{.kind = Endpoint::Kind::kPlain, .host = "127.0.0.1", .port = 1, .called = "daemon", .advice = advice});
  EXPECT_EQ(closed.Send({.target = "/"}, Soon()).error().message,
            "no daemon at http://127.0.0.1:1; start one with: skerry serve");
}

TEST(ClientTest, RefusesWhatWouldBeAnotherRequest) {
  Client client(Endpoint{.path = "/nowhere"});
  for (const OutgoingRequest& request :
       {OutgoingRequest{.target = "/a b"}, OutgoingRequest{.target = "/a\r\nX: y"}, OutgoingRequest{.target = "a"},
        OutgoingRequest{.method = "GET /", .target = "/"},
        OutgoingRequest{.target = "/", .headers = {{"A", "b\r\nC: d"}}},
        OutgoingRequest{.target = "/", .headers = {{"A: b", "c"}}},
        OutgoingRequest{.target = "/", .headers = {{"Host", "other"}}},
        OutgoingRequest{.method = "PUT", .target = "/", .headers = {{"content-length", "1"}}, .body = "four"},
        OutgoingRequest{.method = "PUT", .target = "/", .headers = {{"Transfer-Encoding", "chunked"}}}}) {
    const auto answer = client.Send(request, Soon());
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument) << answer.error().message;
  }
}

}  // namespace
}  // namespace skerry::net
