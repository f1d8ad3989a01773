// The daemon: a host, the server before it, their beginning and their end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/backend_registry.hpp"
#include "engine/host.hpp"
#include "transport/http/server.hpp"
#include "transport/kit/token_authenticator.hpp"
#include "watch/announcer.hpp"
#include "watch/logger.hpp"
#include "watch/span_exporter.hpp"

namespace skerry::transport::daemon {

// A daemon that a client has started, and that ends when no client needs it.
struct OnDemand {
  base::UniqueFd listener;           // a unix socket, in place of those of the options
  std::string session;               // the only one that is there at its start
  std::chrono::seconds idle;         // without a context and a connection, after which it ends
  std::function<bool()> reachable;   // whether clients still find it; it ends when they do not
  std::function<bool()> hide;        // from now on nobody finds it; false when that is not to be had now
  std::function<void()> show_again;  // a client had connected before it was hidden
};

struct DaemonOptions {
  std::string socket;  // absolute
  std::string listen;  // "" for no TCP
  std::optional<http::TlsFiles> tls;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  http::Limits limits;
  kit::TokenDefaults tokens;
  engine::AnalysesOptions analyses;
  std::chrono::seconds drain{3};
  std::string version;
  engine::HostOptions host;
  engine::ManagerOptions manager;
  watch::LoggerOptions log;
  std::optional<watch::AnnouncerOptions> webhook;
  std::optional<watch::SpanExporterOptions> spans;
  engine::CodeBodies code = engine::CodeBodies::kLeftOut;
  std::optional<OnDemand> on_demand;
};

// How long an end takes at most: requests that have begun get the drain time; then runs are ended and their clients
// told; then all connections are closed, which asks handlers to stop. When this time is over the process ends, whatever
// a handler does.
std::chrono::milliseconds LongestEnd(std::chrono::seconds drain);

// Serves until `stop_fd` is readable or the daemon, made on demand, leaves; then ends requests and runs. Sockets that
// systemd passed replace those of the options.
base::Status Serve(const core::BackendRegistry& backends, DaemonOptions options, int stop_fd);

}  // namespace skerry::transport::daemon
