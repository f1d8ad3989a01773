// Resolving a path name by name, for kernels without openat2 and for what openat2 cannot decide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/mount_border.hpp"
#include "workspace/resolver.hpp"

namespace skerry::workspace {

// The names of a path, without the empty ones and ".".
std::vector<std::string_view> NamesOf(std::string_view path);

// What programs inside call the workspace: "/workspace".
inline constexpr std::string_view kInsideName = "workspace";

struct Walked {
  base::UniqueFd parent;  // O_PATH; not valid for the workspace itself
  std::string name;       // in `parent`
  base::UniqueFd entry;   // O_PATH; not valid when nothing is there
  std::string path;       // without links and dots
};

// One walk from the root to the end of a path. The walk holds every directory it goes through and never goes up by
// "..", so it cannot be led out, whatever is renamed or replaced meanwhile.
class PathWalk {
 public:
  // Both are borrowed.
  PathWalk(int root, const MountBorder& border) : root_(root), border_(border) {}

  base::Result<Walked> Run(std::string_view path, Resolver::LastLink last);

 private:
  // A directory on the way.
  struct Step {
    std::string name;
    Facts facts;
    base::UniqueFd fd;  // not valid when the walk has closed it, far behind
  };

  base::Result<base::UniqueFd> OpenNext(int directory, const std::string& name, Facts& facts);
  // The directory after `count` steps; opened anew, with the same checks, when the walk does not hold it any more.
  base::Result<int> DirectoryAt(std::size_t count);
  base::Status WalkAgain(std::size_t count);
  void Enter(std::string name, const Facts& facts, base::UniqueFd fd);
  base::Status FollowLink(int link);
  base::Status GoUp();
  base::Result<Walked> EndAt(std::string name, base::UniqueFd entry);
  base::Result<Walked> EndHere();

  const int root_;
  const MountBorder& border_;
  std::vector<Step> steps_;
  std::vector<std::string> ahead_;  // the next name is the last one
  int links_ = 0;
  std::size_t opened_ = 0;
};

}  // namespace skerry::workspace
