// A stop token as a descriptor.
#pragma once

#include <sys/eventfd.h>

#include <stop_token>
#include <utility>

#include "base/unique_fd.hpp"

namespace skerry::runner {

// A descriptor that becomes readable when a stop is requested, so that poll can wait for it.
class StopSignal {
 public:
  explicit StopSignal(std::stop_token stop)
      : event_(::eventfd(0, EFD_CLOEXEC)), callback_(std::move(stop), Wake{event_.get()}) {}
  [[nodiscard]] int get() const { return event_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)::eventfd_write(fd, 1); }
  };
  base::UniqueFd event_;
  std::stop_callback<Wake> callback_;
};

}  // namespace skerry::runner
