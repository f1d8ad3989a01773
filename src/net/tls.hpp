// TlsContext and TlsSession: the client's side of TLS, by OpenSSL, over a socket that does not block.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <openssl/types.h>

#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "net/progress.hpp"

namespace skerry::net {

// The certificates of an endpoint, read from their files. One for all connections; thread-safe.
class TlsContext {
 public:
  // kInvalidArgument when a file of the endpoint cannot be used.
  static base::Result<std::shared_ptr<const TlsContext>> Make(const Endpoint& endpoint);
  [[nodiscard]] SSL_CTX* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const;
  };
  using Handle = std::unique_ptr<SSL_CTX, Free>;
  explicit TlsContext(Handle context) : context_(std::move(context)) {}
  Handle context_;
};

// The socket that OpenSSL reads from and writes to.
struct TlsSocketEnd {
  int fd = -1;
  int write_error = 0;  // errno of a write that failed for good
};

// The TLS of one connection. For one thread at a time.
class TlsSession {
 public:
  // Borrows `fd`.
  static base::Result<std::unique_ptr<TlsSession>> Make(const TlsContext& context, const Endpoint& endpoint, int fd);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  // kMoved when the server has proved to be the endpoint's host.
  Progress Handshake();
  Progress Read(std::span<char> into);
  // After kWantsWrite the next call must begin with the same bytes.
  Progress Write(std::string_view bytes);
  // Tells the server that nothing more is sent; reading goes on.
  Progress CloseWrite();

 private:
  struct Free {
    void operator()(SSL* session) const;
  };
  explicit TlsSession(int fd) : end_{.fd = fd} {}
  Progress After(int result);

  TlsSocketEnd end_;
  std::unique_ptr<SSL, Free> session_;
};

}  // namespace skerry::net
