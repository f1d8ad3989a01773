// Lifeline: a pipe that closes as soon as this process is killed with SIGKILL.
//
// The kernel closes the descriptors of a process with its last thread, and a thread that waits for a disk ends only
// when the disk has answered. The one end of a lifeline is held by a thread that does nothing else and has descriptors
// of its own: it ends at once.
#pragma once

#include <memory>
#include <semaphore>
#include <thread>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::launcher {

// Thread-safe. For one process one is enough, whoever watches it.
class Lifeline {
 public:
  static base::Result<std::shared_ptr<const Lifeline>> Begin();

  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  ~Lifeline();

  // The end to watch, also from other processes: end of file when this process dies, or after the destructor.
  [[nodiscard]] int end() const { return end_.get(); }

 private:
  explicit Lifeline(base::UniqueFd end) : end_(std::move(end)) {}
  void Hold(int other_end);

  base::UniqueFd end_;
  std::binary_semaphore settled_{0};
  std::binary_semaphore over_{0};
  int error_ = 0;
  std::thread thread_;
};

}  // namespace skerry::launcher
