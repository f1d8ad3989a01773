// TLS: who is trusted, and that everything else is as without it.
#include <cstdlib>
#include <semaphore>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"
#include "net/test_tls.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

class TlsTest : public testing::Test {
 protected:
  static std::string Ask(Client& client, const std::string& target) {
    auto answer = client.Send({.target = target}, Soon());
    if (!answer) return "error: " + answer.error().message;
    auto body = answer->ReadAll(1000, Soon());
    return body ? *body : "error: " + body.error().message;
  }

  TestTls tls_{"DNS:localhost"};
  TestServer server_{{[this](TestPeer& peer) { tls_.Serve(peer); }}, Endpoint::Kind::kTls};
};

TEST_F(TlsTest, AsksWhomTheCertificatesName) {
  Endpoint endpoint = server_.endpoint();
  endpoint.certificates = tls_.file();
  Client client(endpoint);
  EXPECT_EQ(Ask(client, "/one"), "/one");
  EXPECT_EQ(Ask(client, "/two"), "/two");
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(TlsTest, AStrangerIsNotAsked) {
  Client client(server_.endpoint());
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(answer.error().message.contains("certificate")) << answer.error().message;
}

TEST_F(TlsTest, ACertificateForAnotherNameIsNotEnough) {
  Endpoint endpoint = server_.endpoint();
  endpoint.certificates = tls_.file();
  endpoint.host = "127.0.0.1";
  Client client(endpoint);
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST_F(TlsTest, CertificatesThatCannotBeReadAreAnError) {
  Endpoint endpoint = server_.endpoint();
  endpoint.certificates = "/nowhere/ca.pem";
  Client client(endpoint);
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
}

TEST_F(TlsTest, WithItsOwnCertificatesOnlyTheSystemsAreOfNoInterest) {
  Endpoint endpoint = server_.endpoint();
  endpoint.certificates = tls_.file();
  endpoint.trust = Endpoint::Trust::kCertificatesOnly;
  Client client(endpoint);
  EXPECT_EQ(Ask(client, "/one"), "/one");
}

TEST_F(TlsTest, TrustInNobodyIsAnError) {
  Endpoint endpoint = server_.endpoint();
  endpoint.trust = Endpoint::Trust::kCertificatesOnly;
  Client client(endpoint);
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
}

// What OpenSSL takes for the system's certificates.
class SystemCertificates {
 public:
  explicit SystemCertificates(const std::string& file) { ::setenv(X509_get_default_cert_file_env(), file.c_str(), 1); }
  SystemCertificates(const SystemCertificates&) = delete;
  SystemCertificates& operator=(const SystemCertificates&) = delete;
  ~SystemCertificates() { ::unsetenv(X509_get_default_cert_file_env()); }
};

TEST_F(TlsTest, WhomTheSystemTrustsIsTrustedUnlessToldOtherwise) {
  const SystemCertificates system(tls_.file());
  const TestTls other("DNS:localhost");
  Endpoint endpoint = server_.endpoint();
  endpoint.certificates = other.file();
  {
    endpoint.trust = Endpoint::Trust::kCertificatesOnly;
    Client client(endpoint);
    EXPECT_TRUE(Ask(client, "/").starts_with("error: no secure connection"));
  }
  TestServer again({[this](TestPeer& peer) { tls_.Serve(peer); }}, Endpoint::Kind::kTls);
  endpoint.port = again.endpoint().port;
  endpoint.trust = Endpoint::Trust::kSystemToo;
  Client client(endpoint);
  EXPECT_EQ(Ask(client, "/one"), "/one");
}

class OwnCertificateTest : public TlsTest {
 protected:
  OwnCertificateTest() { tls_.DemandCertificateOf(own_.file()); }

  [[nodiscard]] Endpoint EndpointWith(const std::string& certificate, const std::string& key) const {
    Endpoint endpoint = server_.endpoint();
    endpoint.certificates = tls_.file();
    endpoint.own_certificate = certificate;
    endpoint.own_key = key;
    return endpoint;
  }
  static base::Code CodeOf(const Endpoint& endpoint) {
    Client client(endpoint);
    const auto answer = client.Send({.target = "/"}, Soon());
    return answer ? base::Code::kInternal : answer.error().code;
  }

  TestTls own_{"DNS:me"};
};

TEST_F(OwnCertificateTest, ProvesWhoAsks) {
  Client client(EndpointWith(own_.file(), own_.key_file()));
  EXPECT_EQ(Ask(client, "/one"), "/one");
  EXPECT_EQ(Ask(client, "/two"), "/two");
}

TEST_F(OwnCertificateTest, IsDemandedByAServerThatWantsOne) {
  Client client(EndpointWith("", ""));
  const auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(answer.error().message.contains("certificate")) << answer.error().message;
}

TEST_F(OwnCertificateTest, OfAStrangerIsNotEnough) {
  const TestTls stranger("DNS:me");
  EXPECT_EQ(CodeOf(EndpointWith(stranger.file(), stranger.key_file())), base::Code::kUnavailable);
}

TEST_F(OwnCertificateTest, ThatCannotBeUsedIsAnError) {
  const TestTls other("DNS:me");
  for (const auto& [certificate, key] : {std::pair<std::string, std::string>(own_.file(), "/nowhere/key.pem"),
                                         {"/nowhere/cert.pem", own_.key_file()},
                                         {own_.file(), ""},
                                         {"", own_.key_file()},
                                         {own_.file(), other.key_file()},
                                         {own_.key_file(), own_.file()}})
    EXPECT_EQ(CodeOf(EndpointWith(certificate, key)), base::Code::kInvalidArgument) << certificate << " " << key;
}

// It would wait for a person.
TEST_F(OwnCertificateTest, APasswordIsNotAskedForAtTheTerminal) {
  own_.LockKey("secret");
  EXPECT_EQ(CodeOf(EndpointWith(own_.file(), own_.key_file())), base::Code::kInvalidArgument);
}

// The rest of the upload meets a closed connection: neither a signal nor an error hides the answer.
TEST(TlsUploadTest, AnEarlyRefusalIsSeenInTheMiddle) {
  const TestTls tls("DNS:localhost");
  std::binary_semaphore answered(0);
  TestServer server({[&](TestPeer& peer) {
                      const Tls session = tls.Accept(peer);
                      if (!session) return;
                      ReadHead(session.get());
                      Write(session.get(), "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
                      answered.release();
                    }},
                    Endpoint::Kind::kTls);
  Endpoint endpoint = server.endpoint();
  endpoint.certificates = tls.file();
  Client client(endpoint);
  const auto feed = [&, first = true]() mutable -> base::Result<std::string> {
    if (std::exchange(first, false)) {
      answered.acquire();
      std::this_thread::sleep_for(50ms);  // until the connection is closed
    }
    return std::string(100'000, 'x');
  };
  auto answer = client.Send({.method = "PUT", .target = "/", .feed = feed}, Soon());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status(), 413);
  EXPECT_EQ(answer->ReadAll(10, Soon()), "big");
}

TEST(TlsUploadTest, ALargeBodyArrives) {
  const TestTls tls("DNS:localhost");
  constexpr std::size_t kSize = 5'000'000;
  std::string received;
  TestServer server({[&](TestPeer& peer) {
                      const Tls session = tls.Accept(peer);
                      if (!session) return;
                      ReadHead(session.get());
                      while (received.size() < kSize) {
                        const std::string piece = Read(session.get());
                        if (piece.empty()) return;
                        received += piece;
                      }
                      Write(session.get(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }},
                    Endpoint::Kind::kTls);
  Endpoint endpoint = server.endpoint();
  endpoint.certificates = tls.file();
  Client client(endpoint);
  std::string body(kSize, '\0');
  for (std::size_t i = 0; i < kSize; ++i) body[i] = static_cast<char>(i * 31 / 7);
  auto answer = client.Send({.method = "PUT", .target = "/", .body = body}, Soon());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->ReadAll(10, Soon()), "ok");
  EXPECT_TRUE(received == body);
}

// An attacker who can cut a connection could otherwise shorten an answer.
TEST(TlsUploadTest, AnAnswerWithoutALengthThatIsCutIsAnError) {
  const TestTls tls("DNS:localhost");
  TestServer server({[&](TestPeer& peer) {
                      const Tls session = tls.Accept(peer);
                      if (!session) return;
                      ReadHead(session.get());
                      Write(session.get(), "HTTP/1.1 200 OK\r\n\r\nhalf of it");
                    }},
                    Endpoint::Kind::kTls);
  Endpoint endpoint = server.endpoint();
  endpoint.certificates = tls.file();
  Client client(endpoint);
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  const auto body = answer->ReadAll(100, Soon());
  ASSERT_FALSE(body.has_value());
  EXPECT_EQ(body.error().code, base::Code::kUnavailable);
}

TEST(TlsHandshakeTest, HasADeadline) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }}, Endpoint::Kind::kTls);
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, base::Deadline::After(50ms));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
}

}  // namespace
}  // namespace skerry::net
