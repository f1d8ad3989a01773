#include "os/disk_space.hpp"

#include <sys/statvfs.h>

#include <algorithm>

#include "os/errno_error.hpp"

namespace skerry::os {

namespace {

DiskSpace SpaceOf(const struct statvfs& facts) {
  DiskSpace space{.size = std::uint64_t{facts.f_blocks} * facts.f_frsize,
                  .free = std::uint64_t{facts.f_bavail} * facts.f_frsize};
  if (facts.f_files == 0) return space;
  const double files = static_cast<double>(facts.f_favail) / static_cast<double>(facts.f_files);
  space.free = std::min(space.free, static_cast<std::uint64_t>(files * static_cast<double>(space.size)));
  return space;
}

}  // namespace

base::Result<DiskSpace> DiskSpaceOf(int fd) {
  struct statvfs facts{};
  if (::fstatvfs(fd, &facts) != 0) return ErrnoErr("look at the room on the disk");
  return SpaceOf(facts);
}

base::Result<DiskSpace> DiskSpaceOf(const std::string& path) {
  struct statvfs facts{};
  if (::statvfs(path.c_str(), &facts) != 0) return ErrnoErr("look at the room on the disk");
  return SpaceOf(facts);
}

}  // namespace skerry::os
