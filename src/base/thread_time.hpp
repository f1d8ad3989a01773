// Processor time of the calling thread: unlike the time of day it does not depend on what else the machine does.
#pragma once

#include <chrono>
#include <ctime>

namespace skerry::base {

inline std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace skerry::base
