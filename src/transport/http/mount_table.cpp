#include "transport/http/mount_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "transport/http/head_check.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

std::unexpected<base::Error> Bad(const std::string& dialect, const std::string& why) {
  return base::Err(base::Code::kInvalidArgument, "the dialect " + dialect + ": " + why);
}

bool IsPattern(std::string_view pattern) {
  const std::size_t rest = pattern.find("{...}");
  return pattern.starts_with('/') && (rest == std::string_view::npos || pattern.substr(rest) == "{...}");
}

Refusal Unclear(std::string what) {
  return {.status = 400, .code = "invalid_argument", .message = std::move(what)};
}

std::optional<std::string> HostOf(const RequestHead& head) {
  if (head.headers.Count("Host") != 1) return std::nullopt;
  return HostNameOf(*head.headers.Find("Host"));
}

}  // namespace

base::Result<MountTable::Entry> MountTable::EntryOf(std::size_t number, const Mount& mount) {
  Entry entry{.dialect = number, .listener = mount.listener, .header = mount.header, .value = mount.value};
  if (!mount.host.empty()) {
    SKERRY_ASSIGN_OR_RETURN(entry.host, HostPattern::Parse(mount.host));
  }
  if (!mount.header.empty() && !IsToken(mount.header))
    return base::Err(base::Code::kInvalidArgument, "\"" + mount.header + "\" is no name of a header");
  if (mount.header.empty() && !mount.value.empty())
    return base::Err(base::Code::kInvalidArgument, "the value \"" + mount.value + "\" is of no header");
  if (!mount.prefix.empty()) {
    SKERRY_ASSIGN_OR_RETURN(entry.prefix, SplitPath(mount.prefix));
  }
  entry.rank = {.listener = !mount.listener.empty(),
                .host = !entry.host             ? 0
                        : entry.host->IsExact() ? 2
                                                : 1,
                .letters = entry.host ? entry.host->fixed_letters() : 0,
                .header = mount.header.empty()  ? 0
                          : mount.value.empty() ? 1
                                                : 2,
                .segments = entry.prefix.size()};
  return entry;
}

namespace {

// Whether a path that the pattern matches can begin with these segments.
bool MayBeBelow(std::string_view pattern, std::span<const std::string> prefix) {
  const std::vector<std::string> segments = SplitAnyPath(pattern);
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (i == segments.size()) return false;
    if (segments[i] == "{...}") return true;
    if (segments[i] != prefix[i] && !segments[i].starts_with("{")) return false;
  }
  return true;
}

std::string PathOf(std::span<const std::string> segments) {
  std::string path;
  for (const std::string& segment : segments) path += "/" + segment;
  return path.empty() ? "/" : path;
}

}  // namespace

base::Status MountTable::CheckEntry(const Entry& entry, const Dialect& dialect,
                                    std::span<const std::string> listeners) {
  if (!entry.listener.empty() && !Contains(listeners, entry.listener))
    return Bad(dialect.name, "there is no listener " + entry.listener);
  const bool reached = dialect.routes.empty() || std::ranges::any_of(dialect.routes, [&](const Route& route) {
                         return MayBeBelow(route.pattern, entry.prefix);
                       });
  if (!reached) return Bad(dialect.name, "it has no route below " + PathOf(entry.prefix));
  if (!entry.host) return {};
  for (const std::string& part : entry.host->part_names())
    for (const Route& route : dialect.routes)
      if (route.pattern.contains("{" + part + "}"))
        return Bad(dialect.name, "{" + part + "} is in its host and in the path " + route.pattern);
  return {};
}

// Mounts with two different headers are allowed: only a request that brings both is refused, when it comes.
bool MountTable::HaveTheSameRequests(const Entry& one, const Entry& other) {
  if (one.rank != other.rank || one.listener != other.listener || one.prefix != other.prefix) return false;
  if (!EqualsIgnoringCase(one.header, other.header) || one.value != other.value) return false;
  return !one.host || one.host->MayOverlap(*other.host);
}

base::Result<MountTable> MountTable::Make(std::span<const Dialect> dialects, std::span<const std::string> listeners) {
  MountTable table;
  for (std::size_t number = 0; number < dialects.size(); ++number) {
    const Dialect& dialect = dialects[number];
    if (dialect.mounts.empty()) return Bad(dialect.name, "it is mounted nowhere");
    for (const Route& route : dialect.routes)
      if (!IsPattern(route.pattern)) return Bad(dialect.name, "\"" + route.pattern + "\" is no pattern of a path");
    for (const Mount& mount : dialect.mounts) {
      auto entry = EntryOf(number, mount);
      if (!entry) return Bad(dialect.name, entry.error().message);
      SKERRY_RETURN_IF_ERROR(CheckEntry(*entry, dialect, listeners));
      for (const Entry& other : table.entries_)
        if (HaveTheSameRequests(*entry, other))
          return Bad(dialect.name, "it is mounted where " + dialects[other.dialect].name + " is");
      table.names_hosts_ |= entry->host.has_value();
      table.entries_.push_back(std::move(*entry));
    }
  }
  std::ranges::sort(table.entries_, std::greater(), &Entry::rank);
  return table;
}

bool MountTable::Matches(const Entry& entry, const RequestHead& head, std::span<const std::string> path) {
  if (!entry.listener.empty() && entry.listener != head.peer.listener) return false;
  if (path.size() < entry.prefix.size() || !std::ranges::equal(entry.prefix, path.first(entry.prefix.size())))
    return false;
  if (entry.header.empty()) return true;
  const auto value = head.headers.Find(entry.header);
  return value && (entry.value.empty() || entry.value == *value);
}

std::expected<MountTable::Found, Refusal> MountTable::Find(const RequestHead& head, std::string_view path) const {
  const std::optional<std::string> host = names_hosts_ ? HostOf(head) : std::nullopt;
  const std::vector<std::string> pieces = head.path.empty() ? SplitAnyPath(path) : std::vector<std::string>();
  const std::span<const std::string> segments = head.path.empty() ? pieces : head.path;
  Found found;
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (best != nullptr && entry.rank < best->rank) break;
    if (!Matches(entry, head, segments)) continue;
    std::optional<HostPattern::Parts> parts;
    if (entry.host) {
      if (host) parts = entry.host->Match(*host);
      if (!parts) continue;
    }
    if (!entry.header.empty() && head.headers.Count(entry.header) > 1)
      return std::unexpected(Unclear("more than one " + entry.header + " header"));
    if (best != nullptr && entry.dialect == best->dialect) continue;
    if (best != nullptr)
      return std::unexpected(
          Unclear("the headers " + best->header + " and " + entry.header + " contradict each other"));
    best = &entry;
    found = {.dialect = entry.dialect, .by_host = entry.host.has_value()};
    if (parts) found.parts = std::move(*parts);
  }
  return found;
}

}  // namespace skerry::transport::http
