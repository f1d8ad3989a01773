// Entrance: everything that is decided about a request before its body is read.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/http/head_check.hpp"
#include "transport/http/mount_table.hpp"
#include "transport/http/rate_limiter.hpp"
#include "transport/http/router.hpp"
#include "transport/http/server.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

// One request and what is known of it.
struct Exchange {
  Request request;
  Framing framing{.keep_alive = false};
  Version version = Version::kHttp11;
  std::string path;         // as it came, for logs
  std::string traceparent;  // for the answer
  MountTable::Found mount;
  std::optional<Refusal> bad_query;  // refuses an unreadable query, unless the request is for a program
  const Dialect* dialect = nullptr;  // null: no dialect is mounted there, or the dialect is not known yet
  const Route* route = nullptr;      // not null once admitted
  std::uint64_t max_body = 0;
  std::chrono::steady_clock::time_point begun;
};

// For one thread. Borrows the options; `mounts` is made from their dialects.
class Entrance {
 public:
  Entrance(const ServerOptions& options, MountTable mounts);

  // Reads the bytes of a head. The peer of the request must be set.
  std::optional<Refusal> Read(std::string_view head, Exchange& exchange) const;
  // Checks in this order: host and origin, the query, the caller, the route, the caller's scopes, the rate, the size of
  // the body. `local`: see CheckHead.
  std::optional<Refusal> Admit(Exchange& exchange, std::span<const std::string> local);

 private:
  std::optional<Refusal> FindDialect(Exchange& exchange) const;
  [[nodiscard]] std::optional<Refusal> Authenticate(Exchange& exchange, const Route* route) const;
  [[nodiscard]] Router::Match FindRoute(const Exchange& exchange) const;
  static std::optional<Refusal> TakeRoute(Exchange& exchange, Router::Match match);
  [[nodiscard]] std::uint64_t MostOf(BodyRule rule) const;
  static std::optional<Refusal> CheckMedia(const Exchange& exchange);
  [[nodiscard]] std::optional<Refusal> CheckLength(Exchange& exchange) const;

  const ServerOptions& options_;
  HeadRules rules_;
  MountTable mounts_;
  std::vector<Router> routers_;  // one for each dialect
  RateLimiter limiter_;
};

}  // namespace skerry::transport::http
