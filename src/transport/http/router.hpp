// Router: from a method and a path to a route.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "transport/http/dialect.hpp"

namespace skerry::transport::http {

class Router {
 public:
  // Borrows the routes.
  explicit Router(const std::vector<Route>& routes);

  struct Match {
    const Route* route = nullptr;  // null: `allowed` are the methods of the path; empty: there is no such path
    std::map<std::string, std::string> parameters;
    std::vector<std::string> allowed;
  };
  // In one place of the path a word goes before a name, and a name before "{...}". HEAD is answered by GET.
  [[nodiscard]] Match Find(std::string_view method, const std::vector<std::string>& path) const;
  // For a path that SplitPath refuses (SplitAnyPath): only routes to a program match, when the segments before their
  // "{...}" are proper.
  [[nodiscard]] Match FindTunnel(std::string_view method, const std::vector<std::string>& path) const;

 private:
  struct Pattern {
    std::vector<std::string> segments;  // "{name}" is a name; without the "{...}"
    std::vector<int> order;             // the kinds of all segments
    bool open = false;                  // anything may follow
    const Route* route;
  };
  static Pattern PatternOf(const Route& route);
  static bool GoesBefore(const Pattern& one, const Pattern& other);
  static bool Matches(const Pattern& pattern, const std::vector<std::string>& path);

  std::vector<Pattern> patterns_;
};

}  // namespace skerry::transport::http
