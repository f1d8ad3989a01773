// EventFeed: the daemon's events as they happen, over a connection that may be lost now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "cli/daemon_client.hpp"

namespace skerry::cli {

class EventFeed {
 public:
  // For one session, or for all; `types` as the contract has it. Does not connect yet.
  EventFeed(const DaemonClient& daemon, std::optional<std::string> session, std::string types)
      : daemon_(daemon.Again()), session_(std::move(session)), types_(std::move(types)) {}

  // Connects, and continues after the last event that came.
  base::Status Open();
  [[nodiscard]] bool IsOpen() const { return socket_.has_value(); }
  // For poll; -1 while the feed is not open.
  [[nodiscard]] int fd() const { return socket_ ? socket_->fd() : -1; }
  [[nodiscard]] bool HasBuffered() const { return socket_ && socket_->HasBuffered(); }

  // The next event or notice; nothing when none comes until the deadline. After an error the feed is not open any more.
  base::Result<std::optional<nlohmann::ordered_json>> Next(base::Deadline deadline);
  void Close() { socket_.reset(); }
  // Whether events have come, so that none is missed after a reconnection.
  [[nodiscard]] bool KnowsItsPlace() const { return last_.has_value(); }

 private:
  base::Result<std::optional<nlohmann::ordered_json>> Lose(base::Error error);

  DaemonClient daemon_;
  std::optional<std::string> session_;
  std::string types_;
  std::optional<std::uint64_t> last_;
  std::optional<net::WebSocket> socket_;
};

// Whether a retry makes sense.
bool MayPass(const base::Error& error);

}  // namespace skerry::cli
