#include "cli/piped_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "cli/terminal.hpp"
#include "os/files.hpp"

namespace skerry::cli {

bool StdinIsPiped() {
  return ::fcntl(STDIN_FILENO, F_GETFD) >= 0 && ::isatty(STDIN_FILENO) == 0;
}

base::Result<std::string> ReadPiped(std::size_t limit) {
  constexpr int kSilence = 500;  // milliseconds
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  if (::poll(&entry, 1, kSilence) == 0) {
    Note("nothing comes on stdin, so the program gets none; skerry exec passes on what comes later");
    return std::string();
  }
  return os::ReadAll(STDIN_FILENO, limit);
}

}  // namespace skerry::cli
