#include "os/file_writers.hpp"

#include <fcntl.h>
#include <signal.h>

namespace skerry::os {

// The kernel gives a read lease only while no process can write. A process that opens the file for writing before the
// lease is given back would make the kernel send SIGIO, which ends a process; the signal that is set instead does
// nothing.
bool MayHaveWriters(int fd) {
  if (::fcntl(fd, F_SETSIG, SIGURG) < 0 || ::fcntl(fd, F_SETLEASE, F_RDLCK) < 0) return true;
  (void)::fcntl(fd, F_SETLEASE, F_UNLCK);
  return false;
}

}  // namespace skerry::os
