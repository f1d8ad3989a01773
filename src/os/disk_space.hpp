// How much room a file system has.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace skerry::os {

struct DiskSpace {
  std::uint64_t size = 0;  // bytes in all
  std::uint64_t free = 0;  // that this user may still write
};

// Of the file system that an open file or directory is on.
base::Result<DiskSpace> DiskSpaceOf(int fd);

}  // namespace skerry::os
