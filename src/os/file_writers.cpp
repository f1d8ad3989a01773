#include "os/file_writers.hpp"

#include <fcntl.h>
#include <signal.h>

namespace skerry::os {

// The kernel gives a lease for reading only while nobody can write. Whoever opens the file for writing in the moment
// until it is given back would make the kernel send SIGIO, which ends a process; the signal named instead does nothing.
bool MayHaveWriters(int fd) {
  if (::fcntl(fd, F_SETSIG, SIGURG) < 0 || ::fcntl(fd, F_SETLEASE, F_RDLCK) < 0) return true;
  (void)::fcntl(fd, F_SETLEASE, F_UNLCK);
  return false;
}

}  // namespace skerry::os
