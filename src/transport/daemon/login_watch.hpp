// LoginWatch: counts and records requests without a valid token, away from the thread that answers them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "transport/http/server.hpp"
#include "watch/login_tally.hpp"

namespace skerry::transport::daemon {

// Thread-safe.
class LoginWatch {
 public:
  using Tell = std::function<void(const watch::LoginReport&)>;

  // `tell` is called by a thread of the watch's own.
  explicit LoginWatch(Tell tell);
  LoginWatch(const LoginWatch&) = delete;
  LoginWatch& operator=(const LoginWatch&) = delete;
  // Reports what is left.
  ~LoginWatch() = default;

  void Saw(const http::Mistake& mistake);

 private:
  void Watch(const std::stop_token& stop);

  Tell tell_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  watch::LoginTally tally_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace skerry::transport::daemon
