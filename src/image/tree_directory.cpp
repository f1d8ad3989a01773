#include "image/tree_directory.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace skerry::image {

base::UniqueFd OpenInTree(int root_fd, const std::string& path, int flags, Links links) {
  constexpr std::uint64_t kAlways = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = links == Links::kRefused ? kAlways | RESOLVE_NO_SYMLINKS : kAlways;
  const char* name = path.empty() ? "." : path.c_str();
  // EAGAIN: another process renamed something while a ".." of a link was followed.
  constexpr int kTries = 1000;
  for (int tried = 0; tried < kTries; ++tried) {
    base::UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root_fd, name, &how, sizeof how)));
    if (fd.valid() || (errno != EAGAIN && errno != EINTR)) return fd;
  }
  return {};
}

TimedDirectory::TimedDirectory(base::UniqueFd fd) : fd_(std::move(fd)) {
  struct stat facts{};
  if (::fstat(fd_.get(), &facts) == 0) mtime_ = facts.st_mtim;
}

TimedDirectory::~TimedDirectory() {
  const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, mtime_};
  if (fd_.valid()) (void)::futimens(fd_.get(), times.data());
}

}  // namespace skerry::image
