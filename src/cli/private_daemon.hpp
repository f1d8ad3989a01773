// The private daemon: a Skerry daemon of this user's command line, started when a context is needed and ended when
// none is. It has a socket, a record and files of its own, and knows nothing of a daemon that the user serves.
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
  // Of all contexts; each has a sandbox and files of its own.
  static constexpr char kSession[] = "command-line";

  // The one that listens. kNotFound when none does.
  static base::Result<PrivateDaemon> Find();
  // The same, and starts it in the background, in a session of its own, when none listens: one, however many ask at
  // once. kConflict when it is another build of skerry. One that has another configuration than this command is
  // replaced when it has no contexts. Otherwise a note says so, unless `wanted` is one of them: what holds for a
  // context is the configuration under which it was made.
  static base::Result<PrivateDaemon> Need(const Context& context, const std::string& wanted);

  [[nodiscard]] DaemonClient& client() { return client_; }
  // Asks it to end, and waits until it has.
  base::Status Stop();

 private:
  explicit PrivateDaemon(PrivatePlace place);

  PrivatePlace place_;
  DaemonClient client_;
};

// What a client is told when the daemon ended before it had answered.
base::Error PrivateDaemonEnded();

// For skerry serve: a private daemon's side of the place.
class PrivateDoor {
 public:
  // Of the process that a client has started; an error in any other. Waits until an earlier daemon has ended.
  static base::Result<PrivateDoor> Take();

  [[nodiscard]] const std::string& state() const { return place_.state(); }
  [[nodiscard]] base::UniqueFd TakeListener() { return std::move(listener_); }
  [[nodiscard]] bool IsReachable() const { return place_.Socket() == socket_; }
  // Nobody finds the socket any more, and nobody starts another daemon until this one has ended. False while a client
  // is at the place.
  bool Hide();
  // They find it again.
  void Show();
  // At the end: removes what is hidden.
  void Leave();

 private:
  PrivateDoor(PrivatePlace place, base::UniqueFd listener, base::UniqueFd life)
      : life_(std::move(life)), place_(std::move(place)), listener_(std::move(listener)), socket_(place_.Socket()) {}

  base::UniqueFd life_;
  PrivatePlace place_;
  base::UniqueFd listener_;
  unsigned long socket_;  // ours, in the place
  base::UniqueFd lock_;   // of the place, while the socket is hidden
};

}  // namespace skerry::cli
