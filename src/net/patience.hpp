// Patience: how long a call waits for a descriptor: until a deadline has come or a stop was requested.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::net {

// Each call that can wait makes one; for the thread of that call only.
class Patience {
 public:
  Patience(base::Deadline deadline, std::stop_token stop) : deadline_(deadline), stop_(std::move(stop)) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() = default;

  [[nodiscard]] base::Deadline deadline() const { return deadline_; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  [[nodiscard]] bool IsOver() const { return stop_.stop_requested() || deadline_.Expired(); }
  // There is no deadline, and no stop can be requested.
  [[nodiscard]] bool IsEndless() const { return deadline_.IsNever() && !stop_.stop_possible(); }

  // Waits until `fd` is ready for one of poll's `events`, or broken. False when the patience was over first; a
  // descriptor that is ready already is seen even then.
  [[nodiscard]] bool Await(int fd, short events);
  // Waits for `duration`; false when the patience was over first.
  [[nodiscard]] bool Pause(base::Deadline::Clock::duration duration);

  // kTimeout: `whom` did not answer in time, or the stop token asked to give up.
  [[nodiscard]] std::unexpected<base::Error> Fault(const std::string& whom) const;

 private:
  struct Wake {
    int fd;
    void operator()() const;
  };
  bool Poll(int fd, short events, base::Deadline until);
  int StopDescriptor();

  base::Deadline deadline_;
  std::stop_token stop_;
  base::UniqueFd event_;  // readable once a stop was requested
  std::optional<std::stop_callback<Wake>> wake_;
};

}  // namespace skerry::net
