// MountTable: which of a server's dialects a request is for. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "transport/http/dialect.hpp"
#include "transport/http/host_pattern.hpp"

namespace skerry::transport::http {

class MountTable {
 public:
  // kInvalidArgument, with the names of the dialects: a dialect without a mount, or with a route without a proper
  // pattern; a malformed mount, or one that names an unknown listener; two mounts that would match the same requests; a
  // part of a host that has the name of a part of a route's path.
  static base::Result<MountTable> Make(std::span<const Dialect> dialects, std::span<const std::string> listeners);

  struct Found {
    std::optional<std::size_t> dialect;  // index of the dialect; nothing: no dialect is mounted there
    bool by_host = false;                // the mount names the host of the request
    HostPattern::Parts parts;            // of that host
  };
  // `path` is the request's path as it came, for a path that cannot be split. 400: a header that decides comes twice,
  // or two headers name different dialects.
  [[nodiscard]] std::expected<Found, Refusal> Find(const RequestHead& head, std::string_view path) const;

 private:
  struct Rank {
    bool listener = false;
    int host = 0;
    std::size_t letters = 0;
    int header = 0;
    std::size_t segments = 0;
    auto operator<=>(const Rank&) const = default;
  };
  struct Entry {
    std::size_t dialect = 0;
    std::string listener;
    std::optional<HostPattern> host;
    std::string header;
    std::string value;
    std::vector<std::string> prefix;
    Rank rank;
  };
  static base::Result<Entry> EntryOf(std::size_t number, const Mount& mount);
  static base::Status CheckEntry(const Entry& entry, const Dialect& dialect, std::span<const std::string> listeners);
  static bool HaveTheSameRequests(const Entry& one, const Entry& other);
  static bool Matches(const Entry& entry, const RequestHead& head, std::span<const std::string> path);

  std::vector<Entry> entries_;  // the most specific first
  bool names_hosts_ = false;
};

}  // namespace skerry::transport::http
