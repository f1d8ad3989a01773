// One command in a launched sandbox, from its first byte to its result.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/backend.hpp"
#include "runner/command_pump.hpp"
#include "runner/running_command.hpp"
#include "runner/shared_handle.hpp"
#include "runner/worker_process.hpp"

namespace skerry::runner {

class LaunchedSandbox;

// Used by one thread. With Reach::kCommand other commands run beside it in the same life of the sandbox.
class CommandRun {
 public:
  // The arguments must outlive the run.
  CommandRun(LaunchedSandbox& sandbox, std::shared_ptr<SharedHandle> life, const core::Command& command,
             core::OutputSink& sink);
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;
  ~CommandRun();

  // Tells the launcher that a command is about to run.
  base::Status Announce();

  [[nodiscard]] const core::Command& command() const { return command_; }
  [[nodiscard]] const std::shared_ptr<SharedHandle>& life() const { return life_; }

  // With Reach::kCommand: lets other commands read the sockets that `process` reads.
  void Share(WatchedProcess& process) const;

  // Waits until the command has ended or was ended. `worker` reports its own end; nullptr for other programs.
  base::Result<core::CommandResult> Await(RunningCommand& running, WorkerProcess* worker, core::StartKind start,
                                          base::Deadline deadline, std::stop_token stop);
  // The result of a worker that ended before it could be told what to run.
  base::Result<core::CommandResult> GiveUp(RunningCommand& running, core::StartKind start, base::Deadline deadline);
  // The result of a command that could not be started for this reason: the error, or with Reach::kCommand the loss of
  // the sandbox.
  base::Result<core::CommandResult> Refused(base::Error error);

 private:
  base::Result<core::Outcome> Watch(RunningCommand& running, WorkerProcess* worker, base::Deadline deadline);
  base::Result<core::Outcome> EndBy(PumpEnd why, const WatchedProcess& process);
  base::Result<core::Outcome> Judge(const launcher::CommandEnded& ended, base::Deadline deadline);
  base::Result<core::Outcome> Lost(base::Deadline deadline);
  base::Status KillSandbox();
  base::Result<core::CommandResult> Finish(const core::Outcome& outcome, RunningCommand& running, core::StartKind start,
                                           base::Deadline deadline);
  [[nodiscard]] launcher::Usage Used(const core::Outcome& outcome);
  [[nodiscard]] bool SharesLife() const { return command_.ends == core::Reach::kCommand; }

  LaunchedSandbox& sandbox_;
  std::shared_ptr<SharedHandle> life_;
  const core::Command& command_;
  CommandPump pump_;
  std::optional<std::uint64_t> turn_;
  launcher::Usage before_;
  launcher::Usage now_;
  bool killed_ = false;  // the sandbox
};

}  // namespace skerry::runner
