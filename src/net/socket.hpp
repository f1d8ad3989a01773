// Socket: a connected socket, plain or with TLS, whose reads and writes do not wait.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "net/endpoint.hpp"
#include "net/patience.hpp"
#include "net/progress.hpp"
#include "net/tls.hpp"

namespace skerry::net {

// One thread may read while another writes.
class Socket {
 public:
  // Connects, and with `tls` does the handshake. kUnavailable when no server listens, or its certificate does not prove
  // it. kTimeout.
  static base::Result<std::unique_ptr<Socket>> Open(const Endpoint& endpoint, const TlsContext* tls,
                                                    Patience& patience);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool HasTls() const { return tls_ != nullptr; }

  // `into` is not empty.
  Progress TryRead(std::span<char> into);
  // After kWantsRead and kWantsWrite the next call must begin with the same bytes. `bytes` is not empty. Never raises
  // SIGPIPE.
  Progress TryWrite(std::string_view bytes);
  // Tells the server that nothing more is sent; reading goes on.
  Progress TryCloseWrite();

  // Ends both directions, and wakes the threads that wait; by any thread.
  void Shutdown() const;

  // After a `progress` that wants to wait: waits for the descriptor to be ready for it, or for one of poll's events
  // `besides`. False when the patience is over.
  [[nodiscard]] bool Await(const Progress& progress, Patience& patience, short besides = 0) const;

 private:
  explicit Socket(base::UniqueFd fd) : fd_(std::move(fd)) {}
  base::Status StartTls(const Endpoint& endpoint, const TlsContext& context, Patience& patience);

  base::UniqueFd fd_;
  mutable std::mutex mutex_;  // of tls_
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace skerry::net
