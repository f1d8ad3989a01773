// The sockets that a daemon listens on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/http/server.hpp"

namespace skerry::transport::http {

// A socket of mode 0600 in a directory of the user's own, which is made (0700). Refused: a directory of another user or
// that others may write to, a link, a socket that a process answers on (kConflict: there is a daemon already), any file
// there that is no socket of this user. A socket that no process answers on is replaced.
base::Result<ListeningSocket> ListenUnix(const std::string& path);

// "HOST:PORT", "[::1]:8080"; ":8080" and "8080" are loopback; port 0 is any free one. An address that is not loopback
// has to be written out.
struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
  bool loopback = true;
};
base::Result<TcpAddress> ParseListen(const std::string& text);
base::Result<ListeningSocket> ListenTcp(const TcpAddress& address, std::shared_ptr<const TlsFiles> tls);
// The port that the socket got.
base::Result<std::uint16_t> PortOf(const ListeningSocket& socket);

// The sockets that systemd passed (LISTEN_PID, LISTEN_FDS), under the names that it gave them (LISTEN_FDNAMES); the
// variables are removed. Empty when systemd passed none.
base::Result<std::vector<ListeningSocket>> TakeActivated(const std::shared_ptr<const TlsFiles>& tls);
// Sends "READY=1", "STOPPING=1", "STATUS=…" to NOTIFY_SOCKET; does nothing when that is not set.
void NotifySystemd(const std::string& state);

// Checks that certificate and key can be read and belong together, and that no other user can read the key.
base::Status CheckTls(const TlsFiles& files);

}  // namespace skerry::transport::http
