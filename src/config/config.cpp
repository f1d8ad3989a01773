#include "config/config.hpp"

namespace skerry::config {

std::string ExpandHome(std::string_view path, std::string_view home) {
  const bool starts_at_home = path == "~" || path.starts_with("~/");
  if (home.empty() || !starts_at_home) return std::string(path);
  return std::string(home).append(path.substr(1));
}

}  // namespace skerry::config
