#include "cli/fd_sink.hpp"

#include <limits.h>  // NOLINT(modernize-deprecated-headers): PIPE_BUF
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace skerry::cli {

core::SinkAnswer FdSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  const int fd = stream == core::Stream::kStdout ? out_fd_ : err_fd_;
  std::size_t accepted = 0;
  while (accepted < bytes.size()) {
    std::array entries = {pollfd{fd, POLLOUT, 0}, pollfd{interrupt_fd_, POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), deadline.PollTimeoutMs());
    if (ready < 0 && errno == EINTR) continue;
    if (entries[1].revents != 0) return {.accepted = accepted, .wants_more = false};
    if (ready == 0 && deadline.Expired()) return {.accepted = accepted};
    // A writable pipe has room for PIPE_BUF bytes at least: that much never blocks, although the descriptor is a
    // blocking one that other processes share.
    const std::size_t size = std::min<std::size_t>(bytes.size() - accepted, PIPE_BUF);
    const ssize_t count = ::write(fd, bytes.data() + accepted, size);
    if (count > 0) accepted += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      error_ = errno;
      return {.accepted = accepted, .wants_more = false};
    }
  }
  return {.accepted = accepted};
}

}  // namespace skerry::cli
