// What a request looks like on the wire.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "net/client.hpp"

namespace skerry::net {

// How its body is sent.
enum class Framing { kNone, kLength, kChunks };
Framing FramingOf(const OutgoingRequest& request);

// kInvalidArgument for what would be more than one request: line ends, blanks in the target, names that are none.
base::Status CheckRequest(const Endpoint& endpoint, const OutgoingRequest& request);

// The request line and the headers, with the empty line.
std::string HeadOf(const Endpoint& endpoint, const OutgoingRequest& request);

// What every request has: User-Agent, and Authorization where there is a token.
std::vector<std::pair<std::string, std::string>> CommonHeaders(const Endpoint& endpoint);
// For `Host`.
std::string HostOf(const Endpoint& endpoint);

// A piece of the body as a chunk.
std::string ChunkOf(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace skerry::net
