// How much room a file system has.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace skerry::os {

struct DiskSpace {
  std::uint64_t size = 0;  // bytes in all
  // Bytes that this user may still write. Where there is room for few files only, no more than those files would have
  // as their share.
  std::uint64_t free = 0;
};

// Of the file system that an open file or directory, or a path, is on.
base::Result<DiskSpace> DiskSpaceOf(int fd);
base::Result<DiskSpace> DiskSpaceOf(const std::string& path);

}  // namespace skerry::os
