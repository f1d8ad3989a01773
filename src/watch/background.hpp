// Background: a thread whose end is not waited for longer than people wait for a program to end.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

namespace skerry::watch {

class Background {
 public:
  // How long End waits for the thread.
  static constexpr std::chrono::seconds kPatience{2};

  // Runs `work` on the thread. A thread that hangs in a send to a server that does not answer is left behind by End:
  // `work` owns everything that it uses.
  explicit Background(std::function<void(const std::stop_token&)> work);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { End(); }

  // Asks the work to stop, and waits for the thread or leaves it behind. A second call does nothing.
  void End();

 private:
  std::promise<void> ended_promise_;
  std::future<void> ended_;
  std::jthread thread_;
};

}  // namespace skerry::watch
