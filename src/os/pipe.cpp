#include "os/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<Pipe> Pipe::Create() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return ErrnoErr("pipe");
  return Pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

base::Status SetNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return ErrnoErr("fcntl O_NONBLOCK");
  return {};
}

}  // namespace skerry::os
