// OutgoingRequest and WebSocketRequest: what a client asks a server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace skerry::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct OutgoingRequest {
  std::string method = "GET";
  std::string target;  // escaped, with its query
  Headers headers;     // besides Host and those that say how long the body is
  std::string body;
  // In place of `body`: called for the next piece until it gives "". Sent in chunks unless `feed_size` is given.
  std::function<base::Result<std::string>()> feed;
  std::optional<std::uint64_t> feed_size;
};

struct WebSocketRequest {
  std::string target;                     // escaped, with its query
  Headers headers;                        // besides those of the handshake
  std::vector<std::string> subprotocols;  // that the client speaks, the best first
};

}  // namespace skerry::net
