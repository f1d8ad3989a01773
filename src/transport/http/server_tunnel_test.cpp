// Requests that programs answer: what passes, in which form, and what the program's answer may be.
#include <gmock/gmock.h>

#include "transport/http/test_tunnel.hpp"

namespace skerry::transport::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers with the request as it came.
void Mirror(TestClient& connection) {
  const ProgramRequest request = ReadRequest(connection);
  const std::string text = request.head + request.body;
  connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
}

TEST_P(TunnelTest, AnAnswerComesBackAndTheConnectionStays) {
  Start(TestProgram::Says("HTTP/1.1 418 Teapot\r\nX-Program: yes\r\nContent-Length: 5\r\n\r\nhello"));
  auto client = Tcp();
  for (int turn = 0; turn < 3; ++turn) {
    const Answer answer = client.Ask(To("/x"));
    EXPECT_EQ(answer.status, 418);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.Find("X-Program"), "yes");
    EXPECT_EQ(answer.Find("Content-Length"), "5");
    EXPECT_TRUE(answer.Find("X-Request-Id"));
    EXPECT_FALSE(answer.Find("Connection"));
  }
  EXPECT_TRUE(Eventually([&] { return program->open() == 0 && server->Now().tunnels == 0; }));
  ASSERT_TRUE(Eventually([&] { return Records().size() == 3; }));
  EXPECT_EQ(Records()[0].status, 418);
  EXPECT_EQ(Records()[0].bytes, 5U);
  EXPECT_EQ(Records()[0].caller, "tokreader");
}

TEST_P(TunnelTest, TheRequestIsWrittenAnewWithoutWhatIsOurs) {
  Start(Mirror);
  const Answer answer =
      Ask("/a//b/../%2F?x=1&x=2&%zz",
          "Authorization: Bearer reader\r\nConnection: keep-alive, X-Secret-Hop\r\nX-Secret-Hop: 1\r\n"
          "Keep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: Basic x\r\nX-Own: a\r\nX-Own: b\r\n"
          "Cookie: c=d\r\n");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, testing::StartsWith("GET /a//b/../%2F?x=1&x=2&%zz HTTP/1.1\r\nHost: " +
                                               std::to_string(program->port()) + "-box.example.test\r\n"));
  EXPECT_THAT(answer.body, HasSubstr("X-Own: a\r\nX-Own: b\r\nCookie: c=d\r\n"));
  EXPECT_THAT(answer.body, HasSubstr("\r\nConnection: close\r\n"));
  for (const char* gone : {"reader", "X-Access-Token", "Hop", "Keep-Alive", "TE:", "Proxy-Authorization"})
    EXPECT_THAT(answer.body, Not(HasSubstr(gone))) << gone;
}

TEST_P(TunnelTest, AProgramsOwnCredentialsPassAndOursDoNot) {
  Start(Mirror);
  EXPECT_THAT(Ask("/", "Authorization: Basic dXNlcjo=\r\n").body, HasSubstr("Authorization: Basic dXNlcjo="));
  EXPECT_THAT(Ask("/", "Authorization: Bearer theirs\r\n").body, HasSubstr("Authorization: Bearer theirs"));
  EXPECT_THAT(Ask("/", "Authorization: Bearer often\r\n").body, Not(HasSubstr("often")));
  EXPECT_THAT(Ask("/", "Authorization: Basic x\r\nAuthorization: Bearer often\r\n").body, Not(HasSubstr("often")));
}

TEST_P(TunnelTest, AHandlerMaySayAnotherTargetHostAndHeaders) {
  more_headers = {{"X-Own", "ours"}, {"X-Bad", "a\r\nX-Evil: 1"}};
  other_host = "localhost:8080";
  Start(Mirror);
  const std::string path = "/proxy/" + std::to_string(program->port());
  const auto ask = [&](const std::string& target) {
    return Tcp()
        .Ask("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nX-Access-Token: reader\r\nX-Own: theirs\r\n\r\n")
        .body;
  };
  EXPECT_THAT(ask(path + "/a/b?c"), HasSubstr("GET /a/b?c HTTP/1.1\r\nHost: localhost:8080\r\n"));
  EXPECT_THAT(ask(path), HasSubstr("GET / HTTP/1.1"));
  EXPECT_THAT(ask(path + "/"), HasSubstr("GET / HTTP/1.1"));
  EXPECT_THAT(ask(path + "//evil/../?"), HasSubstr("GET //evil/../? HTTP/1.1"));
  EXPECT_THAT(ask(path + "?q"), HasSubstr("GET /?q HTTP/1.1"));
  EXPECT_THAT(ask("http://localhost" + path + "/abs"), HasSubstr("GET /abs HTTP/1.1"));
  EXPECT_THAT(ask(path + "/a"), HasSubstr("X-Own: ours\r\n"));
  EXPECT_THAT(ask(path + "/a"), Not(HasSubstr("theirs")));
  EXPECT_THAT(ask(path + "/a"), Not(HasSubstr("Evil")));
  EXPECT_THAT(ask("/proxy/../proxy/80/"), HasSubstr("not_found")) << "what leads to the program is a proper path";
}

TEST_P(TunnelTest, BodiesPassByLengthAndInChunks) {
  Start(Mirror);
  auto client = Tcp();
  const Answer by_length = client.Ask(To("/", "Content-Length: 5\r\n", "PUT") + "hello");
  EXPECT_THAT(by_length.body, testing::EndsWith("Content-Length: 5\r\nConnection: close\r\n\r\nhello"));
  client.Send(To("/", "Transfer-Encoding: chunked\r\n", "POST"));
  for (const char* piece : {"3;ext=1\r\nhel", "\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n", "\r\n"}) {
    std::this_thread::sleep_for(milliseconds(5));
    client.Send(piece);
  }
  const Answer in_chunks = client.Receive();
  EXPECT_THAT(in_chunks.body, testing::EndsWith("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nhello"));
  EXPECT_THAT(client.Ask(To("/", "Content-Length: 0\r\n", "POST")).body, HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(client.Ask(To("/")).body, Not(HasSubstr("Content-Length")));
}

TEST_P(TunnelTest, AClientThatWaitsIsToldToContinue) {
  Start(Mirror);
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", "Expect: 100-continue\r\nContent-Length: 2\r\n", "POST")).status, 100);
  const Answer answer = client.Ask("hi");
  EXPECT_THAT(answer.body, testing::EndsWith("hi"));
  EXPECT_THAT(answer.body, Not(HasSubstr("Expect")));
}

TEST_P(TunnelTest, AnswersPassByLengthInChunksAndUntilTheEnd) {
  Start([](TestClient& connection) {
    const std::string head = ReadRequest(connection).head;
    if (head.starts_with("GET /chunks"))
      connection.Send(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2;x\r\nlo\r\n0\r\nX-T: 1\r\n\r\n");
    if (head.starts_with("GET /close")) connection.Send("HTTP/1.0 200 OK\r\n\r\nhello");
    if (head.starts_with("GET /early")) {
      connection.Send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + kOk);
    }
  });
  auto client = Tcp();
  for (const char* target : {"/chunks", "/close"}) {
    const Answer answer = client.Ask(To(target));
    EXPECT_EQ(answer.Find("Transfer-Encoding"), "chunked") << target;
    EXPECT_EQ(answer.body, "hello") << target;
    EXPECT_FALSE(answer.Find("X-T"));
  }
  EXPECT_EQ(client.Ask(To("/early")).body, "ok");
  auto old = Tcp();
  const Answer answer = old.Ask("GET /close HTTP/1.0\r\nHost: " + std::to_string(program->port()) +
                                "-box.example.test\r\nX-Access-Token: reader\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_FALSE(answer.Find("Transfer-Encoding"));
  EXPECT_EQ(answer.Find("Connection"), "close");
  EXPECT_EQ(answer.body, "hello");
}

TEST_P(TunnelTest, AnswersWithoutABodyHaveNone) {
  Start([](TestClient& connection) {
    const std::string head = ReadRequest(connection).head;
    if (head.starts_with("HEAD")) connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    if (head.starts_with("GET /204")) connection.Send("HTTP/1.1 204 No Content\r\n\r\n");
    if (head.starts_with("GET /304"))
      connection.Send("HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 7\r\n\r\n");
    if (head.starts_with("GET /ok")) connection.Send(kOk);
  });
  auto client = Tcp();
  client.Send(To("/", "", "HEAD"));
  EXPECT_EQ(client.Receive(TestClient::Expect::kNoBody).Find("Content-Length"), "1000");
  EXPECT_EQ(client.Ask(To("/204")).status, 204);
  client.Send(To("/304"));
  EXPECT_EQ(client.Receive(TestClient::Expect::kNoBody).Find("ETag"), "x");
  EXPECT_EQ(client.Ask(To("/ok")).body, "ok");
}

TEST_P(TunnelTest, EventsComeAsTheyAreSent) {
  std::atomic<int> step = 0;
  Start([&](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Redirect: /etc/passwd\r\n\r\n");
    for (int at = 1; at <= 3; ++at) {
      while (step < at) std::this_thread::sleep_for(milliseconds(1));
      connection.Send("data: " + std::to_string(at) + "\n\n");
    }
  });
  auto client = Tcp();
  client.Send(To("/events"));
  std::string head;
  while (!head.ends_with("\r\n\r\n")) head += client.Read(1);
  EXPECT_THAT(head, HasSubstr("X-Accel-Buffering: no"));
  EXPECT_THAT(head, Not(HasSubstr("passwd")));
  for (int at = 1; at <= 3; ++at) {
    step = at;
    EXPECT_EQ(client.Read(14), "9\r\ndata: " + std::to_string(at) + "\n\n\r\n");
  }
  EXPECT_EQ(client.Read(5), "0\r\n\r\n");
  EXPECT_THAT(client.Ask(To("/events")).head, HasSubstr("200")) << "the connection goes on";
}

TEST_P(TunnelTest, WhatAProgramMustNotSayIsLeftOut) {
  Start(TestProgram::Says(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n"
      "Strict-Transport-Security: max-age=1\r\nalt-svc: h3=\":443\"\r\nX-Accel-Redirect: /etc\r\n"
      "X-Sendfile: /etc/passwd\r\nX-Request-Id: forged\r\nDate: never\r\nServer: evil\r\n"
      "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\nok"));
  auto client = Tcp();
  const Answer answer = client.Ask(To("/"));
  EXPECT_EQ(answer.body, "ok");
  EXPECT_THAT(answer.head, HasSubstr("Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n"));
  EXPECT_EQ(answer.Find("X-Content-Type-Options"), "nosniff");
  for (const char* gone :
       {"Hop", "Keep-Alive", "Strict", "alt-svc", "Accel", "Sendfile", "forged", "never", "evil", "close"})
    EXPECT_THAT(answer.head, Not(HasSubstr(gone))) << gone;
  EXPECT_EQ(client.Ask(To("/")).body, "ok") << "the program's close is not the client's";
}

struct Program {
  const char* name;
  std::string says;
};

TEST_P(TunnelTest, AnAnswerThatIsNoneIsTheProgramsFault) {
  const std::vector<Program> programs = {
      {"Nothing", ""},
      {"Garbage", std::string("\x16\x03\x01\0garbage", 11)},
      {"Words", "hello\r\n\r\n"},
      {"HalfHead", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"LineFeeds", "HTTP/1.1 200 OK\n\nhello"},
      {"Version", "HTTP/2.0 200 OK\r\n\r\n"},
      {"Status", "HTTP/1.1 2000 OK\r\n\r\n"},
      {"LowStatus", "HTTP/1.1 099 OK\r\n\r\n"},
      {"HighStatus", "HTTP/1.1 600 OK\r\n\r\n"},
      {"SignedStatus", "HTTP/1.1 +20 OK\r\n\r\n"},
      {"TwoLengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"},
      {"ListOfLengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"},
      {"NegativeLength", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"},
      {"LengthAndChunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"TwoCodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"OtherCoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
      {"OldChunks", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"SpaceBeforeColon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"},
      {"Folded", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\nok"},
      {"BareReturn", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\nok"},
      {"Nul", "HTTP/1.1 200 OK\r\nX: a" + std::string(1, '\0') + "b\r\n\r\nok"},
      {"LargeHead", "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\nok"},
      {"LongLine", "HTTP/1.1 200 " + std::string(100'000, 'x') + "\r\n\r\nok"},
      {"ManyHeaders", "HTTP/1.1 200 OK\r\n" +
                          [] {
                            std::string many;
                            for (int at = 0; at < 200; ++at) many += "X: 1\r\n";
                            return many;
                          }() +
                          "\r\nok"},
      {"NobodyAsked", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"},
      {"OnlyInformation", [] {
         std::string many;
         for (int at = 0; at < 100; ++at) many += "HTTP/1.1 103 Early Hints\r\n\r\n";
         return many;
       }()}};
  std::atomic<std::size_t> which = 0;
  Start([&](TestClient& connection) { TestProgram::Says(programs[which].says)(connection); });
  auto client = Tcp();
  for (which = 0; which < programs.size(); ++which) {
    const Answer answer = client.Ask(To("/"));
    EXPECT_EQ(answer.status, 502) << programs[which].name << answer.head << answer.body;
    EXPECT_THAT(answer.body, testing::StartsWith("bad_gateway|")) << "in the words of the dialect";
    EXPECT_FALSE(answer.Find("Connection")) << "nothing is wrong with the client's connection";
  }
}

TEST_P(TunnelTest, AnAnswerThatBreaksOffCutsTheConnection) {
  const std::vector<std::string> says = {
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(10'000, '0') + "\r\n\r\n"};
  std::atomic<std::size_t> which = 0;
  Start([&](TestClient& connection) { TestProgram::Says(says[which])(connection); });
  for (which = 0; which < says.size(); ++which) {
    auto client = Tcp();
    client.Send(To("/"));
    EXPECT_EQ(client.Read(12), "HTTP/1.1 200") << which;
    const std::string rest = client.Read(1 << 20U);
    EXPECT_FALSE(rest.ends_with("0\r\n\r\n")) << which << rest;
    EXPECT_TRUE(client.Ends(seconds(2))) << which;
  }
}

TEST_P(TunnelTest, WhatAProgramAddsReachesNobody) {
  Start(TestProgram::Says(kOk + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  auto client = Tcp();
  client.Send(To("/") + To("/"));
  EXPECT_EQ(client.Receive().body, "ok");
  const std::string rest = client.Read(1 << 20U);
  EXPECT_THAT(rest, Not(HasSubstr("evil")));
}

TEST_P(TunnelTest, AProgramThatNeverAnswersIsGivenUp) {
  options.limits.tunnel_silence = milliseconds(200);
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    (void)connection.Ends(seconds(10));
  });
  auto client = Tcp();
  const Answer answer = client.Ask(To("/"));
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, testing::StartsWith("timeout|"));
  EXPECT_EQ(client.Ask(To("/")).status, 504) << "the connection goes on";
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
}

TEST_P(TunnelTest, AHeadThatComesLetterByLetterIsGivenUp) {
  options.limits.header_time = milliseconds(300);
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    for (int at = 0; at < 500 && connection.Send(at == 0 ? "HTTP/1.1 200 OK\r\nX: " : "x"); ++at)
      std::this_thread::sleep_for(milliseconds(20));
  });
  EXPECT_EQ(Ask("/").status, 504);
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
}

TEST_P(TunnelTest, ABodyThatStopsIsCutOff) {
  options.limits.tunnel_silence = milliseconds(200);
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    (void)connection.Ends(seconds(10));
  });
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/")).body, "half");
  EXPECT_TRUE(client.Ends(seconds(2)));
}

TEST_P(TunnelTest, NobodyListensIsAnAnswerOfTheHandler) {
  Start(Mirror);
  const std::uint16_t port = program->port();
  program.reset();
  const std::string head = "POST / HTTP/1.1\r\nHost: " + std::to_string(port) + "-box.example.test\r\n";
  auto client = Tcp();
  const Answer answer = client.Ask(head + "X-Access-Token: reader\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(answer.Find("Connection"), "close") << "its body was not read";
  EXPECT_EQ(Tcp().Ask(head + "Content-Length: 0\r\n\r\n").status, 401) << "who asks is known before";
}

TEST_P(TunnelTest, AnAnswerMayComeBeforeTheBodyIsSent) {
  Start([](TestClient& connection) {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += connection.Read(1);
    connection.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    (void)connection.Ends(seconds(10));
  });
  auto client = Tcp();
  client.Send(To("/", "Content-Length: 1000000\r\n", "POST") + std::string(1000, 'x'));
  const Answer answer = client.Receive();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "no");
  EXPECT_EQ(answer.Find("Connection"), "close");
  EXPECT_TRUE(client.Ends(seconds(3)));
}

TEST_P(TunnelTest, ABodyOfTheClientThatIsNoneIsTheClientsFault) {
  options.dialects[1].routes[0].max_body = 10;
  std::atomic<bool> whole = false;
  Start([&](TestClient& connection) { whole = ReadRequest(connection).whole; });
  auto client = Tcp();
  EXPECT_EQ(client.Ask(To("/", "Transfer-Encoding: chunked\r\n", "POST") + "zz\r\n").status, 400);
  EXPECT_TRUE(client.Ends(seconds(2)));
  EXPECT_EQ(Tcp().Ask(To("/", "Transfer-Encoding: chunked\r\n", "POST") + "b\r\nhello world\r\n0\r\n\r\n").status, 413);
  EXPECT_EQ(Tcp().Ask(To("/", "Content-Length: 11\r\n", "POST")).status, 413);
  EXPECT_TRUE(Eventually([&] { return program->open() == 0; }));
  EXPECT_FALSE(whole);
}

TEST_P(TunnelTest, AClientThatLeavesEndsTheProgramsConnection) {
  Start([](TestClient& connection) {
    (void)ReadRequest(connection);
    (void)connection.Ends(seconds(10));
  });
  auto client = Tcp();
  client.Send(To("/"));
  ASSERT_TRUE(Eventually([&] { return program->open() == 1; }));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return program->open() == 0 && server->Now().connections == 0; }));
  auto half = Tcp();
  half.Send(To("/", "Content-Length: 10\r\n", "POST") + "half");
  ASSERT_TRUE(Eventually([&] { return program->open() == 1; }));
  half.Close();
  EXPECT_TRUE(Eventually([&] { return program->open() == 0 && server->Now().connections == 0; }));
}

TEST_P(TunnelTest, ARouteWithoutTunnelsHasNone) {
  options.dialects[1].routes[0].body = BodyRule::kSmall;
  Start(Mirror);
  EXPECT_EQ(Ask("/").status, 500);
}

INSTANTIATE_TEST_SUITE_P(Streams, TunnelTest, testing::Values(StreamKind::kSocket, StreamKind::kBlocking),
                         [](const auto& each) { return each.param == StreamKind::kSocket ? "Socket" : "Blocking"; });

}  // namespace
}  // namespace skerry::transport::http
