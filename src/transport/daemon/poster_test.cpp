#include "transport/daemon/poster.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"
#include "net/test_tls.hpp"
#include "watch/announcer.hpp"

namespace skerry::transport::daemon {
namespace {

using namespace std::chrono_literals;
using net::Endpoint;
using net::TestPeer;
using net::TestServer;
using testing::TestWithParam;
using testing::Values;

// What a server got.
struct Received {
  std::string head;
  std::string body;

  // Of the first line.
  [[nodiscard]] std::string Target() const {
    const std::size_t begin = head.find(' ') + 1;
    return head.substr(begin, head.find(' ', begin) - begin);
  }
  [[nodiscard]] std::string Header(const std::string& name) const {
    const std::size_t begin = head.find("\r\n" + name + ": ");
    if (begin == std::string::npos) return "";
    const std::size_t value = begin + name.size() + 4;
    return head.substr(value, head.find("\r\n", value) - value);
  }
};

Received ReadPost(TestPeer& peer) {
  Received received{.head = peer.ReadHead(), .body = ""};
  const std::string length = received.Header("Content-Length");
  if (!length.empty()) received.body = peer.Read(std::stoul(length));
  return received;
}

TestServer::Script Answering(std::string_view text) {
  return [answer = std::string(text)](TestPeer& peer) {
    (void)ReadPost(peer);
    peer.Write(answer);
  };
}

std::string UrlOf(const TestServer& server, const std::string& path = "/") {
  return server.endpoint().Describe() + path;
}

TEST(PosterTest, PostsTheBodyWithItsHeaders) {
  Received received;
  TestServer server({[&](TestPeer& peer) {
                      received = ReadPost(peer);
                      peer.Write("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok");
                    }},
                    Endpoint::Kind::kPlain);
  EXPECT_EQ(MakePoster()({.url = UrlOf(server, "/a/b?c=d"), .headers = {{"X-A", "1"}}, .body = "four"}), 202);
  EXPECT_TRUE(received.head.starts_with("POST /a/b?c=d HTTP/1.1\r\n")) << received.head;
  EXPECT_EQ(received.Header("X-A"), "1");
  EXPECT_EQ(received.Header("Host"), server.endpoint().Describe().substr(std::string("http://").size()));
  EXPECT_EQ(received.body, "four");
}

TEST(PosterTest, MakesAConnectionOfItsOwnEachTime) {
  TestServer server(
      {Answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), Answering("HTTP/1.1 204 No Content\r\n\r\n")},
      Endpoint::Kind::kPlain);
  const watch::Post post = MakePoster();
  EXPECT_EQ(post({.url = UrlOf(server)}), 200);
  EXPECT_EQ(post({.url = UrlOf(server)}), 204);
  EXPECT_EQ(server.connections(), 2);
}

struct PathCase {
  std::string given;
  std::string sent;
};
class PosterPathTest : public TestWithParam<PathCase> {};

TEST_P(PosterPathTest, IsWhatFollowsTheHost) {
  Received received;
  TestServer server({[&](TestPeer& peer) {
                      received = ReadPost(peer);
                      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    }},
                    Endpoint::Kind::kPlain);
  EXPECT_EQ(MakePoster()({.url = UrlOf(server, GetParam().given)}), 200);
  EXPECT_EQ(received.Target(), GetParam().sent);
}

INSTANTIATE_TEST_SUITE_P(Paths, PosterPathTest,
                         Values(PathCase{"", "/"}, PathCase{"/", "/"}, PathCase{"?a=@b", "/?a=@b"},
                                PathCase{"/x#fragment", "/x"}, PathCase{"/user@host:1", "/user@host:1"}));

class PosterUrlTest : public TestWithParam<const char*> {};

TEST_P(PosterUrlTest, WhatIsNoAddressIsRefused) {
  const auto answer = MakePoster()({.url = GetParam()});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Urls, PosterUrlTest,
                         Values("", "host/path", "unix:/run/x", "ftp://host/", "http://", "https:///path",
                                "http://host:0/", "http://host:65536/", "http://host:/", "http://[::1/", "http://a b/",
                                "http://host/a b", "http://host/\r\nX: y"));

TEST(PosterTest, AUserAndAPasswordAreRefusedAndNotRepeated) {
  const auto answer = MakePoster()({.url = "http://somebody:hunter2@host.test/"});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
  EXPECT_FALSE(answer.error().message.contains("hunter2")) << answer.error().message;
}

TEST(PosterTest, HeadersCannotBeSmuggledIn) {
  TestServer server({}, Endpoint::Kind::kPlain);
  const auto answer = MakePoster()({.url = UrlOf(server), .headers = {{"X-A", "1\r\nX-B: 2"}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
}

TEST(PosterTest, FollowsNoRedirect) {
  TestServer server({Answering("HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"),
                     Answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
                    Endpoint::Kind::kPlain);
  EXPECT_EQ(MakePoster()({.url = UrlOf(server)}), 307);
  EXPECT_EQ(server.connections(), 1);
}

TEST(PosterTest, AnAnswerWithoutEndIsNotRead) {
  TestServer server({[](TestPeer& peer) {
                      (void)ReadPost(peer);
                      peer.Write("HTTP/1.1 200 OK\r\n\r\n" + std::string(std::size_t{1} << 17U, 'x'));
                      peer.AwaitClose();
                    }},
                    Endpoint::Kind::kPlain);
  EXPECT_EQ(MakePoster()({.url = UrlOf(server)}), 200);
}

TEST(PosterTest, AServerThatSaysNothingIsATimeout) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }}, Endpoint::Kind::kPlain);
  const auto answer = MakePoster()({.url = UrlOf(server), .timeout = 50ms});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
}

TEST(PosterTest, NobodyThereIsSaidWithoutSpeakingOfDaemons) {
  std::string url;
  {
    const TestServer gone({}, Endpoint::Kind::kPlain);
    url = UrlOf(gone);
  }
  const auto answer = MakePoster()({.url = url});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_FALSE(answer.error().message.contains("skerry serve")) << answer.error().message;
}

// With the announcer: what a receiver has to check can be checked, and a failed delivery comes again.
TEST(PosterTest, CarriesAnnouncementsThatTheirReceiverCanCheck) {
  const std::string secret = "0123456789abcdef";
  std::vector<Received> received;
  const auto take = [&](const char* answer) {
    return [&, answer](TestPeer& peer) {
      received.push_back(ReadPost(peer));
      peer.Write(answer);
    };
  };
  TestServer server({take("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"),
                     take("HTTP/1.1 204 No Content\r\n\r\n")},
                    Endpoint::Kind::kPlain);
  watch::Announcer announcer({.url = UrlOf(server, "/hook"), .secret = secret, .first_pause = 1ms}, MakePoster(), {});
  announcer.Announce({.id = "apr_a", .body = R"({"a":"ä"})", .until = std::chrono::system_clock::now() + 1min});
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (announcer.Statistics().delivered == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  ASSERT_EQ(announcer.Statistics().delivered, 1);
  ASSERT_EQ(received.size(), 2);
  for (const Received& each : received) {
    EXPECT_EQ(each.Target(), "/hook");
    EXPECT_EQ(each.body, R"({"a":"ä"})");
    EXPECT_EQ(each.Header("Skerry-Signature"), watch::SignatureOf(secret, each.Header("Skerry-Timestamp"), each.body));
  }
  EXPECT_EQ(received[0].Header("Skerry-Delivery"), received[1].Header("Skerry-Delivery"));
}

class PosterTlsTest : public testing::Test {
 protected:
  net::TestTls tls_{"DNS:localhost"};
  TestServer server_{{[this](TestPeer& peer) { tls_.Serve(peer); }}, Endpoint::Kind::kTls};
};

TEST_F(PosterTlsTest, SendsToWhomTheCertificatesName) {
  const std::string url = server_.endpoint().Describe() + "/hook";
  EXPECT_EQ(MakePoster(tls_.file())({.url = url, .body = "{}"}), 200);
}

TEST_F(PosterTlsTest, SendsNothingToAStranger) {
  const auto answer = MakePoster()({.url = server_.endpoint().Describe()});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace skerry::transport::daemon
