#include "net/test_tls.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/unique_fd.hpp"

namespace skerry::net {
namespace {

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

std::string TemporaryFile() {
  std::string pattern = std::filesystem::temp_directory_path() / "skerry-client-XXXXXX";
  const base::UniqueFd fd(::mkstemp(pattern.data()));
  return pattern;
}

}  // namespace

TestTls::TestTls(const char* names)
    : key_(EVP_EC_gen("P-256")),
      certificate_(SelfSigned(key_.get(), names)),
      context_(SSL_CTX_new(TLS_server_method())),
      file_(TemporaryFile()),
      key_file_(TemporaryFile()) {
  SSL_CTX_use_certificate(context_.get(), certificate_.get());
  SSL_CTX_use_PrivateKey(context_.get(), key_.get());
  if (std::FILE* file = std::fopen(file_.c_str(), "w")) {
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }
  if (std::FILE* file = std::fopen(key_file_.c_str(), "w")) {
    PEM_write_PrivateKey(file, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
  }
}

TestTls::~TestTls() {
  std::filesystem::remove(file_);
  std::filesystem::remove(key_file_);
}

void TestTls::LockKey(const std::string& password) const {
  if (std::FILE* file = std::fopen(key_file_.c_str(), "w")) {
    PEM_write_PKCS8PrivateKey(file, key_.get(), EVP_aes_256_cbc(), password.data(), static_cast<int>(password.size()),
                              nullptr, nullptr);
    std::fclose(file);
  }
}

void TestTls::DemandCertificateOf(const std::string& file) {
  SSL_CTX_load_verify_file(context_.get(), file.c_str());
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

Tls TestTls::Accept(const TestPeer& peer) const {
  Tls tls(SSL_new(context_.get()));
  SSL_set_fd(tls.get(), peer.fd());
  if (SSL_accept(tls.get()) != 1) return nullptr;
  return tls;
}

void TestTls::Serve(TestPeer& peer) const {
  const Tls tls = Accept(peer);
  if (!tls) return;
  for (;;) {
    const std::string head = ReadHead(tls.get());
    if (head.empty()) return;
    const std::string path = head.substr(4, head.find(' ', 4) - 4);
    Write(tls.get(), "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path);
  }
}

// Byte by byte: what follows the head stays in the session.
std::string ReadHead(SSL* tls) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char byte = 0;
    if (SSL_read(tls, &byte, 1) != 1) return {};
    head += byte;
  }
  return head;
}

std::string Read(SSL* tls) {
  std::string bytes(std::size_t{64} << 10U, '\0');
  const int size = SSL_read(tls, bytes.data(), static_cast<int>(bytes.size()));
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

void Write(SSL* tls, std::string_view bytes) {
  SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace skerry::net
