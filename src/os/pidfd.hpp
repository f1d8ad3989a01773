// PidFd: a process held by a descriptor, so that a signal never reaches another process that got the same pid.
#pragma once

#include <sys/types.h>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

class PidFd {
 public:
  PidFd() = default;
  PidFd(base::UniqueFd fd, pid_t pid) : fd_(std::move(fd)), pid_(pid) {}
  static base::Result<PidFd> Open(pid_t pid);

  [[nodiscard]] int get() const { return fd_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool valid() const { return fd_.valid(); }

  // A process that is gone already is an error (ESRCH), never another process.
  [[nodiscard]] base::Status Signal(int signal) const;

  // Waits until the process has ended; false when the deadline came first. Does not reap.
  [[nodiscard]] base::Result<bool> WaitForExit(base::Deadline deadline) const;

  // The wait status of a child that has ended or will soon (blocks). For children of this process only.
  [[nodiscard]] base::Result<int> Reap() const;

 private:
  base::UniqueFd fd_;
  pid_t pid_ = -1;
};

}  // namespace skerry::os
