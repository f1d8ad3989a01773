// Reads a command line as a tree of commands describes it.
#pragma once

#include "cli/command_line.hpp"

namespace skerry::cli {

// Fills in the line's values, runs the action of the command that the line names, and gives its exit code, or that of
// --help. A line that cannot be read, and an action that fails, are reported on stderr.
int RunCommandLine(const Command& root, int argc, const char* const* argv);

}  // namespace skerry::cli
