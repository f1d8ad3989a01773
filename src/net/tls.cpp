#include "net/tls.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace skerry::net {
namespace {

std::string LastReason() {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  return reason == nullptr ? "unknown reason" : reason;
}

std::unexpected<base::Error> Unusable(const std::string& what, const std::string& file) {
  return base::Err(base::Code::kInvalidArgument, what + " cannot be read from " + file + ": " + LastReason());
}

std::unexpected<base::Error> NoTls() {
  return base::Err(base::Code::kInternal, "TLS cannot be used: " + LastReason());
}

// Without this callback OpenSSL asks for a key's password at the terminal.
int NoPassword(char* /*password*/, int /*size*/, int /*purpose*/, void* /*pointer*/) {
  return -1;
}

base::Status TrustAsTold(SSL_CTX* context, const Endpoint& endpoint) {
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (endpoint.trust == Endpoint::Trust::kSystemToo && ::SSL_CTX_set_default_verify_paths(context) != 1) return NoTls();
  if (endpoint.trust == Endpoint::Trust::kCertificatesOnly && endpoint.certificates.empty())
    return base::Err(base::Code::kInvalidArgument, "there are no certificates to prove the server by");
  if (!endpoint.certificates.empty() && ::SSL_CTX_load_verify_file(context, endpoint.certificates.c_str()) != 1)
    return Unusable("the certificates that prove the server", endpoint.certificates);
  return {};
}

base::Status ProveAsTold(SSL_CTX* context, const Endpoint& endpoint) {
  if (endpoint.own_certificate.empty() && endpoint.own_key.empty()) return {};
  ::SSL_CTX_set_default_passwd_cb(context, NoPassword);
  if (::SSL_CTX_use_certificate_chain_file(context, endpoint.own_certificate.c_str()) != 1)
    return Unusable("the client's certificate", endpoint.own_certificate);
  if (::SSL_CTX_use_PrivateKey_file(context, endpoint.own_key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Unusable("the key of the client's certificate", endpoint.own_key);
  return {};
}

bool IsAddress(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The name or address that the server's certificate must have.
bool Expect(SSL* session, const std::string& host) {
  if (IsAddress(host)) return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
  ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (::SSL_set1_host(session, host.c_str()) != 1) return false;
  // SSL_set_tlsext_host_name without the macro's old-style cast.
  std::string name = host;
  return ::SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

int Clamped(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

std::string Message(int error) {
  return std::generic_category().message(error);
}

// OpenSSL's own sockets raise SIGPIPE.
int SocketRead(BIO* bio, char* bytes, int size) {
  const auto* end = static_cast<const TlsSocketEnd*>(::BIO_get_data(bio));
  ::BIO_clear_retry_flags(bio);
  const ssize_t count = ::recv(end->fd, bytes, static_cast<std::size_t>(size), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

// A write that failed for good is told to OpenSSL as one that would block: OpenSSL would refuse to read from a broken
// session, and what the server said before it closed would be lost.
int SocketWrite(BIO* bio, const char* bytes, int size) {
  auto* end = static_cast<TlsSocketEnd*>(::BIO_get_data(bio));
  ::BIO_clear_retry_flags(bio);
  const ssize_t count = ::send(end->fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<int>(count);
  if (errno != EAGAIN && errno != EINTR) end->write_error = errno;
  ::BIO_set_retry_write(bio);
  return -1;
}

long SocketControl(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    if (method == nullptr) return method;
    ::BIO_meth_set_read(method, SocketRead);
    ::BIO_meth_set_write(method, SocketWrite);
    ::BIO_meth_set_ctrl(method, SocketControl);
    return method;
  }();
  return kMethod;
}

}  // namespace

void TlsContext::Free::operator()(SSL_CTX* context) const {
  ::SSL_CTX_free(context);
}

void TlsSession::Free::operator()(SSL* session) const {
  ::SSL_free(session);
}

base::Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const Endpoint& endpoint) {
  ::ERR_clear_error();
  Handle context(::SSL_CTX_new(::TLS_client_method()));
  if (!context || ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) return NoTls();
  ::SSL_CTX_set_options(context.get(), SSL_OP_ALL | SSL_OP_NO_RENEGOTIATION);
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SKERRY_RETURN_IF_ERROR(TrustAsTold(context.get(), endpoint));
  SKERRY_RETURN_IF_ERROR(ProveAsTold(context.get(), endpoint));
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(context)));
}

base::Result<std::unique_ptr<TlsSession>> TlsSession::Make(const TlsContext& context, const Endpoint& endpoint,
                                                           int fd) {
  ::ERR_clear_error();
  auto made = std::unique_ptr<TlsSession>(new TlsSession(fd));
  BIO_METHOD* method = SocketMethod();
  BIO* bio = method == nullptr ? nullptr : ::BIO_new(method);
  if (bio == nullptr) return NoTls();
  ::BIO_set_data(bio, &made->end_);
  ::BIO_set_init(bio, 1);
  made->session_.reset(::SSL_new(context.get()));
  if (!made->session_) {
    ::BIO_free(bio);
    return NoTls();
  }
  ::SSL_set_bio(made->session_.get(), bio, bio);
  ::SSL_set_connect_state(made->session_.get());
  if (!Expect(made->session_.get(), endpoint.host)) return NoTls();
  return made;
}

Progress TlsSession::After(int result) {
  using Kind = Progress::Kind;
  if (result > 0) return {.kind = Kind::kMoved, .bytes = static_cast<std::size_t>(result)};
  const int saved = errno;
  switch (::SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.kind = Kind::kWantsRead};
    case SSL_ERROR_WANT_WRITE:
      if (end_.write_error != 0) return {.kind = Kind::kBroken, .why = Message(end_.write_error)};
      return {.kind = Kind::kWantsWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {.kind = Kind::kEnd};
    case SSL_ERROR_SYSCALL:
      return {.kind = Kind::kBroken, .why = saved == 0 ? "it ended without a word" : Message(saved)};
    default:
      break;
  }
  const long verdict = ::SSL_get_verify_result(session_.get());
  if (verdict != X509_V_OK) return {.kind = Kind::kBroken, .why = ::X509_verify_cert_error_string(verdict)};
  return {.kind = Kind::kBroken, .why = LastReason()};
}

Progress TlsSession::Handshake() {
  ::ERR_clear_error();
  errno = 0;
  return After(::SSL_do_handshake(session_.get()));
}

Progress TlsSession::Read(std::span<char> into) {
  ::ERR_clear_error();
  errno = 0;
  return After(::SSL_read(session_.get(), into.data(), Clamped(into.size())));
}

Progress TlsSession::Write(std::string_view bytes) {
  ::ERR_clear_error();
  errno = 0;
  return After(::SSL_write(session_.get(), bytes.data(), Clamped(bytes.size())));
}

Progress TlsSession::CloseWrite() {
  ::ERR_clear_error();
  errno = 0;
  const int result = ::SSL_shutdown(session_.get());
  // 0: the server was told; its own end of the session is read later.
  return result == 0 ? Progress{.kind = Progress::Kind::kMoved} : After(result);
}

}  // namespace skerry::net
