// A command in a launched sandbox, as core::Process.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/deadline.hpp"
#include "core/process.hpp"
#include "runner/command_run.hpp"
#include "runner/running_command.hpp"
#include "runner/worker_process.hpp"

namespace skerry::runner {

// Made by LaunchedSandbox::Launch, which calls one of the Begin functions.
class LaunchedProcess : public core::Process {
 public:
  LaunchedProcess(LaunchedSandbox& sandbox, std::shared_ptr<SharedHandle> life, core::Command command,
                  core::OutputSink& sink)
      : command_(std::move(command)), run_(sandbox, std::move(life), command_, sink) {}
  ~LaunchedProcess() override;

  [[nodiscard]] const core::Command& command() const { return command_; }
  [[nodiscard]] CommandRun& run() { return run_; }
  // The input, which begins with the command's own text. Takes that text.
  std::unique_ptr<InputFeed> MakeInput(base::UniqueFd sink, std::string farewell = "");

  // The program runs now, until `deadline`; with a `worker` in an interpreter that was waiting for it.
  void Begin(RunningCommand running, core::StartKind start, base::Deadline deadline,
             std::optional<WorkerProcess> worker = std::nullopt);
  // The interpreter ended before it could be told what to run.
  void BeginLost(RunningCommand running, core::StartKind start, base::Deadline deadline);
  // The command ended before it began, with this result.
  void BeginOver(core::CommandResult result) { over_ = std::move(result); }

  base::Result<std::size_t> Feed(std::string_view bytes) override;
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) override;
  base::Status CloseInput() override;
  base::Status Signal(int number) override;
  base::Status Resize(const core::TerminalSize& size) override;
  base::Result<core::CommandResult> Await(std::stop_token stop) override;

 private:
  core::Command command_;
  CommandRun run_;
  std::optional<WorkerProcess> worker_;
  std::optional<RunningCommand> running_;
  base::UniqueFd terminal_;  // the program's terminal; not valid without one
  core::StartKind start_ = core::StartKind::kExec;
  base::Deadline deadline_ = base::Deadline::Never();
  std::optional<core::CommandResult> over_;
  bool lost_ = false;
  bool awaited_ = false;
};

}  // namespace skerry::runner
