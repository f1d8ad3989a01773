// Input on stdin when that is no terminal.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace skerry::cli {

// Whether stdin is open and no terminal.
bool StdinIsPiped();

// Reads all input. kTooLarge for more than `limit`. When nothing comes for a moment a note says so, and the input is
// empty: the caller may have left a pipe open that nothing writes to.
base::Result<std::string> ReadPiped(std::size_t limit);

}  // namespace skerry::cli
