// OutgoingRequest and WebSocketRequest: what a client asks a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace skerry::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

// How often a request is sent again after a failure that may pass: no server listens, the connection was lost, or the
// status is 429, 502, 503 or 504.
struct Retry {
  int attempts = 1;  // in all: 1 is no retry
  // Which requests are sent again that the server may have received: those whose methods are idempotent (GET, HEAD,
  // OPTIONS, PUT, DELETE), or all, where the sender knows that doing it twice does no harm.
  enum class Which { kIdempotent, kAll };
  Which which = Which::kIdempotent;
  std::chrono::milliseconds pause{100};  // before the second attempt; doubles from one to the next
  // A server may ask for a longer pause (Retry-After), up to this one; if it asks for more, its answer is the result.
  std::chrono::milliseconds longest_pause{5'000};
};

struct OutgoingRequest {
  std::string method = "GET";
  std::string target;  // escaped, with its query
  Headers headers;     // besides Host and those that say how long the body is
  std::string body;
  // In place of `body`: called for the next piece until it gives "". Sent in chunks unless `feed_size` is given.
  std::function<base::Result<std::string>()> feed;
  std::optional<std::uint64_t> feed_size;
  Retry retry;  // not with `feed`
};

struct WebSocketRequest {
  std::string target;                     // escaped, with its query
  Headers headers;                        // besides those of the handshake
  std::vector<std::string> subprotocols;  // that the client speaks, the best first
};

}  // namespace skerry::net
