#include "os/disk_space.hpp"

#include <sys/statvfs.h>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<DiskSpace> DiskSpaceOf(int fd) {
  struct statvfs facts{};
  if (::fstatvfs(fd, &facts) != 0) return ErrnoErr("look at the room on the disk");
  return DiskSpace{.size = std::uint64_t{facts.f_blocks} * facts.f_frsize,
                   .free = std::uint64_t{facts.f_bavail} * facts.f_frsize};
}

}  // namespace skerry::os
