// StdinFeed: this process's stdin as the input of a program that runs here.
#pragma once

#include <optional>

#include "engine/input_pump.hpp"
#include "engine/run_controls.hpp"
#include "engine/run_input.hpp"

namespace skerry::cli {

class StdinFeed {
 public:
  // A file is read at once, so that its content is known before anything runs; from a pipe or a terminal input comes
  // later. -1 for no input.
  explicit StdinFeed(int fd);

  [[nodiscard]] const engine::RunInput& known() const { return input_; }
  [[nodiscard]] engine::RunControls& controls() { return controls_; }
  // From now on input goes to the program.
  void Begin();

 private:
  int fd_;
  engine::RunInput input_;
  engine::RunControls controls_;
  std::optional<engine::InputPump> pump_;
};

}  // namespace skerry::cli
