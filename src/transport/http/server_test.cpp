// What a client sees of requests that are served and of requests that are refused.
#include "transport/http/server.hpp"

#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "transport/http/test_server.hpp"

namespace skerry::transport::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ServerTest, AnswersWithLengthDateIdAndNoBanner) {
  Start();
  const Answer answer = Unix().Ask(Get("/hello"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.Find("Content-Length"), "5");
  EXPECT_EQ(answer.Find("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(answer.Find("Cache-Control"), "no-store");
  EXPECT_TRUE(answer.Find("Date")->ends_with("GMT"));
  EXPECT_TRUE(answer.Find("X-Request-Id")->starts_with("req"));
  EXPECT_FALSE(answer.Find("Server"));
}

TEST_F(ServerTest, TakesOverAClientsRequestIdIfItIsHarmless) {
  Start();
  EXPECT_EQ(Unix().Ask(Get("/hello", "X-Request-Id: my-1.a_B\r\n")).Find("X-Request-Id"), "my-1.a_B");
  EXPECT_THAT(*Unix().Ask(Get("/hello", "X-Request-Id: <b>\r\n")).Find("X-Request-Id"), Not(HasSubstr("<")));
  EXPECT_EQ(Unix().Ask(Get("/nothing", "X-Request-Id: mine\r\n")).Find("X-Request-Id"), "mine");
  EXPECT_TRUE(Unix().Ask("garbage\r\n\r\n").Find("X-Request-Id"));
}

TEST_F(ServerTest, WorkersAnswerToo) {
  Start();
  EXPECT_EQ(Unix().Ask(Get("/work")).body, "work for local");
}

TEST_F(ServerTest, KeepsAConnectionAndAnswersPipelinedRequestsInOrder) {
  Start();
  auto client = Unix();
  client.Send(Get("/items/one") + Get("/hello") + Get("/items/a%2Fb"));
  EXPECT_EQ(client.Receive().body, "one");
  EXPECT_EQ(client.Receive().body, "hello");
  EXPECT_EQ(client.Receive().body, "a/b");
  EXPECT_EQ(client.Ask(Get("/work")).status, 200);
}

TEST_F(ServerTest, ClosesWhenAskedToAndForOldClients) {
  Start();
  auto client = Unix();
  EXPECT_EQ(client.Ask(Get("/hello", "Connection: close\r\n")).Find("Connection"), "close");
  EXPECT_TRUE(client.Ends(std::chrono::seconds(1)));
  auto old = Unix();
  EXPECT_EQ(old.Ask("GET /hello HTTP/1.0\r\n\r\n").body, "hello");
  EXPECT_TRUE(old.Ends(std::chrono::seconds(1)));
  auto stays = Unix();
  EXPECT_EQ(stays.Ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").Find("Connection"), "keep-alive");
  EXPECT_EQ(stays.Ask("GET /hello HTTP/1.0\r\n\r\n").body, "hello");
}

TEST_F(ServerTest, HeadIsGetWithoutTheBody) {
  Start();
  auto client = Unix();
  client.Send("HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Answer answer = client.Receive(TestClient::Expect::kNoBody);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Find("Content-Length"), "5");
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTest, NoContentHasNoLength) {
  Start();
  auto client = Unix();
  const Answer answer = client.Ask("DELETE /items/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(answer.Find("Content-Length"));
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTest, AWordGoesBeforeANameInAPattern) {
  Start();
  EXPECT_EQ(Unix().Ask(Get("/items/best")).body, "the best");
}

TEST_F(ServerTest, HandlersCannotSplitAnswers) {
  Start();
  const Answer answer = Unix().Ask(Get("/bad-headers"));
  EXPECT_EQ(answer.Find("X-Good"), "1");
  EXPECT_EQ(answer.Find("Content-Length"), "0");
  EXPECT_FALSE(answer.Find("X-Evil"));
}

TEST_F(ServerTest, AHandlerThatThrowsIsOneFailedRequest) {
  Start();
  auto client = Unix();
  EXPECT_EQ(client.Ask(Get("/throw")).status, 500);
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
}

struct Case {
  const char* name;
  std::string bytes;
  int status;
};

class MalformedTest : public ServerTest, public testing::WithParamInterface<Case> {};

TEST_P(MalformedTest, IsRefusedAndTheConnectionClosed) {
  Start();
  auto client = Unix();
  const Answer answer = client.Ask(GetParam().bytes);
  EXPECT_EQ(answer.status, GetParam().status) << answer.head << answer.body;
  EXPECT_TRUE(client.Ends(std::chrono::seconds(2)));
}

const std::string kHost = " HTTP/1.1\r\nHost: localhost\r\n";

INSTANTIATE_TEST_SUITE_P(
    Requests, MalformedTest,
    testing::Values(
        Case{"Garbage", std::string("\x16\x03\x01\x00\x05hello", 10), 400}, Case{"NoRequest", "hello\r\n\r\n", 400},
        Case{"BareLineFeed", "GET / HTTP/1.1\nHost: localhost\n\n", 400},
        Case{"BareCarriageReturn", "GET /" + kHost + "X: a\rb\r\n\r\n", 400},
        Case{"Nul", "GET /" + kHost + std::string("X: a\0b\r\n\r\n", 10), 400},
        Case{"FoldedHeader", "GET /" + kHost + "X: a\r\n b\r\n\r\n", 400},
        Case{"SpaceBeforeColon", "GET /" + kHost + "X : a\r\n\r\n", 400},
        Case{"NoHeaderName", "GET /" + kHost + ": a\r\n\r\n", 400},
        Case{"TwoLengths", "POST /small" + kHost + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
        Case{"ListOfLengths", "POST /small" + kHost + "Content-Length: 1, 1\r\n\r\na", 400},
        Case{"NegativeLength", "POST /small" + kHost + "Content-Length: -1\r\n\r\n", 400},
        Case{"LengthAndChunks", "POST /small" + kHost + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
             400},
        Case{"OtherCoding", "POST /small" + kHost + "Transfer-Encoding: gzip, chunked\r\n\r\n", 400},
        Case{"BadChunkSize", "POST /small" + kHost + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n", 400},
        Case{"ChunkTooLong", "POST /small" + kHost + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", 400},
        Case{"Http2", "GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505},
        Case{"Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        Case{"LongAddress", "GET /" + std::string(9000, 'a') + kHost + "\r\n", 414},
        Case{"MegabyteOfAddress", "GET /" + std::string(1 << 20U, 'a'), 414},
        Case{"MegabyteOfHeader", "GET /" + kHost + "X: " + std::string(1 << 20U, 'a'), 431},
        Case{"ManyHeaders",
             "GET /" + kHost +
                 [] {
                   std::string many;
                   for (int at = 0; at < 200; ++at) many += "X: 1\r\n";
                   return many;
                 }() +
                 "\r\n",
             431},
        Case{"Star", "OPTIONS *" + kHost + "\r\n", 400}, Case{"Connect", "CONNECT localhost:80" + kHost + "\r\n", 400},
        Case{"OtherExpectation", "POST /small" + kHost + "Expect: tea\r\nContent-Length: 1\r\n\r\na", 417}),
    [](const auto& each) { return each.param.name; });

class RefusedTest : public ServerTest, public testing::WithParamInterface<Case> {};

TEST_P(RefusedTest, IsRefusedOverTcp) {
  Start();
  auto client = Tcp();
  const Answer answer = client.Ask(GetParam().bytes);
  EXPECT_EQ(answer.status, GetParam().status) << answer.head << answer.body;
  EXPECT_FALSE(answer.Find("Access-Control-Allow-Origin"));
}

const std::string kToken = "Authorization: Bearer reader\r\n";

std::string WithHost(const std::string& host) {
  return "GET /hello HTTP/1.1\r\nHost: " + host + "\r\n" + kToken + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Requests, RefusedTest,
    testing::Values(
        Case{"Allowed", Get("/hello", kToken), 200}, Case{"AllowedWithPort", WithHost("LOCALHOST:1234"), 200},
        Case{"AllowedByAddress", WithHost("127.0.0.1"), 200}, Case{"AllowedSix", WithHost("[::1]:80"), 200},
        Case{"ForeignHost", WithHost("evil.example"), 403},
        Case{"HostThatBeginsRight", WithHost("localhost.evil.com"), 403},
        Case{"HostWithDot", WithHost("localhost."), 403}, Case{"HostWithUser", WithHost("a@localhost"), 403},
        Case{"EmptyHost", WithHost(""), 403}, Case{"NameOfTheUnixSocket", WithHost("skerry"), 403},
        Case{"NoHost", "GET /hello HTTP/1.1\r\n" + kToken + "\r\n", 400},
        Case{"TwoHosts", Get("/hello", kToken + "Host: localhost\r\n"), 400},
        Case{"AddressWithHost", Get("http://localhost/hello", kToken), 200},
        Case{"AddressWithOtherHost", Get("http://evil.example/hello", kToken), 400},
        Case{"ForeignOrigin", Get("/hello", kToken + "Origin: https://evil.example\r\n"), 403},
        Case{"NullOrigin", Get("/hello", kToken + "Origin: null\r\n"), 403},
        Case{"OwnOriginIsNotListed", Get("/hello", kToken + "Origin: http://localhost\r\n"), 403},
        Case{"ForeignOriginBeforeToken", Get("/hello", "Origin: https://evil.example\r\n"), 403},
        Case{"NoToken", Get("/hello"), 401}, Case{"NoTokenNoPath", Get("/nothing"), 401},
        Case{"WrongToken", Get("/hello", "Authorization: Bearer wrong\r\n"), 401},
        Case{"OtherScheme", Get("/hello", "Authorization: Basic YTpi\r\n"), 401},
        Case{"TwoTokens", Get("/hello", kToken + kToken), 400}, Case{"TokenInAddress", Get("/hello?token=reader"), 400},
        Case{"TokenInAddressToo", Get("/hello?Access_Token=reader", kToken), 400},
        Case{"NoPath", Get("/nothing", kToken), 404}, Case{"DotsInPath", Get("/items/..", kToken), 404},
        Case{"EscapedDotsInPath", Get("/items/%2e%2e", kToken), 404}, Case{"NulInPath", Get("/items/%00", kToken), 404},
        Case{"EmptySegment", Get("//hello", kToken), 404}, Case{"Method", Post("/hello", "", kToken), 405},
        Case{"Preflight", "OPTIONS /hello" + kHost + kToken + "\r\n", 405},
        Case{"TwiceInQuery", Get("/hello?a=1&a=2", kToken), 400}, Case{"Scope", Post("/admin", "", kToken), 403},
        Case{"BodyForNone", "GET /hello" + kHost + kToken + "Content-Length: 1\r\n\r\na", 400},
        Case{"ChunksForNone", "GET /hello" + kHost + kToken + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
             400},
        Case{"NoChunksForNone", "GET /hello" + kHost + kToken + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200}),
    [](const auto& each) { return each.param.name; });

TEST_F(ServerTest, RefusalsSayWhatWouldHelp) {
  Start();
  EXPECT_EQ(Tcp().Ask(Get("/hello")).Find("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(Unix().Ask(Post("/items/x", "")).Find("Allow"), "GET, DELETE, HEAD");
  EXPECT_THAT(Tcp().Ask(Post("/admin", "", kToken)).body,
              HasSubstr("permission_denied|this needs a token with the scope admin"));
}

TEST_F(ServerTest, TheUnixSocketHasItsOwnHosts) {
  Start();
  EXPECT_EQ(Unix().Ask("GET /hello HTTP/1.1\r\nHost: skerry\r\n\r\n").status, 200);
  EXPECT_EQ(Unix().Ask("GET /hello HTTP/1.1\r\nHost:\r\n\r\n").status, 200);
  EXPECT_EQ(Unix().Ask("GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
}

TEST_F(ServerTest, SettingsAllowMoreHostsAndOrigins) {
  options.hosts = {"Box.Example"};
  options.origins = {"https://console.example"};
  Start();
  const std::string host = "GET /hello HTTP/1.1\r\nHost: box.example:8080\r\n" + kToken;
  EXPECT_EQ(Tcp().Ask(host + "Origin: https://console.example\r\n\r\n").status, 200);
  EXPECT_EQ(Tcp().Ask(host + "Origin: https://console.example.evil.com\r\n\r\n").status, 403);
}

TEST_F(ServerTest, ARefusedRequestWithoutABodyKeepsTheConnection) {
  Start();
  auto client = Tcp();
  EXPECT_EQ(client.Ask(Get("/hello")).status, 401);
  EXPECT_EQ(client.Ask(Get("/hello", kToken)).status, 200);
}

TEST_F(ServerTest, WhoeverIsRefusedDoesNotGetTheirBodyRead) {
  Start();
  auto client = Tcp();
  const Answer answer = client.Ask("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.Find("Connection"), "close");
}

TEST_F(ServerTest, BodiesComeByLengthAndInChunksWithTrailers) {
  Start();
  auto client = Unix();
  EXPECT_EQ(client.Ask(Post("/small", "hello")).body, "memory 5 hello");
  client.Send("POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const char* piece : {"3\r", "\nhel\r\n2;x=", "y\r\nlo\r\n", "0\r\nX-Sum: 1\r\n", "\r\n"}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    client.Send(piece);
  }
  EXPECT_EQ(client.Receive().body, "memory 5 hello");
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTest, AClientThatWaitsIsToldToContinueOnlyIfItMay) {
  Start();
  auto client = Unix();
  const std::string expect = "HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(client.Ask("POST /small " + expect).status, 100);
  EXPECT_EQ(client.Ask("hi").body, "memory 2 hi");
  EXPECT_EQ(client.Ask("POST /nothing " + expect).status, 404);
}

TEST_F(ServerTest, ALargeBodyIsAFileAtItsBeginning) {
  options.limits.memory_body = 1000;
  Start();
  auto client = Unix();
  const std::string small(1000, 'a');
  const std::string large(300'000, 'b');
  const std::string head = "PUT /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: ";
  EXPECT_EQ(client.Ask(head + "1000\r\n\r\n" + small).body, "memory 1000 " + small);
  EXPECT_EQ(client.Ask(head + "300000\r\n\r\n" + large).body, "file 300000 " + large);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1) << "only run/ is left";
}

TEST_F(ServerTest, BodiesAboveTheLimitAreRefusedWithoutReadingThem) {
  options.limits.small_body = 10;
  options.limits.large_body = 20;
  Start();
  EXPECT_EQ(Unix().Ask("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n").status, 413);
  EXPECT_EQ(Unix().Ask("PUT /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 21\r\n\r\n").status, 413);
  auto client = Unix();
  client.Send("POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(client.Ask("b\r\nhello world\r\n").status, 413);
}

TEST_F(ServerTest, AnswersArriveAlthoughTheClientStillSends) {
  options.limits.small_body = 10;
  Start();
  auto client = Tcp();
  client.Send("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n" + kToken + "\r\n");
  client.Send(std::string(1'000'000, 'x'));
  EXPECT_EQ(client.Receive().status, 413);
}

TEST_F(ServerTest, WithoutASpoolALargeBodyFails) {
  options.limits.memory_body = 1;
  options.spool = directory.path() / "missing";
  Start();
  EXPECT_EQ(Unix().Ask("PUT /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab").status, 500);
}

TEST_F(ServerTest, SendsAPieceOfAFile) {
  std::ofstream(directory.path() / "file") << "0123456789" << std::string(700'000, 'f') << "tail";
  Start();
  auto client = Unix();
  EXPECT_EQ(client.Ask(Get("/file?length=700000")).body, std::string(700'000, 'f'));
  EXPECT_EQ(client.Ask(Get("/file?length=5")).body, "fffff");
}

TEST_F(ServerTest, AFileThatBecameShorterCutsTheConnection) {
  std::ofstream(directory.path() / "file") << "0123456789" << "abc";
  Start();
  auto client = Unix();
  const Answer answer = client.Ask(Get("/file?length=100"));
  EXPECT_EQ(answer.Find("Content-Length"), "100");
  EXPECT_EQ(answer.body, "abc");
}

TEST_F(ServerTest, LogsWithoutTheQueryAndTheToken) {
  Start();
  Tcp().Ask(Get("/hello?token=secret"));
  Tcp().Ask(Get("/hello?x=secret", kToken));
  ASSERT_TRUE(Eventually([&] { return Records().size() == 2; }));
  EXPECT_EQ(Records()[0].status, 400);
  EXPECT_EQ(Records()[0].path, "/hello");
  EXPECT_EQ(Records()[1].caller, "tokreader");
  EXPECT_EQ(Records()[1].bytes, 5U);
  EXPECT_EQ(Records()[1].method, "GET");
  EXPECT_THAT(Records()[1].peer, HasSubstr("127.0.0.1:"));
}

}  // namespace
}  // namespace skerry::transport::http
