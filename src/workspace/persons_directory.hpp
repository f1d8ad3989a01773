// A directory that somebody names as the workspace.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

// A directory held open: whoever may rename what its path goes through cannot put another in its place.
struct OpenedDirectory {
  base::UniqueFd fd;  // O_PATH
  std::string path;   // real and absolute, as it was when it was opened
};

// Opens `path` when it is a directory that the caller may write to and that may be given to a program at all: not the
// root, not a directory of the system, not a whole home, not what holds credentials, and none of `own`, which are
// Skerry's, nor anything around or inside them.
base::Result<OpenedDirectory> OpenPersonsDirectory(const std::string& path, const std::vector<std::string>& own);

}  // namespace skerry::workspace
