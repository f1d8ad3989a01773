#include "cli/window_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>

#include "cli/raw_terminal.hpp"

namespace skerry::cli {

WindowWatch::WindowWatch(const SignalWatch& signals, engine::RunControls& controls)
    : ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  (void)controls.Resize(RawTerminal::Size());
  thread_ =
      std::jthread([resized = signals.resized_fd(), ending = ending_.get(), &controls](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          std::array entries = {pollfd{resized, POLLIN, 0}, pollfd{ending, POLLIN, 0}};
          if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return;
          eventfd_t times = 0;
          if (entries[0].revents != 0 && ::eventfd_read(resized, &times) == 0)
            (void)controls.Resize(RawTerminal::Size());
        }
      });
}

WindowWatch::~WindowWatch() {
  thread_.request_stop();
  (void)::eventfd_write(ending_.get(), 1);
}

}  // namespace skerry::cli
