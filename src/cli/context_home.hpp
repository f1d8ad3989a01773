// Where the contexts are that a command is about: in a session of the daemon, or with the private daemon.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/private_daemon.hpp"

namespace skerry::cli {

class ContextHome {
 public:
  // Those of `session`, which may be any name; without one those of the private daemon: kNotFound when that is not
  // there.
  static base::Result<ContextHome> Find(const Context& context, const std::optional<std::string>& session);
  // The same for somebody who may make `wanted`: the private daemon is started when it is not there.
  static base::Result<ContextHome> Need(const Context& context, const std::optional<std::string>& session,
                                        const std::string& wanted);

  [[nodiscard]] bool IsPrivate() const { return private_.has_value(); }
  [[nodiscard]] DaemonClient& client() { return private_ ? private_->client() : *served_; }

  // "/v1/sessions/…/contexts" with `behind` behind it.
  [[nodiscard]] std::string Target(std::string_view behind = "") const;
  // For answers that are no JSON. An answer that refuses is an error.
  base::Result<net::Incoming> Send(net::OutgoingRequest request);

 private:
  explicit ContextHome(PrivateDaemon daemon) : private_(std::move(daemon)), session_(PrivateDaemon::kSession) {}
  ContextHome(DaemonClient daemon, std::string session) : served_(std::move(daemon)), session_(std::move(session)) {}

  std::optional<PrivateDaemon> private_;
  std::optional<DaemonClient> served_;
  std::string session_;
};

}  // namespace skerry::cli
