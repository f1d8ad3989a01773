#include "core/sandbox.hpp"

#include <utility>

namespace skerry::core {

base::Result<CommandResult> Sandbox::Execute(Command command, OutputSink& sink, const std::stop_token& stop) {
  const auto timeout = command.timeout;
  const auto process = Launch(std::move(command), sink, stop);
  return process ? (*process)->Await(stop) : ResultOfLaunch(process.error(), timeout, stop);
}

Outcome EndedByTimeout(std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  return {.kind = OutcomeKind::kTimedOut,
          .exit_code = base::RowOf(base::Code::kTimeout).exit_code,
          .limit = static_cast<std::uint64_t>(seconds)};
}

Outcome EndedByStop() {
  constexpr int kInterrupted = 130;
  return {.kind = OutcomeKind::kCancelled, .exit_code = kInterrupted};
}

Outcome EndedByLoss() {
  constexpr int kKilled = 137;
  return {.kind = OutcomeKind::kLost, .exit_code = kKilled};
}

base::Result<CommandResult> ResultOfLaunch(const base::Error& error, std::chrono::milliseconds timeout,
                                           const std::stop_token& stop) {
  if (error.code != base::Code::kTimeout) return std::unexpected(error);
  return CommandResult{.outcome = stop.stop_requested() ? EndedByStop() : EndedByTimeout(timeout)};
}

base::Result<std::unique_ptr<ByteStream>> Sandbox::Connect(std::uint16_t, base::Deadline) {
  return base::Err(base::Code::kUnavailable, "ports of this sandbox cannot be reached");
}

base::Result<SandboxUsage> Sandbox::Sample(base::Deadline) {
  return base::Err(base::Code::kUnavailable, "this sandbox cannot tell what it uses");
}

bool Sandbox::ShareProcessors(std::uint32_t) {
  return true;
}

}  // namespace skerry::core
