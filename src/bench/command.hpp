// Timing whole programs: from their start to their end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/child.hpp"
#include "bench/samples.hpp"

namespace skerry::bench {

// How long `command` takes: start, output read to its end, exit awaited. Wrong output is kExecutionFailed: a subject
// that is fast because it does not work must not count.
base::Result<Sample> TimeCommand(const Command& command, std::string_view expected_output);

// The same for `copies` of the command at once, until the last one has ended. One failure fails all.
base::Result<Sample> TimeTogether(const Command& command, std::size_t copies, std::string_view expected_output);

// What the command printed; not for timing.
base::Result<std::string> OutputOf(const Command& command);

// The path of a program, looked up in the caller's PATH.
std::optional<std::string> FindProgram(std::string_view name);

// The command as a person would type it; an argument of several lines is cut.
std::string CommandLine(const Command& command);

// A small environment: no start-up file of the caller's is read, and programs find each other.
std::vector<std::string> PlainEnvironment();

// The caller's environment, for programs that are configured by it (DOCKER_HOST, HOME).
std::vector<std::string> CallersEnvironment();

}  // namespace skerry::bench
