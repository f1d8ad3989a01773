// Directories of Skerry's own, whose content no other user may change.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

// Opens the directory; makes it (0700), and the directories above it, where they are missing. Refused: a path that is
// not absolute, a directory of another user, a directory that other users may write to.
base::Result<base::UniqueFd> OpenOwnDirectory(const std::string& path);

// As OpenOwnDirectory, for the directory `name` in `parent`.
base::Result<base::UniqueFd> OpenOwnPart(int parent, const char* name);

// The same directory, for reading, with a position of its own.
base::Result<base::UniqueFd> OpenAgain(int directory);

// The names in a directory, without "." and "..", in no order.
base::Result<std::vector<std::string>> NamesOf(int directory_fd);

}  // namespace skerry::os
