#include "transport/daemon/last_resort.hpp"

#include <unistd.h>

#include <system_error>
#include <thread>
#include <utility>

namespace skerry::transport::daemon {

void EndWithin(std::chrono::milliseconds time, std::function<void()> last_words) {
  try {
    std::thread([time, last_words = std::move(last_words)] {
      std::this_thread::sleep_for(time);
      last_words();
      ::_exit(0);
    }).detach();
  } catch (const std::system_error&) {
    // No thread can be made: the kernel ends the process then, without last words.
    (void)::alarm(static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(time).count()));
  }
}

}  // namespace skerry::transport::daemon
