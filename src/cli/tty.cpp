#include "cli/tty.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kMaxLine = 4096;

base::UniqueFd OpenTerminal() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  base::UniqueFd fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid() && ::isatty(STDIN_FILENO) != 0) fd = base::UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return fd;
}

}  // namespace

confirm::Colour ColoursFor(int fd) {
  const char* off = std::getenv("NO_COLOR");
  const char* type = std::getenv("TERM");
  const bool dumb = type == nullptr || std::string_view(type) == "dumb";
  const bool plain = ::isatty(fd) == 0 || dumb || (off != nullptr && *off != '\0');
  return plain ? confirm::Colour::kNone : confirm::Colour::kAnsi;
}

Tty::Tty() : fd_(OpenTerminal()) {}

void Tty::Write(std::string_view text) {
  (void)os::WriteAll(fd_.get(), text);
}

std::optional<std::string> Tty::ReadLine(base::Deadline deadline, std::stop_token stop) {
  const base::UniqueFd stopped(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback wake(stop, [&stopped] { (void)::eventfd_write(stopped.get(), 1); });
  std::string line;
  while (!stop.stop_requested() && !deadline.Expired() && line.size() < kMaxLine) {
    std::array entries = {pollfd{fd_.get(), POLLIN, 0}, pollfd{stopped.get(), POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), deadline.PollTimeoutMs());
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0 || entries[0].revents == 0) continue;
    char byte = 0;
    const ssize_t got = ::read(fd_.get(), &byte, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return std::nullopt;
    if (byte == '\n') return line;
    line += byte;
  }
  return std::nullopt;
}

void Tty::DiscardTypeahead() {
  (void)::tcflush(fd_.get(), TCIFLUSH);
}

confirm::Colour Tty::Colours() {
  return ColoursFor(fd_.get());
}

unsigned Tty::Width() {
  winsize size{};
  return ::ioctl(fd_.get(), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace skerry::cli
