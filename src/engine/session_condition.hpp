// How a session of a daemon is.
#pragma once

#include <string_view>

namespace skerry::engine {

enum class Condition {
  kActive,    // it has a sandbox
  kIdle,      // it will get one at its next use
  kCreating,  // its sandbox is being made
  kPausing,   // on its way to standing still, or from it
  kPaused,
  kStopping,  // its sandbox is being ended
  kFailed,    // its sandbox could not be made; the next use tries again
  kCrashed,   // it had one when the daemon was killed; until its next use
};
std::string_view NameOf(Condition condition);

}  // namespace skerry::engine
