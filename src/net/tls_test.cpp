// TLS: who is trusted, and that everything else is as without it.
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

TEST(TlsHandshakeTest, HasADeadline) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }}, Endpoint::Kind::kTls);
  Client client(server.endpoint());
  const auto answer = client.Send({.target = "/"}, base::Deadline::After(50ms));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kTimeout);
}

}  // namespace
}  // namespace skerry::net
