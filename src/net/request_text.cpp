#include "net/request_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace skerry::net {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Of names and methods: RFC 9110's tokens.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.contains(c);
  });
}

bool IsTarget(std::string_view text) {
  return text.starts_with('/') && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; });
}

bool IsValue(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7FU) || c == '\t';
  });
}

void AddHeader(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append(kLineEnd);
}

std::unexpected<base::Error> Wrong(const char* what) {
  return base::Err(base::Code::kInvalidArgument, what);
}

base::Status CheckTarget(const Endpoint& endpoint, const std::string& target) {
  if (!IsTarget(target)) return Wrong("the target of a request is a path with its escapes");
  if (!IsValue(endpoint.token)) return Wrong("a token has no control characters");
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

template <class IsOurs>
base::Status CheckHeaders(const Headers& headers, const IsOurs& is_ours) {
  for (const auto& [name, value] : headers) {
    if (!IsToken(name) || !IsValue(value)) return Wrong("a header has a name, and no control characters in its value");
    if (is_ours(Lower(name))) return Wrong("this header is set by the client itself");
  }
  return {};
}

}  // namespace

Framing FramingOf(const OutgoingRequest& request) {
  if (request.feed) return request.feed_size ? Framing::kLength : Framing::kChunks;
  const bool has_one = !request.body.empty() || (request.method != "GET" && request.method != "HEAD");
  return has_one ? Framing::kLength : Framing::kNone;
}

base::Status CheckRequest(const Endpoint& endpoint, const OutgoingRequest& request) {
  if (!IsToken(request.method)) return Wrong("this is no method of HTTP");
  if (request.feed && request.retry.attempts > 1) return Wrong("a body that is fed cannot be sent again");
  SKERRY_RETURN_IF_ERROR(CheckTarget(endpoint, request.target));
  return CheckHeaders(request.headers, [](const std::string& name) {
    return name == "host" || name == "content-length" || name == "transfer-encoding";
  });
}

base::Status CheckWebSocketRequest(const Endpoint& endpoint, const WebSocketRequest& request) {
  SKERRY_RETURN_IF_ERROR(CheckTarget(endpoint, request.target));
  if (!std::ranges::all_of(request.subprotocols, IsToken)) return Wrong("this is no name of a subprotocol");
  return CheckHeaders(request.headers, [](const std::string& name) {
    return name == "host" || name == "connection" || name == "upgrade" || name == "content-length" ||
           name == "transfer-encoding" || name.starts_with("sec-websocket-");
  });
}

std::string HostOf(const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::kUnix) return "localhost";
  return (endpoint.host.contains(':') ? "[" + endpoint.host + "]" : endpoint.host) + ":" +
         std::to_string(endpoint.port);
}

Headers CommonHeaders(const Endpoint& endpoint) {
  Headers headers = {{"User-Agent", "skerry/" SKERRY_VERSION}};
  if (!endpoint.token.empty()) headers.emplace_back("Authorization", "Bearer " + endpoint.token);
  return headers;
}

std::string HeadOf(const Endpoint& endpoint, const OutgoingRequest& request) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
  AddHeader(head, "Host", HostOf(endpoint));
  for (const auto& [name, value] : CommonHeaders(endpoint)) AddHeader(head, name, value);
  for (const auto& [name, value] : request.headers) AddHeader(head, name, value);
  const Framing framing = FramingOf(request);
  if (framing == Framing::kChunks) AddHeader(head, "Transfer-Encoding", "chunked");
  if (framing == Framing::kLength)
    AddHeader(head, "Content-Length", std::to_string(request.feed ? *request.feed_size : request.body.size()));
  return head.append(kLineEnd);
}

std::string ChunkOf(std::string_view piece) {
  constexpr int kHexadecimal = 16;
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), piece.size(), kHexadecimal).ptr;
  std::string chunk(size.data(), end);
  return chunk.append(kLineEnd).append(piece).append(kLineEnd);
}

}  // namespace skerry::net
