// TLS: who is trusted, and that everything else is as without it.
#include <cstdio>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "transport/client/client.hpp"
#include "transport/client/poster.hpp"
#include "transport/client/test_server.hpp"

namespace skerry::transport::client {
namespace {

using namespace std::chrono_literals;

template <class T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* pointer) const { kFree(pointer); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using Tls = std::unique_ptr<SSL, Freer<SSL, SSL_free>>;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

Certificate SelfSigned(EVP_PKEY* key, const char* names) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  const std::basic_string_view<unsigned char> name(reinterpret_cast<const unsigned char*>("test"), 4);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC, name.data(),
                             static_cast<int>(name.size()), -1, 0);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

// A server's side of TLS, with a certificate of its own for `names`.
class TestTls {
 public:
  explicit TestTls(const char* names)
      : key_(EVP_EC_gen("P-256")),
        certificate_(SelfSigned(key_.get(), names)),
        context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    std::string pattern = std::filesystem::temp_directory_path() / "skerry-client-XXXXXX";
    const base::UniqueFd fd(::mkstemp(pattern.data()));
    file_ = pattern;
    if (std::FILE* file = std::fopen(file_.c_str(), "w")) {
      PEM_write_X509(file, certificate_.get());
      std::fclose(file);
    }
  }
  TestTls(const TestTls&) = delete;
  TestTls& operator=(const TestTls&) = delete;
  ~TestTls() { std::filesystem::remove(file_); }

  [[nodiscard]] const std::string& file() const { return file_; }

  // Answers every request with its path.
  void Serve(TestPeer& peer) const {
    const Tls tls(SSL_new(context_.get()));
    SSL_set_fd(tls.get(), peer.fd());
    if (SSL_accept(tls.get()) != 1) return;
    std::string head(4096, '\0');
    for (;;) {
      const int size = SSL_read(tls.get(), head.data(), static_cast<int>(head.size()));
      if (size <= 0) return;
      const std::string path = head.substr(4, head.find(' ', 4) - 4);
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path;
      SSL_write(tls.get(), answer.data(), static_cast<int>(answer.size()));
    }
  }

 private:
  Key key_;
  Certificate certificate_;
  Context context_;
  std::string file_;
};

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

TEST_F(TlsTest, APosterSendsToWhomTheCertificatesName) {
  const std::string url = server_.endpoint().Describe() + "/hook";
  EXPECT_EQ(MakePoster(tls_.file())({.url = url, .body = "{}"}), 200);
}

TEST_F(TlsTest, APosterSendsNothingToAStranger) {
  const auto answer = MakePoster()({.url = server_.endpoint().Describe()});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
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
}  // namespace skerry::transport::client
