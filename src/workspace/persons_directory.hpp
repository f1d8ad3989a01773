// A directory that a person names as the workspace.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

// A directory held open: a user who may rename the directories on its path cannot put another directory in its place.
struct OpenedDirectory {
  base::UniqueFd fd;  // O_PATH
  std::string path;   // real and absolute, as it was when it was opened
};

// Whether a file or directory may be shown to a program at all: not the root, not one of the system, not a whole home,
// not one that holds credentials, and none of `own`, which are Skerry's, nor anything around or inside them. `path` is
// real.
base::Status CheckPlace(const std::string& path, const std::vector<std::string>& own);

// Opens `path` when it is a directory that the caller may write to and that passes CheckPlace().
// The real path of an open file.
base::Result<std::string> PathOf(int fd);

base::Result<OpenedDirectory> OpenPersonsDirectory(const std::string& path, const std::vector<std::string>& own);

}  // namespace skerry::workspace
