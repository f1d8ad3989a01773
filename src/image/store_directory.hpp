// The directories that a store is made of.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::image {

// Makes the directory (0700) and those above it where they are missing. Refused: a path that is not absolute, a
// directory of another user, one that others may write to.
base::Result<base::UniqueFd> OpenStoreDirectory(const std::string& path);

// The same for a directory of the store itself.
base::Result<base::UniqueFd> OpenStorePart(int store_fd, const char* name);

// Names, without "." and "..", in no order.
base::Result<std::vector<std::string>> ListDirectory(int directory_fd);

}  // namespace skerry::image
