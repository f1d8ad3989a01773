#include "os/pidfd.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/errno_error.hpp"

namespace skerry::os {

// glibc 2.36's <sys/pidfd.h> has no extern "C": the raw system calls are used instead.

base::Result<PidFd> PidFd::Open(pid_t pid) {
  base::UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!fd.valid()) return ErrnoErr("pidfd_open");
  return PidFd(std::move(fd), pid);
}

base::Status PidFd::Signal(int signal) const {
  if (::syscall(SYS_pidfd_send_signal, fd_.get(), signal, nullptr, 0U) < 0) return ErrnoErr("pidfd_send_signal");
  return {};
}

base::Result<bool> PidFd::WaitForExit(base::Deadline deadline) const {
  for (;;) {
    pollfd entry{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready > 0) return true;
    if (ready == 0 && deadline.Expired()) return false;
    if (ready < 0 && errno != EINTR) return ErrnoErr("poll pidfd");
  }
}

base::Result<int> PidFd::Reap() const {
  for (;;) {
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) return status;
    if (errno != EINTR) return ErrnoErr("waitpid");
  }
}

}  // namespace skerry::os
