// Where a path of the host really leads, as told from a workspace. A path can come back into it in many ways: absolute,
// by "..", through links.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::engine {

struct Trail {
  std::string end;                   // absolute and without links. What is not there is taken as it is written
  std::optional<std::string> place;  // the end as a path of the workspace, when it lies there; "" is its root
  std::vector<std::string> steps;    // every name on the way that lies in the workspace, likewise
};

class HostTrails {
 public:
  explicit HostTrails(int root);  // a directory; borrowed for this call

  // The workspace's own path, without links; "" for that of the host's root.
  [[nodiscard]] const std::string& root() const { return root_; }

  // Follows an absolute path.
  [[nodiscard]] Trail Follow(std::string_view path) const;

 private:
  [[nodiscard]] std::optional<std::string> Inside(const std::string& path) const;
  [[nodiscard]] bool IsRoot(const struct stat& facts) const;

  std::string root_;
  struct stat facts_{};
};

}  // namespace skerry::engine
