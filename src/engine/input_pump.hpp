// InputPump: a thread that passes the bytes of one of Skerry's descriptors on to a program.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::engine {

// The program never gets the descriptor itself, which may be a terminal or a file open for writing. The pump ends at
// the end of the descriptor, when the program takes no more input, or with the object, whatever the descriptor does.
class InputPump {
 public:
  // As core::Process and RunControls have them.
  struct Target {
    std::function<base::Result<std::size_t>(std::string_view)> feed;
    std::function<bool(base::Deadline)> await_room;
    std::function<base::Status()> close;
  };
  template <class Fed>
  static Target To(Fed& fed) {
    return {.feed = [&fed](std::string_view bytes) { return fed.Feed(bytes); },
            .await_room = [&fed](base::Deadline deadline) { return fed.AwaitRoom(deadline); },
            .close = [&fed] { return fed.CloseInput(); }};
  }

  // `source` is borrowed.
  InputPump(int source, Target target);
  InputPump(const InputPump&) = delete;
  InputPump& operator=(const InputPump&) = delete;
  ~InputPump();

 private:
  void Work(const std::stop_token& stop) const;

  int source_;
  base::UniqueFd own_source_;  // the same pipe or terminal, opened a second time so that reading it never waits
  bool is_socket_ = false;
  bool waits_ = false;  // a pipe that could not be opened anew
  Target target_;
  base::UniqueFd ending_;
  std::jthread thread_;
};

}  // namespace skerry::engine
