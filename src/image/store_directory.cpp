#include "image/store_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::image {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

base::Status CheckOwner(int fd, const std::string& path) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return os::ErrnoErr(path);
  if (facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return base::Err(base::Code::kPermissionDenied,
                   path +
                       " belongs to another user or can be changed by others, so images in it are not safe; make it "
                       "yours with mode 0700, or set HOME to your own home directory");
}

}  // namespace

base::Result<base::UniqueFd> OpenStoreDirectory(const std::string& path) {
  if (!path.starts_with('/'))
    return base::Err(base::Code::kInvalidArgument, "the directory of images, " + path + ", is not absolute; set HOME");
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), S_IRWXU) < 0 && errno != EEXIST) return os::ErrnoErr("make directory " + part);
    if (at == std::string::npos) break;
  }
  base::UniqueFd fd(::open(path.c_str(), kOpenFlags));
  if (!fd.valid()) return os::ErrnoErr(path);
  SKERRY_RETURN_IF_ERROR(CheckOwner(fd.get(), path));
  return fd;
}

base::Result<base::UniqueFd> OpenStorePart(int store_fd, const char* name) {
  if (::mkdirat(store_fd, name, S_IRWXU) < 0 && errno != EEXIST) return os::ErrnoErr(std::string("make ") + name);
  base::UniqueFd fd(::openat(store_fd, name, kOpenFlags | O_NOFOLLOW));
  if (!fd.valid()) return os::ErrnoErr(name);
  SKERRY_RETURN_IF_ERROR(CheckOwner(fd.get(), name));
  return fd;
}

base::Result<std::vector<std::string>> ListDirectory(int directory_fd) {
  const os::Directory listing = os::ListingOf(base::UniqueFd(::openat(directory_fd, ".", kOpenFlags)));
  if (listing == nullptr) return os::ErrnoErr("list a directory of images");
  std::vector<std::string> names;
  for (const dirent* entry = ::readdir(listing.get()); entry != nullptr; entry = ::readdir(listing.get()))
    if (!os::IsDots(entry->d_name)) names.emplace_back(entry->d_name);
  return names;
}

}  // namespace skerry::image
