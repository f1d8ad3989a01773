// SignalWatch: Ctrl-C and the like as a request to stop in order.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/unique_fd.hpp"

namespace skerry::cli {

// From construction on SIGINT, SIGTERM and SIGHUP request a stop instead of ending the process; the second one ends it
// at once (the launcher then takes the sandbox down). SIGPIPE is ignored. One per process.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] int interrupt_fd() const { return event_.get(); }
  // Readable when the terminal's window was resized.
  [[nodiscard]] int resized_fd() const { return resized_.get(); }
  // The signal that came, or 0.
  [[nodiscard]] int signal() const { return signal_; }

 private:
  void Watch(const std::stop_token& ending);

  std::stop_source stop_;
  base::UniqueFd event_;
  base::UniqueFd resized_;
  std::atomic<int> signal_ = 0;
  std::jthread thread_;
};

}  // namespace skerry::cli
