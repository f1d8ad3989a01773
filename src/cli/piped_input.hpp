// What comes on stdin when it is no terminal.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace skerry::cli {

// Whether stdin is open and no terminal.
bool StdinIsPiped();

// All of it. kTooLarge for more than `limit`. When nothing comes for a moment a note says so, and there is none:
// whoever started us may have left a pipe open that nobody writes to.
base::Result<std::string> ReadPiped(std::size_t limit);

}  // namespace skerry::cli
