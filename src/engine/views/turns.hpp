// Turns for what takes much of the machine, shared by all dialects.
#pragma once

#include "base/turns.hpp"

namespace skerry::engine {

struct ViewTurns {
  base::Turns comparing{2};  // a session with its record: the list of all its files is in memory meanwhile
  base::Turns exporting{2};  // packing files: each takes a processor
  base::Turns searching{2};  // searching files: the same
};

}  // namespace skerry::engine
