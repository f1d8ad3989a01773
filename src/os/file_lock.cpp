#include "os/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<base::UniqueFd> LockFile(int directory_fd, const char* name, LockMode mode, base::Deadline deadline) {
  base::UniqueFd fd(::openat(directory_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd.valid()) return ErrnoErr(std::string("open the lock file ") + name);
  const int operation = (mode == LockMode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  while (::flock(fd.get(), operation) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoErr(std::string("lock ") + name);
    if (deadline.Expired()) return base::Err(base::Code::kUnavailable, "in use by another skerry; try again later");
    constexpr auto kPause = std::chrono::milliseconds(5);
    std::this_thread::sleep_for(kPause);
  }
  return fd;
}

}  // namespace skerry::os
