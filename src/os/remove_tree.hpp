// Removing what a hostile program left: any depth, any mode, links never followed.
#pragma once

#include <string>

#include "base/result.hpp"

namespace skerry::os {

// Removes `name` below the directory `parent_fd` and everything in it. Symbolic links are removed, not followed; other
// file systems mounted inside are an error. Memory and descriptors stay bounded however deep the tree is. A name that
// is not there is success.
base::Status RemoveTree(int parent_fd, const std::string& name);
base::Status RemoveTree(const std::string& path);

}  // namespace skerry::os
