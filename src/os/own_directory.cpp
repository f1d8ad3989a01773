#include "os/own_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::os {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

base::Status CheckOwner(int fd, const std::string& path) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return ErrnoErr(path);
  if (facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return base::Err(base::Code::kPermissionDenied,
                   path +
                       " belongs to another user or can be changed by others, so what is in it is not safe; make it "
                       "yours with mode 0700, or set HOME to your own home directory");
}

}  // namespace

base::Result<base::UniqueFd> OpenOwnDirectory(const std::string& path) {
  if (!path.starts_with('/')) return base::Err(base::Code::kInvalidArgument, path + " is not absolute; set HOME");
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), S_IRWXU) < 0 && errno != EEXIST) return ErrnoErr("make directory " + part);
    if (at == std::string::npos) break;
  }
  base::UniqueFd fd(::open(path.c_str(), kOpenFlags));
  if (!fd.valid()) return ErrnoErr(path);
  SKERRY_RETURN_IF_ERROR(CheckOwner(fd.get(), path));
  return fd;
}

base::Result<base::UniqueFd> OpenOwnPart(int parent, const char* name) {
  if (::mkdirat(parent, name, S_IRWXU) < 0 && errno != EEXIST) return ErrnoErr(std::string("make ") + name);
  base::UniqueFd fd(::openat(parent, name, kOpenFlags | O_NOFOLLOW));
  if (!fd.valid()) return ErrnoErr(name);
  SKERRY_RETURN_IF_ERROR(CheckOwner(fd.get(), name));
  return fd;
}

base::Result<std::vector<std::string>> NamesOf(int directory_fd) {
  const Directory listing = ListingOf(base::UniqueFd(::openat(directory_fd, ".", kOpenFlags)));
  if (listing == nullptr) return ErrnoErr("list a directory");
  std::vector<std::string> names;
  for (const dirent* entry = ::readdir(listing.get()); entry != nullptr; entry = ::readdir(listing.get()))
    if (!IsDots(entry->d_name)) names.emplace_back(entry->d_name);
  return names;
}

base::Result<base::UniqueFd> OpenAgain(int directory) {
  base::UniqueFd fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoErr("open a directory again");
  return fd;
}

}  // namespace skerry::os
