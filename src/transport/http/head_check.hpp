// The checks of a request's head before its caller is identified: it is for this host, and from no foreign page. Pure.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

// A request's target, split. 400 for anything but "/path?query" and "http://host/path?query", with https too.
struct Target {
  std::optional<std::string> authority;
  std::string path;
  std::string query;
};
std::expected<Target, Refusal> ParseTarget(std::string_view target);

// The name in "Name:80", "[::1]:80", in lower case; IPv6 addresses keep their brackets. Nothing when the text names no
// host: bad letters, a bad port, a dot at the end.
std::optional<std::string> HostNameOf(std::string_view authority);

struct HeadRules {
  std::vector<std::string> hosts;    // in lower case
  std::vector<std::string> origins;  // in lower case
};
// What the mount of a request allows in addition.
struct MountRules {
  bool by_host = false;  // the mount names this host
  Origins origins = Origins::kListed;
};
// Checks the host and the origin. The host, because a web page whose own name points to this machine sends that name
// (DNS rebinding); the origin, because a page can also ask under the right name. `local` are the names of the socket.
// 400 and 403.
std::optional<Refusal> CheckHead(const RequestHead& head, Version version, const HeadRules& rules,
                                 std::span<const std::string> local, const MountRules& mount = {});

}  // namespace skerry::transport::http
