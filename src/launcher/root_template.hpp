// The part of the root that all sandboxes with the host's programs have in common, built once in a mount namespace of
// its own: each of them starts from a copy, in which the host's mounts never were.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::launcher {

// Where an empty root can be mounted for the moment before the pivot; any directory that exists will do.
const char* RootMountPoint();

class RootTemplate {
 public:
  // Needs privilege on the host.
  static base::Result<RootTemplate> Build();

  [[nodiscard]] int mount_namespace() const { return namespace_.get(); }

  // Whether the files that the template shows are still those of the host; a package manager replaces them by others.
  [[nodiscard]] bool Current() const;

 private:
  struct Source {
    std::string path;
    std::pair<dev_t, ino_t> file;
  };

  RootTemplate() = default;

  base::UniqueFd namespace_;
  std::vector<Source> sources_;
};

}  // namespace skerry::launcher
