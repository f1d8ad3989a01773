// WindowWatch: passes the size of the person's terminal on to a program.
#pragma once

#include <thread>

#include "base/unique_fd.hpp"
#include "cli/signal_watch.hpp"
#include "engine/run_controls.hpp"

namespace skerry::cli {

// Both are borrowed.
class WindowWatch {
 public:
  WindowWatch(const SignalWatch& signals, engine::RunControls& controls);
  WindowWatch(const WindowWatch&) = delete;
  WindowWatch& operator=(const WindowWatch&) = delete;
  ~WindowWatch();

 private:
  base::UniqueFd ending_;
  std::jthread thread_;
};

}  // namespace skerry::cli
