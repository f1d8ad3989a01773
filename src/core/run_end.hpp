// RunEnd: how a run of a daemon ended, and what is kept of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/execution.hpp"

namespace skerry::core {

enum class RunState {
  kWaiting,  // for a thread, a sandbox or a person; nothing of it has run
  kRunning,
  kDone,
  kLost,  // whoever ran it went away
};
std::string_view NameOf(RunState state);
std::optional<RunState> ParseRunState(std::string_view name);
[[nodiscard]] constexpr bool IsFinal(RunState state) {
  return state == RunState::kDone || state == RunState::kLost;
}

struct RunEnd {
  RunState state = RunState::kDone;
  ExecutionResult result;            // without what the program wrote
  std::optional<base::Error> error;  // why there is no result; then `result` has only the bytes that were written

  // One word: that of the outcome, or "failed".
  [[nodiscard]] std::string Outcome() const { return error ? "failed" : std::string(NameOf(result.outcome.kind)); }
  [[nodiscard]] int ExitCode() const { return error ? base::RowOf(error->code).exit_code : result.outcome.exit_code; }

  bool operator==(const RunEnd&) const = default;
};

}  // namespace skerry::core
