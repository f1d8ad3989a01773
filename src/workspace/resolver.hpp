// The one way from a path that an agent or a client gave to a file of the workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/beneath.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::workspace {

// The path relative to the workspace that an agent means (S4.4): "a", "/a", "./a" and "/workspace/a" are "a"; "/" is
// "". ".." stays where a link could be before it, and is kPathTraversal where it climbs above the workspace. A NUL, a
// name longer than 255 bytes or a path longer than 4000 is kInvalidArgument.
base::Result<std::string> MapPath(std::string_view path);

// Errors do not name the path: the caller knows it as it was given.
//
// Links are followed as long as they stay inside; an absolute link may lead below /workspace, as programs inside see
// it. No magic link is followed, no other file system entered. Thread-safe.
class Resolver {
 public:
  enum class Way {
    kKernel,  // openat2; where that is missing or cannot decide, the walk
    kWalk,    // name by name, for kernels without openat2
  };
  explicit Resolver(base::UniqueFd root, Way way = Way::kKernel);

  // `path` as MapPath gives it; `flags` as for open(2), without creation; with O_NOFOLLOW a link at the end is kept.
  // Except as O_PATH only regular files and directories are opened; all else is kConflict, at once and untouched.
  // kPathTraversal for what leads out.
  [[nodiscard]] base::Result<base::UniqueFd> Open(const std::string& path, int flags) const;

  // Where `path` lies or will lie: links on the way are followed; with kFollow the last one too, so that what it leads
  // to is written and not the link.
  enum class LastLink { kFollow, kKeep };
  [[nodiscard]] base::Result<Place> Find(const std::string& path, LastLink last) const;

  // A place, and its path without links and dots: the name under which a record should know it.
  struct Located {
    Place place;
    std::string path;
  };
  [[nodiscard]] base::Result<Located> Locate(const std::string& path, LastLink last) const;

  [[nodiscard]] const MountBorder& border() const { return border_; }
  [[nodiscard]] int root() const { return root_.get(); }

 private:
  [[nodiscard]] base::Result<base::UniqueFd> OpenByWalk(const std::string& path, int flags) const;
  [[nodiscard]] base::Result<Located> LocateByWalk(const std::string& path, LastLink last) const;

  base::UniqueFd root_;
  MountBorder border_;
  Way way_;
};

}  // namespace skerry::workspace
