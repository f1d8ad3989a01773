// Progress: the result of a read or write that does not wait.
#pragma once

#include <cstddef>
#include <string>

namespace skerry::net {

struct Progress {
  enum class Kind {
    kMoved,
    kWantsRead,   // nothing was moved; try again when the descriptor is readable
    kWantsWrite,  // nothing was moved; try again when the descriptor is writable
    kEnd,         // the server sends nothing more
    kBroken,
  };
  Kind kind = Kind::kMoved;
  std::size_t bytes = 0;  // that were moved
  std::string why;        // of kBroken

  [[nodiscard]] bool WantsWait() const { return kind == Kind::kWantsRead || kind == Kind::kWantsWrite; }
};

}  // namespace skerry::net
