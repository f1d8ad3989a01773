#include "transport/http/router.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::string_view kRest = "{...}";
constexpr std::string_view kAnyMethod = "*";

bool IsName(const std::string& segment) {
  return segment.starts_with('{');
}

// Order of segments: words first, then names, then "{...}".
int KindOf(const std::string& segment) {
  if (segment == kRest) return 2;
  return IsName(segment) ? 1 : 0;
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
  for (std::size_t at = 0; at < pattern.size(); ++at)
    if (IsName(pattern[at])) parameters.emplace(pattern[at].substr(1, pattern[at].size() - 2), path[at]);
  return parameters;
}

}  // namespace

Router::Pattern Router::PatternOf(const Route& route) {
  Pattern pattern{.segments = SegmentsOf(route.pattern), .route = &route};
  std::ranges::transform(pattern.segments, std::back_inserter(pattern.order), KindOf);
  pattern.open = !pattern.segments.empty() && pattern.segments.back() == kRest;
  if (pattern.open) pattern.segments.pop_back();
  return pattern;
}

bool Router::GoesBefore(const Pattern& one, const Pattern& other) {
  if (one.order != other.order) return one.order < other.order;
  return one.route->method != kAnyMethod && other.route->method == kAnyMethod;
}

Router::Router(const std::vector<Route>& routes) {
  // Sorted, so that the first pattern that matches is the right one.
  for (const Route& route : routes) {
    Pattern pattern = PatternOf(route);
    const auto place = std::ranges::upper_bound(patterns_, pattern, GoesBefore);
    patterns_.insert(place, std::move(pattern));
  }
}

bool Router::Matches(const Pattern& pattern, const std::vector<std::string>& path) {
  if (path.size() < pattern.segments.size() || (!pattern.open && path.size() > pattern.segments.size())) return false;
  return std::ranges::equal(pattern.segments, std::span(path).first(pattern.segments.size()),
                            [](const std::string& segment, const std::string& given) {
                              return IsName(segment) ? !given.empty() : segment == given;
                            });
}

Router::Match Router::Find(std::string_view method, const std::vector<std::string>& path) const {
  Match match;
  const Pattern* get = nullptr;
  for (const Pattern& pattern : patterns_) {
    if (!Matches(pattern, path)) continue;
    if (method == "HEAD" && get != nullptr && pattern.route->method == kAnyMethod) break;
    if (pattern.route->method == method || pattern.route->method == kAnyMethod)
      return {.route = pattern.route, .parameters = ParametersOf(pattern.segments, path)};
    if (pattern.route->method == "GET" && get == nullptr) get = &pattern;
    if (!Contains(match.allowed, pattern.route->method)) match.allowed.push_back(pattern.route->method);
  }
  if (method == "HEAD" && get != nullptr) return {.route = get->route, .parameters = ParametersOf(get->segments, path)};
  if (get != nullptr) match.allowed.emplace_back("HEAD");
  return match;
}

Router::Match Router::FindTunnel(std::string_view method, const std::vector<std::string>& path) const {
  for (const Pattern& pattern : patterns_) {
    const Route& route = *pattern.route;
    if (!pattern.open || route.body != BodyRule::kTunnel || !Matches(pattern, path)) continue;
    if (route.method == method || route.method == kAnyMethod)
      return {.route = &route, .parameters = ParametersOf(pattern.segments, path)};
  }
  return {};
}

}  // namespace skerry::transport::http
