// Directories of Skerry's own, with what nobody else may change.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

// Makes the directory (0700) and those above it where they are missing. Refused: a path that is not absolute, a
// directory of another user, one that others may write to.
base::Result<base::UniqueFd> OpenOwnDirectory(const std::string& path);

// The same for a directory in it.
base::Result<base::UniqueFd> OpenOwnPart(int parent, const char* name);

// The same directory, for reading, with a position of its own.
base::Result<base::UniqueFd> OpenAgain(int directory);

// Names, without "." and "..", in no order.
base::Result<std::vector<std::string>> NamesOf(int directory_fd);

}  // namespace skerry::os
