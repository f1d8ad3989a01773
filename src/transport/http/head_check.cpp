#include "transport/http/head_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kMaxHost = 255;
constexpr std::size_t kMaxPortDigits = 5;
constexpr std::array<std::string_view, 3> kLoopback = {"localhost", "127.0.0.1", "[::1]"};

Refusal Malformed(std::string what) {
  return {.status = 400, .code = "invalid_argument", .message = std::move(what)};
}

Refusal Foreign(std::string what) {
  return {.status = 403, .code = "permission_denied", .message = std::move(what)};
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPortDigits && std::ranges::all_of(text, IsDigit);
}

bool IsName(std::string_view name) {
  return !name.empty() && !name.ends_with('.') && std::ranges::all_of(name, [](char letter) {
    return IsLetterOrDigit(letter) || letter == '.' || letter == '-' || letter == '_';
  });
}

bool IsBracketed(std::string_view name) {
  return name.size() > 2 && std::ranges::all_of(name.substr(1, name.size() - 2), [](char letter) {
           return IsDigit(letter) || (LowerOf(letter) >= 'a' && LowerOf(letter) <= 'f') || letter == ':' ||
                  letter == '.';
         });
}

bool IsAllowedHost(std::string_view name, Transport transport, const HeadRules& rules,
                   std::span<const std::string> local) {
  if (Contains(rules.hosts, name)) return true;
  // No web page reaches a unix socket; its host is what a person wrote into an address.
  if (transport == Transport::kUnix) return name.empty() || name == "localhost" || name == "skerry";
  return Contains(kLoopback, name) || Contains(local, name);
}

// Whether the origin is a page of the host that the request goes to. The scheme is not compared: TLS may end at a proxy
// in front of this server.
bool IsOwnOrigin(std::string_view origin, const RequestHead& head) {
  const std::size_t end = origin.find("://");
  const auto host = head.headers.Find("Host");
  if (end == std::string_view::npos || !host) return false;
  const std::string_view scheme = origin.substr(0, end);
  return (EqualsIgnoringCase(scheme, "http") || EqualsIgnoringCase(scheme, "https")) &&
         EqualsIgnoringCase(origin.substr(end + 3), *host);
}

std::optional<Refusal> CheckHost(const RequestHead& head, Version version, const HeadRules& rules,
                                 std::span<const std::string> local, const MountRules& mount) {
  const std::size_t count = head.headers.Count("Host");
  if (count > 1) return Malformed("more than one Host header");
  if (count == 0) {
    if (version == Version::kHttp11) return Malformed("the Host header is missing");
    return std::nullopt;
  }
  const std::string_view value = *head.headers.Find("Host");
  const bool nameless = value.empty() && head.peer.transport == Transport::kUnix;
  const auto name = nameless ? std::string() : HostNameOf(value);
  if (!name || !(mount.by_host || IsAllowedHost(*name, head.peer.transport, rules, local)))
    return Foreign("this server does not go by the name in the Host header; allow it with a setting if it should");
  return std::nullopt;
}

std::optional<Refusal> CheckTarget(const RequestHead& head) {
  const auto target = ParseTarget(head.target);
  if (!target) return target.error();
  if (!target->authority) return std::nullopt;
  const auto host = head.headers.Find("Host");
  if (!host || !EqualsIgnoringCase(*target->authority, *host))
    return Malformed("the address and the Host header name different hosts");
  return std::nullopt;
}

}  // namespace

std::expected<Target, Refusal> ParseTarget(std::string_view text) {
  Target target;
  const std::size_t scheme = EqualsIgnoringCase(text.substr(0, 7), "http://")    ? 7
                             : EqualsIgnoringCase(text.substr(0, 8), "https://") ? 8
                                                                                 : 0;
  if (scheme > 0) {
    const std::size_t end = std::min(text.find_first_of("/?", scheme), text.size());
    target.authority = text.substr(scheme, end - scheme);
    if (!HostNameOf(*target.authority)) return std::unexpected(Malformed("the address names no host"));
    text.remove_prefix(end);
  } else if (!text.starts_with('/')) {
    return std::unexpected(Malformed("the address is no path"));
  }
  if (text.contains('#')) return std::unexpected(Malformed("the address has a fragment"));
  const std::size_t mark = std::min(text.find('?'), text.size());
  target.path = mark == 0 ? "/" : text.substr(0, mark);
  target.query = text.substr(std::min(mark + 1, text.size()));
  return target;
}

std::optional<std::string> HostNameOf(std::string_view authority) {
  if (authority.size() > kMaxHost) return std::nullopt;
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::size_t colon = std::min(authority.find(':', bracket), authority.size());
  const std::string_view name = authority.substr(0, colon);
  if (colon < authority.size() && !IsPort(authority.substr(colon + 1))) return std::nullopt;
  if (bracket > 0 ? name.size() != bracket + 1 || !IsBracketed(name) : !IsName(name)) return std::nullopt;
  return Lower(name);
}

std::optional<Refusal> CheckHead(const RequestHead& head, Version version, const HeadRules& rules,
                                 std::span<const std::string> local, const MountRules& mount) {
  if (auto refusal = CheckTarget(head)) return refusal;
  if (auto refusal = CheckHost(head, version, rules, local, mount)) return refusal;
  if (head.headers.Count("Origin") > 1) return Malformed("more than one Origin header");
  const auto origin = head.headers.Find("Origin");
  if (!origin || (mount.origins == Origins::kOwnHost && IsOwnOrigin(*origin, head))) return std::nullopt;
  if (!Contains(rules.origins, Lower(*origin))) return Foreign("pages of this origin may not use this server");
  return std::nullopt;
}

}  // namespace skerry::transport::http
