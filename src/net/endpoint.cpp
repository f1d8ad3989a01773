#include "net/endpoint.hpp"

#include <sys/un.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"

namespace skerry::net {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::size_t kMaxHost = 253;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::unexpected<base::Error> Wrong(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, "the address of a server " + what);
}

base::Result<Endpoint> ParseUnix(std::string_view path) {
  // "unix:///run/x" is how others write it.
  while (path.starts_with("//")) path.remove_prefix(1);
  if (!path.starts_with('/')) return Wrong("after unix: is an absolute path");
  if (path.size() >= sizeof(sockaddr_un::sun_path) || path.contains('\0'))
    return Wrong("is too long for a socket: " + base::Printable(base::Excerpt(path)));
  return Endpoint{.kind = Endpoint::Kind::kUnix, .path = std::string(path)};
}

bool IsHost(std::string_view host, std::string_view besides) {
  return !host.empty() && host.size() <= kMaxHost &&
         std::ranges::all_of(host, [&](char c) { return IsLetterOrDigit(c) || besides.contains(c); });
}

base::Result<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return Wrong("has a port from 1 to 65535");
  return port;
}

// "host", "host:1" or "[::1]:1": the host without its brackets, and what stands behind it.
base::Result<std::pair<std::string, std::string_view>> SplitHost(std::string_view text) {
  const bool literal = text.starts_with('[');
  const std::size_t end = literal ? text.find(']') : text.find(':');
  if (literal && end == std::string_view::npos) return Wrong("has a bracket that is not closed");
  const std::string_view host = literal ? text.substr(1, end - 1) : text.substr(0, end);
  if (!IsHost(host, literal ? ":." : "-._")) return Wrong("has no host: " + base::Printable(base::Excerpt(text)));
  std::string_view rest = end == std::string_view::npos ? std::string_view() : text.substr(end + (literal ? 1 : 0));
  return std::pair(std::string(host), rest);
}

base::Result<Endpoint> ParseAuthority(std::string_view text, Endpoint::Kind kind) {
  // Not repeated in the message: it may be a secret.
  if (text.contains('@')) return Wrong("has no user and no password; a token is given on its own");
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find_first_of("/?#") != std::string_view::npos) return Wrong("has nothing behind the port");
  SKERRY_ASSIGN_OR_RETURN(const auto parts, SplitHost(text));
  Endpoint endpoint{.kind = kind, .host = parts.first, .port = kHttpsPort};
  if (parts.second.empty() && kind == Endpoint::Kind::kPlain) return Wrong("needs a port after http://host");
  if (parts.second.empty()) return endpoint;
  if (!parts.second.starts_with(':')) return Wrong("has nothing but a port behind its host");
  SKERRY_ASSIGN_OR_RETURN(endpoint.port, ParsePort(parts.second.substr(1)));
  return endpoint;
}

}  // namespace

base::Result<Endpoint> Endpoint::Parse(const std::string& url) {
  const std::string_view text = url;
  if (text.starts_with(kUnix)) return ParseUnix(text.substr(kUnix.size()));
  if (text.starts_with(kHttp)) return ParseAuthority(text.substr(kHttp.size()), Kind::kPlain);
  if (text.starts_with(kHttps)) return ParseAuthority(text.substr(kHttps.size()), Kind::kTls);
  return Wrong("is unix:/path, http://host:port or https://host[:port]");
}

std::string Endpoint::Describe() const {
  if (kind == Kind::kUnix) return std::string(kUnix) + base::Printable(path);
  const std::string name = host.contains(':') ? "[" + host + "]" : host;
  return std::string(kind == Kind::kTls ? kHttps : kHttp) + name + ":" + std::to_string(port);
}

std::string Escape(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (IsLetterOrDigit(c) || std::string_view("-._~").contains(c)) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    escaped += '%';
    escaped += kDigits[byte >> 4U];
    escaped += kDigits[byte & 15U];
  }
  return escaped;
}

}  // namespace skerry::net
