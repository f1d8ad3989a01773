// Files and directories of the host on their way into a sandbox.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/host_identity.hpp"
#include "launcher/protocol.hpp"

namespace skerry::launcher {

// A file or directory of the host that the child mounts. A privileged launcher has it as a detached mount; a plain
// user's child opens the path again, which must still be the same file.
struct HostTree {
  int tree = -1;
  const char* path = nullptr;
  dev_t device = 0;
  ino_t inode = 0;
};

// Owns the detached mounts. The paths and descriptors that they were made from must outlive the HostTrees.
class HostTrees {
 public:
  // Adds the file or directory `fd`, which is at `path`. Its owner on disk appears as `identity` inside, so that the
  // sandbox may do what that owner may, and new files belong to that owner. Errors name the path.
  base::Status Add(const std::string& path, int fd, const HostIdentity& identity, std::vector<std::string>& degraded);

  [[nodiscard]] const std::vector<HostTree>& all() const { return trees_; }

 private:
  std::vector<base::UniqueFd> mounts_;
  std::vector<HostTree> trees_;
};

}  // namespace skerry::launcher
