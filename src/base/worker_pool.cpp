#include "base/worker_pool.hpp"

#include <pthread.h>

#include <memory>
#include <utility>

namespace skerry::base {
namespace {

// Gives false where std::thread would throw.
bool StartDetached(std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(argument));
    (*work)();
    return nullptr;
  };
  const int error = ::pthread_create(&thread, &attributes, run, owned.get());
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  (void)owned.release();
  return true;
}

}  // namespace

WorkerPool::~WorkerPool() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  work_came_.notify_all();
  thread_left_.wait(lock, [&] { return threads_ == 0; });
}

bool WorkerPool::Submit(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (closing_) return false;
  if (waiting_.size() < idle_) {
    waiting_.push_back(std::move(work));
    work_came_.notify_one();
    return true;
  }
  if (threads_ < options_.max_threads && StartDetached([this] { Serve(); })) {
    ++threads_;
    waiting_.push_back(std::move(work));
    return true;
  }
  if (threads_ == 0 || waiting_.size() >= options_.max_waiting) return false;
  waiting_.push_back(std::move(work));
  return true;
}

void WorkerPool::Serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool came = work_came_.wait_for(lock, options_.idle_for, [&] { return closing_ || !waiting_.empty(); }) &&
                      !waiting_.empty();
    --idle_;
    if (!came) break;
    {
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
    }
    lock.lock();
  }
  --threads_;
  // Under the lock: the pool may be destroyed as soon as the lock is released.
  thread_left_.notify_all();
}

WorkerPool::Statistics WorkerPool::Now() const {
  const std::lock_guard lock(mutex_);
  return {.threads = threads_, .busy = threads_ - idle_, .waiting = waiting_.size()};
}

}  // namespace skerry::base
