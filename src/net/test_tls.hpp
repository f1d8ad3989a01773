// A server's side of TLS for tests, with a certificate that it made itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "net/test_server.hpp"

namespace skerry::net {

template <class T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* pointer) const { kFree(pointer); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using Tls = std::unique_ptr<SSL, Freer<SSL, SSL_free>>;

class TestTls {
 public:
  // Its certificate is for `names`, as in "DNS:localhost".
  explicit TestTls(const char* names);
  TestTls(const TestTls&) = delete;
  TestTls& operator=(const TestTls&) = delete;
  ~TestTls();

  // The certificate and its key, in PEM.
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& key_file() const { return key_file_; }

  // Encrypts the file of the key.
  void LockKey(const std::string& password) const;
  // From now on only those are served who prove themselves by a certificate of this file.
  void DemandCertificateOf(const std::string& file);

  // After the handshake; none when that failed.
  [[nodiscard]] Tls Accept(const TestPeer& peer) const;
  // Answers every request with its path.
  void Serve(TestPeer& peer) const;

 private:
  Key key_;
  Certificate certificate_;
  Context context_;
  std::string file_;
  std::string key_file_;
};

// Of such a connection: up to the end of a head; "" when there is none.
std::string ReadHead(SSL* tls);
// Up to 64 KB; "" at the end.
std::string Read(SSL* tls);
void Write(SSL* tls, std::string_view bytes);

}  // namespace skerry::net
