// Whose turn it is for what takes much of the machine, whichever dialect asks for it.
#pragma once

#include "base/turns.hpp"

namespace skerry::engine {

struct ViewTurns {
  base::Turns comparing{2};  // a session with its record: all of its files are in memory meanwhile
  base::Turns exporting{2};  // files are packed: it takes a processor
  base::Turns searching{2};  // through files: the same
};

}  // namespace skerry::engine
