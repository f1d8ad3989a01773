// The condition of a session, as a daemon tells it.
#pragma once

#include <string_view>

namespace skerry::engine {

enum class Condition {
  kActive,    // the session has a sandbox
  kIdle,      // the session gets a sandbox at its next use
  kCreating,  // its sandbox is being made
  kPausing,   // being paused or resumed
  kPaused,
  kStopping,  // its sandbox is being ended
  kFailed,    // its sandbox could not be made; the next use tries again
  kCrashed,   // the session had a sandbox when the daemon was killed; until its next use
};
std::string_view NameOf(Condition condition);

}  // namespace skerry::engine
