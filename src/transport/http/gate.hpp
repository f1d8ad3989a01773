// Gate: everything that is decided about a request before its body is read.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/http/head_check.hpp"
#include "transport/http/rate_limiter.hpp"
#include "transport/http/router.hpp"
#include "transport/http/server.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

// One request on its way.
struct Exchange {
  Request request;
  Framing framing{.keep_alive = false};
  Version version = Version::kHttp11;
  std::string path;                  // as it came, for logs
  std::string traceparent;           // for the answer
  const Dialect* dialect = nullptr;  // never null after Read
  const Route* route = nullptr;      // not null once admitted
  std::uint64_t max_body = 0;
  std::chrono::steady_clock::time_point begun;
};

// For one thread. Borrows the options.
class Gate {
 public:
  explicit Gate(const ServerOptions& options);

  // From the bytes of a head. What is refused has an id and a dialect too.
  std::optional<Refusal> Read(std::string_view head, Exchange& exchange) const;
  // In this order: host and origin, who asks, what there is, whether they may, how often, how large. `local`: see
  // CheckHead.
  std::optional<Refusal> Admit(Exchange& exchange, std::span<const std::string> local);

 private:
  [[nodiscard]] const Dialect& DialectOf(const RequestHead& head) const;
  [[nodiscard]] std::optional<Refusal> Authenticate(Exchange& exchange) const;
  [[nodiscard]] std::optional<Refusal> FindRoute(Exchange& exchange) const;
  static std::optional<Refusal> CheckMedia(const Exchange& exchange);
  [[nodiscard]] std::optional<Refusal> CheckLength(Exchange& exchange) const;

  const ServerOptions& options_;
  HeadRules rules_;
  std::vector<Router> routers_;  // one for each dialect
  RateLimiter limiter_;
};

}  // namespace skerry::transport::http
