// Where a path of the host really leads, seen from a workspace. A path can come back into the workspace in many ways:
// absolute, by "..", through links.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::engine {

struct Trail {
  std::string end;  // absolute and without links; names that do not exist are taken as they are written
  std::optional<std::string> place;  // `end` as a path of the workspace, when it lies there; "" is the root
  std::vector<std::string> steps;    // every name on the way that lies in the workspace, as a path of it
};

class HostTrails {
 public:
  explicit HostTrails(int root);  // `root` is a directory; borrowed for this call

  // The workspace's own path, without links; "" when it is the host's root.
  [[nodiscard]] const std::string& root() const { return root_; }

  [[nodiscard]] uid_t owner() const { return facts_.st_uid; }  // of the workspace

  // Follows an absolute path.
  [[nodiscard]] Trail Follow(std::string_view path) const;

 private:
  [[nodiscard]] std::optional<std::string> Inside(const std::string& path) const;
  [[nodiscard]] bool IsRoot(const struct stat& facts) const;

  std::string root_;
  struct stat facts_{};
};

}  // namespace skerry::engine
