// The private daemon: a Skerry daemon of this user's command line, started when a context is needed and ended when
// there is none. It has a socket, a record and files of its own, and is independent of a daemon that the user serves.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/private_place.hpp"

namespace skerry::cli {

class PrivateDaemon {
 public:
  // The session of all contexts; each context has a sandbox and files of its own.
  static constexpr char kSession[] = "command-line";

  // The daemon that listens. kNotFound when none does.
  static base::Result<PrivateDaemon> Find();
  // The same, but starts a daemon in the background, in a process session of its own, when none listens: one, however
  // many commands ask at once. kConflict when the daemon is another build of skerry. A daemon with another
  // configuration than this command is replaced when it has no contexts. Otherwise a note says so, unless `wanted` is
  // one of its contexts: a context keeps the configuration under which it was made.
  static base::Result<PrivateDaemon> Need(const Context& context, const std::string& wanted);

  [[nodiscard]] DaemonClient& client() { return client_; }
  // Asks the daemon to end, and waits until it has.
  base::Status Stop();

 private:
  explicit PrivateDaemon(PrivatePlace place);

  PrivatePlace place_;
  DaemonClient client_;
};

// The error for a client when the daemon ended before it had answered.
base::Error PrivateDaemonEnded();

// For skerry serve: a private daemon's side of the place.
class PrivateDoor {
 public:
  // For the process that a client has started; an error in any other. Waits until an earlier daemon has ended.
  static base::Result<PrivateDoor> Take();

  [[nodiscard]] const std::string& state() const { return place_.state(); }
  [[nodiscard]] base::UniqueFd TakeListener() { return std::move(listener_); }
  [[nodiscard]] bool IsReachable() const { return place_.Socket() == socket_; }
  // Clients do not find the socket any more, and start no other daemon until this one has ended. False while a client
  // holds the lock of the place.
  bool Hide();
  // Clients find the socket again.
  void Show();
  // At the end: removes the hidden socket.
  void Leave();

 private:
  PrivateDoor(PrivatePlace place, base::UniqueFd listener, base::UniqueFd life)
      : life_(std::move(life)), place_(std::move(place)), listener_(std::move(listener)), socket_(place_.Socket()) {}

  base::UniqueFd life_;
  PrivatePlace place_;
  base::UniqueFd listener_;
  unsigned long socket_;  // number of this daemon's socket
  base::UniqueFd lock_;   // the lock of the place, while the socket is hidden
};

}  // namespace skerry::cli
