// WorkerPool: threads for work that blocks, as many as there is work, up to a limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace skerry::base {

struct WorkerPoolOptions {
  std::size_t max_threads = 256;
  std::size_t max_waiting = 1024;              // work that no thread has taken yet
  std::chrono::milliseconds idle_for{10'000};  // after which a thread ends
};

// Thread-safe. A thread is made when no other waits for work.
class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options = {}) : options_(options) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Does what was accepted, and returns when every thread has ended.
  ~WorkerPool();

  // False when too much waits already, or no thread is to be had: then the work is not done.
  [[nodiscard]] bool Submit(std::function<void()> work);

  struct Statistics {
    std::size_t threads = 0;
    std::size_t busy = 0;
    std::size_t waiting = 0;
  };
  [[nodiscard]] Statistics Now() const;

 private:
  void Serve();

  const WorkerPoolOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable thread_left_;
  std::deque<std::function<void()>> waiting_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool closing_ = false;
};

}  // namespace skerry::base
