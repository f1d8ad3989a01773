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

}  // namespace

TestTls::TestTls(const char* names)
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

TestTls::~TestTls() {
  std::filesystem::remove(file_);
}

void TestTls::Serve(TestPeer& peer) const {
  const Tls tls(SSL_new(context_.get()));
  SSL_set_fd(tls.get(), peer.fd());
  if (SSL_accept(tls.get()) != 1) return;
  std::string head(4096, '\0');
  for (;;) {
    const int size = SSL_read(tls.get(), head.data(), static_cast<int>(head.size()));
    if (size <= 0) return;
    const std::string path = head.substr(4, head.find(' ', 4) - 4);
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path;
    SSL_write(tls.get(), answer.data(), static_cast<int>(answer.size()));
  }
}

}  // namespace skerry::net
