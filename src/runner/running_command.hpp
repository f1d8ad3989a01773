// A running command, and the outcomes of commands that Skerry ended.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>

#include "base/error.hpp"
#include "core/execution.hpp"
#include "runner/command_pump.hpp"
#include "runner/input_feed.hpp"
#include "runner/watched_process.hpp"

namespace skerry::runner {

inline constexpr int kExitKilled = 128 + SIGKILL;
inline constexpr std::chrono::seconds kEndPatience{5};  // for the last message of a process that has ended

struct RunningCommand {
  CommandPump::Sources sources;
  std::unique_ptr<InputFeed> input;
  WatchedProcess process;
};

}  // namespace skerry::runner
