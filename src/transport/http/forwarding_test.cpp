// Heads of requests and answers as they pass a tunnel.
#include "transport/http/forwarding.hpp"

#include <gmock/gmock.h>

namespace skerry::transport::http {
namespace {

using End = AnswerFraming::End;
using testing::HasSubstr;
using testing::Not;

TEST(ParseAnswerTest, HasAStatusAndHeaders) {
  const auto answer = ParseAnswer("HTTP/1.0 404 Not here\r\nX-A:  b \r\nx-a: c\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->version, Version::kHttp10);
  EXPECT_EQ(answer->headers.Find("X-A"), "b");
  EXPECT_EQ(answer->headers.Count("X-A"), 2U);
  EXPECT_TRUE(ParseAnswer("HTTP/1.1 200\r\n\r\n"));
  EXPECT_TRUE(ParseAnswer("HTTP/1.1 200 \r\n\r\n"));
  for (const char* text :
       {"", "\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1  200\r\n\r\n",
        "HTTP/1.1 99 x\r\n\r\n", "HTTP/1.1 099\r\n\r\n", "HTTP/1.1 600\r\n\r\n", "HTTP/1.1 -20\r\n\r\n",
        "http/1.1 200\r\n\r\n", "HTTP/1.2 200\r\n\r\n", "HTTP/1.1 200 OK\r\nX\r\n\r\n",
        "HTTP/1.1 200 OK\r\n X: a\r\n\r\n", "HTTP/1.1 200 OK\r\n: a\r\n\r\n", "HTTP/1.1 200 OK\r\n"})
    EXPECT_FALSE(ParseAnswer(text)) << text;
}

ProgramAnswer With(int status, Headers headers, Version version = Version::kHttp11) {
  return {.status = status, .version = version, .headers = std::move(headers)};
}

TEST(AnswerFramingTest, IsSaidInOneWay) {
  EXPECT_EQ(FramingOf(With(200, {}), "GET")->end, End::kClose);
  EXPECT_EQ(FramingOf(With(200, {{"content-length", "7"}}), "GET")->length, 7U);
  EXPECT_EQ(FramingOf(With(200, {{"transfer-encoding", "CHUNKED"}}), "GET")->end, End::kChunks);
  for (const Headers& headers :
       {Headers{{"Content-Length", "7"}, {"Content-Length", "7"}},
        Headers{{"Content-Length", "7"}, {"Transfer-Encoding", "chunked"}},
        Headers{{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
        Headers{{"Transfer-Encoding", "chunked, chunked"}}, Headers{{"Transfer-Encoding", ""}},
        Headers{{"Content-Length", ""}}, Headers{{"Content-Length", "+7"}}, Headers{{"Content-Length", "7 "}},
        Headers{{"Content-Length", "99999999999999999999"}}}) {
    EXPECT_FALSE(FramingOf(With(200, headers), "GET")) << headers.fields()[0].second;
    EXPECT_FALSE(FramingOf(With(204, headers), "HEAD")) << "also where there is no body";
  }
  EXPECT_FALSE(FramingOf(With(200, {{"Transfer-Encoding", "chunked"}}, Version::kHttp10), "GET"));
}

TEST(AnswerFramingTest, SomeAnswersHaveNoBody) {
  const Headers length = {{"Content-Length", "7"}};
  EXPECT_EQ(FramingOf(With(200, length), "HEAD")->end, End::kNoBody);
  EXPECT_EQ(FramingOf(With(204, {}), "GET")->end, End::kNoBody);
  EXPECT_EQ(FramingOf(With(304, length), "GET")->end, End::kNoBody);
  EXPECT_EQ(FramingOf(With(101, {}), "GET")->end, End::kNoBody);
  EXPECT_EQ(FramingOf(With(200, length), "POST")->end, End::kLength);
}

TEST(UpgradeOfTest, IsOneThatWasAskedFor) {
  const Headers request = {{"Upgrade", "a, Websocket"}};
  const auto upgrade = [&](const Headers& headers) { return UpgradeOf(With(101, headers), request); };
  EXPECT_EQ(upgrade({{"Connection", "keep-alive, UPGRADE"}, {"Upgrade", "websocket"}}), "websocket");
  EXPECT_EQ(upgrade({{"Connection", "upgrade"}, {"Upgrade", "other"}}), "");
  EXPECT_EQ(upgrade({{"Connection", "upgrade"}, {"Upgrade", ""}}), "");
  EXPECT_EQ(upgrade({{"Connection", "upgrade"}, {"Upgrade", "a, websocket"}}), "");
  EXPECT_EQ(upgrade({{"Upgrade", "websocket"}}), "");
  EXPECT_EQ(upgrade({{"Connection", "upgrade"}, {"Upgrade", "a"}, {"Upgrade", "a"}}), "");
}

TEST(HeadersForClientTest, KeepWhatIsHarmless) {
  const Headers headers = HeadersForClient(With(200, {{"Content-Type", "text/html"},
                                                      {"set-cookie", "a"},
                                                      {"X-ACCEL-expires", "1"},
                                                      {"X-Accel", "kept"},
                                                      {"connection", "x-one"},
                                                      {"Connection", "close , X-Two"},
                                                      {"X-One", "1"},
                                                      {"x-two", "2"},
                                                      {"Trailer", "x"},
                                                      {"Clear-Site-Data", "\"*\""},
                                                      {"ALT-SVC", "h3"},
                                                      {"Upgrade", "h2c"}}));
  std::string names;
  for (const auto& [name, value] : headers.fields()) names += name + " ";
  EXPECT_EQ(names, "Content-Type set-cookie X-Accel ");
}

std::string Composed(const RequestHead& head, const Framing& framing) {
  const Headers none;
  return ComposeRequest({.head = head, .framing = framing, .target = "/t", .host = "", .more = none, .withheld = {}});
}

TEST(ComposeRequestTest, ABodyIsSaidInOneWay) {
  const RequestHead head{.method = "POST",
                         .headers = {{"Host", "h"}, {"Content-Length", "7"}, {"Transfer-Encoding", "x"}, {"X", "y"}}};
  EXPECT_EQ(Composed(head, {.content_length = 7}),
            "POST /t HTTP/1.1\r\nHost: h\r\nX: y\r\nContent-Length: 7\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Composed(head, {.chunked = true}),
            "POST /t HTTP/1.1\r\nHost: h\r\nX: y\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(ComposeRequestTest, AnUpgradePassesOnlyWhereItIsOne) {
  const RequestHead head{
      .method = "GET", .headers = {{"Host", "h"}, {"Connection", "Upgrade, X-Hop"}, {"Upgrade", "x"}, {"X-Hop", "1"}}};
  EXPECT_EQ(Composed(head, {.any_upgrade = true}),
            "GET /t HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  EXPECT_EQ(Composed(head, {}), "GET /t HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
}

TEST(TargetBehindTest, IsAsItCame) {
  const auto behind = [](const char* target, std::size_t segments) {
    return TargetBehind({.target = target}, segments);
  };
  EXPECT_EQ(behind("/a/b/c?d=%zz&e?f", 0), "/a/b/c?d=%zz&e?f");
  EXPECT_EQ(behind("/a/b/c?d", 2), "/c?d");
  EXPECT_EQ(behind("/a/b", 2), "/");
  EXPECT_EQ(behind("/a/b?", 2), "/?");
  EXPECT_EQ(behind("/a/b/", 2), "/");
  EXPECT_EQ(behind("/a/b//c/..", 2), "//c/..");
  EXPECT_EQ(behind("http://host:80/a/b/c", 2), "/c");
  EXPECT_EQ(behind("/a", 7), "/");
  EXPECT_EQ(behind("*", 0), "/");
}

TEST(IsForwardableTest, IsAPathWithoutBlanks) {
  EXPECT_TRUE(IsForwardable("/a?b"));
  for (const char* target : {"", "a", "/a b", "/a\r\n", "/\xc3\xa4", "/a#b", "*", "http://a/"})
    EXPECT_FALSE(IsForwardable(target)) << target;
}

}  // namespace
}  // namespace skerry::transport::http
