#include "cli/raw_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace skerry::cli {

RawTerminal::RawTerminal() {
  if (::tcgetattr(STDIN_FILENO, &before_) < 0) return;
  termios raw = before_;
  ::cfmakeraw(&raw);
  changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

RawTerminal::~RawTerminal() {
  if (changed_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

core::TerminalSize RawTerminal::Size() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    winsize window{};
    if (::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_row != 0 && window.ws_col != 0)
      return {window.ws_row, window.ws_col};
  }
  return {};
}

}  // namespace skerry::cli
