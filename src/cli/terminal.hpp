// Messages for the person at the terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace skerry::cli {

// `skerry: message` on stderr, one line, with control characters made visible: hostile names and programs must not move
// the cursor. Returns the exit code of the error.
int ReportError(const base::Error& error);
void Note(std::string_view message);

// Writes everything to stdout; false when the reader has left.
bool Print(std::string_view text);

}  // namespace skerry::cli
