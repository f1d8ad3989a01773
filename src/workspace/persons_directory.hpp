// A directory that somebody names as the workspace.
#pragma once

#include <string>

#include "base/result.hpp"

namespace skerry::workspace {

// The real path of `path`, when it is a directory that the caller may write to and that may be given to a program at
// all: not the root, not a directory of the system, not the top of anybody's home with its credentials.
base::Result<std::string> ResolvePersonsDirectory(const std::string& path);

}  // namespace skerry::workspace
