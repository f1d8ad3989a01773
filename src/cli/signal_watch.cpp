#include "cli/signal_watch.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace skerry::cli {
namespace {

sigset_t Watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGWINCH}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalWatch::SignalWatch() : event_(::eventfd(0, EFD_CLOEXEC)), resized_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = Watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& ending) { Watch(ending); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  // SIGUSR1 only wakes the watching thread.
  ::pthread_kill(thread_.native_handle(), SIGUSR1);
}

void SignalWatch::Watch(const std::stop_token& ending) {
  const sigset_t set = Watched();
  for (;;) {
    int received = 0;
    if (::sigwait(&set, &received) != 0 || ending.stop_requested()) return;
    if (received == SIGWINCH) (void)::eventfd_write(resized_.get(), 1);
    if (received == SIGUSR1 || received == SIGWINCH) continue;
    if (signal_.exchange(received) != 0) ::_exit(128 + received);
    stop_.request_stop();
    (void)::eventfd_write(event_.get(), 1);
  }
}

}  // namespace skerry::cli
