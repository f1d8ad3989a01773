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

// Mode 0600 in a directory of the user's own, which is made (0700). Refused: a directory of somebody else or that
// others may write to, a link, a socket that somebody answers on (kConflict: there is a daemon already), anything there
// that is no socket of this user. A socket that nobody answers on is replaced.
base::Result<ListeningSocket> ListenUnix(const std::string& path);

// "HOST:PORT", "[::1]:8080", ":8080" and "8080" are loopback; port 0 is any. An address that is not loopback needs to
// be written out.
struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
  bool loopback = true;
};
base::Result<TcpAddress> ParseListen(const std::string& text);
base::Result<ListeningSocket> ListenTcp(const TcpAddress& address, std::shared_ptr<const TlsFiles> tls);
// The port that it got.
base::Result<std::uint16_t> PortOf(const ListeningSocket& socket);

// What systemd passed (LISTEN_PID, LISTEN_FDS), under the names that it gave them (LISTEN_FDNAMES); the variables are
// removed. Empty without.
base::Result<std::vector<ListeningSocket>> TakeActivated(const std::shared_ptr<const TlsFiles>& tls);
// "READY=1", "STOPPING=1", "STATUS=…" to NOTIFY_SOCKET; nothing without.
void NotifySystemd(const std::string& state);

// The certificate and key can be read, belong together, and the key is nobody else's to read.
base::Status CheckTls(const TlsFiles& files);

}  // namespace skerry::transport::http
