// Background: a thread that is not waited for longer than people wait for a program to end.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

namespace skerry::watch {

class Background {
 public:
  // How long End waits.
  static constexpr std::chrono::seconds kPatience{2};

  // What hangs in a send to somebody who does not answer is left behind at the end: `work` owns all that it uses.
  explicit Background(std::function<void(const std::stop_token&)> work);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { End(); }

  // Asks the work to stop, and waits for it or leaves it behind. Again does nothing.
  void End();

 private:
  std::promise<void> ended_promise_;
  std::future<void> ended_;
  std::jthread thread_;
};

}  // namespace skerry::watch
