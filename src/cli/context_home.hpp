// Where a command's contexts are: in a session of the daemon, or with the private daemon.
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
  // The contexts of `session`, which may be any name; without one those of the private daemon: kNotFound when that does
  // not run.
  static base::Result<ContextHome> Find(const Context& context, const std::optional<std::string>& session);
  // The same for a command that may make the context `wanted`: starts the private daemon when it does not run.
  static base::Result<ContextHome> Need(const Context& context, const std::optional<std::string>& session,
                                        const std::string& wanted);

  [[nodiscard]] bool IsPrivate() const { return private_.has_value(); }
  [[nodiscard]] DaemonClient& client() { return private_ ? private_->client() : *served_; }

  // "/v1/sessions/…/contexts" with `behind` after it.
  [[nodiscard]] std::string Target(std::string_view behind = "") const;
  // For answers that are no JSON. A refusal is an error.
  base::Result<net::Incoming> Send(const net::OutgoingRequest& request);

 private:
  explicit ContextHome(PrivateDaemon daemon) : private_(std::move(daemon)), session_(PrivateDaemon::kSession) {}
  ContextHome(DaemonClient daemon, std::string session) : served_(std::move(daemon)), session_(std::move(session)) {}

  std::optional<PrivateDaemon> private_;
  std::optional<DaemonClient> served_;
  std::string session_;
};

}  // namespace skerry::cli
