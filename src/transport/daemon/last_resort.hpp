// LastResort: the end of the process at a given moment, whatever still runs in it.
#pragma once

#include <chrono>
#include <functional>

namespace skerry::transport::daemon {

// After `time` calls `last_words` and ends the process with exit code 0, without waiting for any thread or running any
// destructor; what ends in an orderly way before that is not disturbed. What a daemon acknowledged is in its files by
// then: what is cut off is lost as at a crash, and told as such at the next start.
// `last_words` takes no lock that a thread which hangs could hold.
void EndWithin(std::chrono::milliseconds time, std::function<void()> last_words);

}  // namespace skerry::transport::daemon
