// LastResort: ends the process at a given moment, whatever still runs in it.
#pragma once

#include <chrono>
#include <functional>

namespace skerry::transport::daemon {

// After `time` calls `last_words` and ends the process with exit code 0, without waiting for any thread or running any
// destructor; a process that ends in an orderly way before that is not disturbed. What a daemon acknowledged is in its
// files by then: a run that is cut off is lost as at a crash, and recorded as such at the next start. `last_words`
// takes no lock that a hanging thread could hold.
void EndWithin(std::chrono::milliseconds time, std::function<void()> last_words);

}  // namespace skerry::transport::daemon
