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
inline constexpr int kExitInterrupted = 128 + SIGINT;
inline constexpr std::chrono::seconds kEndPatience{5};  // for the last message of a process that has ended

struct RunningCommand {
  CommandPump::Sources sources;
  std::unique_ptr<InputFeed> input;
  WatchedProcess process;
};

inline core::Outcome TimedOut(std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  return {.kind = core::OutcomeKind::kTimedOut,
          .exit_code = base::RowOf(base::Code::kTimeout).exit_code,
          .limit = static_cast<std::uint64_t>(seconds)};
}

}  // namespace skerry::runner
