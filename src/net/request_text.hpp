// The text of a request on the wire, and the checks before it is sent.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "net/request.hpp"

namespace skerry::net {

// How its body is sent.
enum class Framing { kNone, kLength, kChunks };
Framing FramingOf(const OutgoingRequest& request);

// kInvalidArgument for text that a server would read as another request: line ends, blanks in the target, names with
// forbidden characters; and for headers that the client sets itself.
base::Status CheckRequest(const Endpoint& endpoint, const OutgoingRequest& request);
base::Status CheckWebSocketRequest(const Endpoint& endpoint, const WebSocketRequest& request);

// The request line and the headers, with the empty line.
std::string HeadOf(const Endpoint& endpoint, const OutgoingRequest& request);

// What every request has: User-Agent, and Authorization where there is a token.
Headers CommonHeaders(const Endpoint& endpoint);
// For `Host`.
std::string HostOf(const Endpoint& endpoint);

// A piece of the body as a chunk.
std::string ChunkOf(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace skerry::net
