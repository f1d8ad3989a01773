#include "transport/http/router.hpp"

#include <algorithm>
#include <utility>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

bool IsName(const std::string& segment) {
  return segment.starts_with('{');
}

std::vector<std::string> SegmentsOf(std::string_view pattern) {
  std::vector<std::string> segments;
  while (pattern.size() > 1) {
    const std::size_t end = std::min(pattern.find('/', 1), pattern.size());
    segments.emplace_back(pattern.substr(1, end - 1));
    pattern.remove_prefix(end);
  }
  return segments;
}

std::map<std::string, std::string> ParametersOf(const std::vector<std::string>& pattern,
                                                const std::vector<std::string>& path) {
  std::map<std::string, std::string> parameters;
  for (std::size_t at = 0; at < path.size(); ++at)
    if (IsName(pattern[at])) parameters.emplace(pattern[at].substr(1, pattern[at].size() - 2), path[at]);
  return parameters;
}

}  // namespace

Router::Router(const std::vector<Route>& routes) {
  const auto kind_order = [](const Pattern& one, const Pattern& other) {
    return std::ranges::lexicographical_compare(one.segments, other.segments, {}, IsName, IsName);
  };
  // Words first: then the first that matches is the right one.
  for (const Route& route : routes) {
    Pattern pattern{.segments = SegmentsOf(route.pattern), .route = &route};
    const auto place = std::ranges::upper_bound(patterns_, pattern, kind_order);
    patterns_.insert(place, std::move(pattern));
  }
}

bool Router::Matches(const Pattern& pattern, const std::vector<std::string>& path) {
  return std::ranges::equal(pattern.segments, path, [](const std::string& segment, const std::string& given) {
    return IsName(segment) || segment == given;
  });
}

Router::Match Router::Find(std::string_view method, const std::vector<std::string>& path) const {
  Match match;
  const Pattern* get = nullptr;
  for (const Pattern& pattern : patterns_) {
    if (!Matches(pattern, path)) continue;
    if (pattern.route->method == method)
      return {.route = pattern.route, .parameters = ParametersOf(pattern.segments, path)};
    if (pattern.route->method == "GET" && get == nullptr) get = &pattern;
    if (!Contains(match.allowed, pattern.route->method)) match.allowed.push_back(pattern.route->method);
  }
  if (method == "HEAD" && get != nullptr) return {.route = get->route, .parameters = ParametersOf(get->segments, path)};
  if (get != nullptr) match.allowed.emplace_back("HEAD");
  return match;
}

}  // namespace skerry::transport::http
