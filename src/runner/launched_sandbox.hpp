// A sandbox made by the launcher: what the native and the subprocess backend have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "launcher/client.hpp"
#include "runner/waiting_shell.hpp"
#include "runner/worker_process.hpp"

namespace skerry::runner {

class CommandPump;
struct RunningCommand;

// What differs between the backends.
struct LaunchProfile {
  std::shared_ptr<launcher::Launcher> launcher;
  std::vector<std::string> zygotes;  // that the launcher was told of
  launcher::Isolation isolation = launcher::Isolation::kNamespaces;
  std::string scratch;    // on the host, without namespaces
  std::string directory;  // the workspace as the program sees it
  std::string home;       // as the program sees it
  std::string temporary;  // as the program sees it
  base::FeatureSet pretend_missing;
};

// After a timeout or the loss of the sandbox the next Execute makes a new one around the same workspace.
class LaunchedSandbox : public core::Sandbox {
 public:
  LaunchedSandbox(LaunchProfile profile, core::SandboxSpec spec)
      : profile_(std::move(profile)), spec_(std::move(spec)) {}
  ~LaunchedSandbox() override;

  base::Status Start() override;
  base::Result<core::CommandResult> Execute(const core::Command& command, core::OutputSink& sink,
                                            std::stop_token stop) override;
  base::Result<std::unique_ptr<core::Context>> OpenContext(core::Language language) override;
  base::Status Freeze() override;
  base::Status Thaw() override;
  void BeginStop() override;
  base::Status Stop() override;
  [[nodiscard]] bool IsRunning() const override;
  [[nodiscard]] std::string Workspace() const override { return spec_.workspace; }
  [[nodiscard]] std::optional<core::WorkspaceView> View() const override;
  [[nodiscard]] std::vector<std::string> Degraded() const override { return degraded_; }

 private:
  [[nodiscard]] base::Result<launcher::CommandRequest> RequestFor(const core::Command& command) const;
  base::Result<RunningCommand> Send(const core::Command& command);
  base::Result<RunningCommand> SendWithPipes(const core::Command& command, launcher::CommandRequest request,
                                             const base::UniqueFd& text);
  base::Result<RunningCommand> SendWithTerminal(const core::Command& command, launcher::CommandRequest request,
                                                const base::UniqueFd& text);
  base::Result<core::Outcome> Await(const core::Command& command, std::uint64_t id, RunningCommand& running,
                                    CommandPump& pump, base::Deadline deadline, std::stop_token stop);
  base::Result<core::Outcome> ReadEnd(const core::Command& command, std::uint64_t id, base::Deadline deadline);
  [[nodiscard]] core::Outcome Judge(int wait_status) const;

  // An interpreter, and how it came to be.
  struct Found {
    WorkerProcess worker;
    core::StartKind start;
  };
  void MakeSpare();
  void DropSpare();
  [[nodiscard]] std::optional<std::string> ZygoteFor(core::Language language, std::string_view text) const;
  // The one that waits, or one that is forked now; nothing when the program is to be started anew.
  std::optional<Found> FindWorker(const core::Command& command);
  // Whether the shell that waits is right for this command.
  [[nodiscard]] bool ShellFits(const core::Command& command) const;
  base::Result<core::CommandResult> RunInShell(const core::Command& command, core::OutputSink& sink,
                                               std::stop_token stop);
  base::Result<core::CommandResult> RunInWorker(const core::Command& command, Found found, core::OutputSink& sink,
                                                std::stop_token stop);
  base::Result<core::Outcome> AwaitWorker(const core::Command& command, WorkerProcess& worker, RunningCommand& running,
                                          CommandPump& pump, base::Deadline deadline, std::stop_token stop);
  base::Result<std::optional<int>> TakeWorkerEnd(const WorkerProcess& worker);
  base::Result<core::Outcome> LostSandbox(const core::Command& command, base::Deadline deadline);
  base::Result<core::CommandResult> Finish(const core::Command& command, const core::Outcome& outcome,
                                           core::StartKind start, RunningCommand& running, CommandPump& pump,
                                           base::Deadline deadline);
  // The init's next word about this command; those about others are passed over.
  base::Result<std::optional<launcher::CommandEnded>> CommandEnd(std::uint64_t id, base::Deadline deadline);
  // The same without waiting: nothing when that has not ended yet. An error when the sandbox has.
  base::Result<std::optional<launcher::CommandEnded>> TakeCommandEnd(std::uint64_t id);
  // Ends the sandbox; what was used becomes known.
  base::Status Kill();

  LaunchProfile profile_;
  core::SandboxSpec spec_;
  bool started_ = false;
  std::optional<launcher::SandboxHandle> handle_;
  std::vector<std::string> degraded_;
  std::vector<base::UniqueFd> views_;
  launcher::Usage usage_;
  launcher::Usage seen_;  // what earlier commands used
  std::optional<WaitingShell> shell_;
  std::optional<WorkerProcess> spare_;
  core::Language spare_language_ = core::Language::kPython;
  std::string spare_zygote_;
  std::uint64_t next_command_ = 1;

  friend class LaunchedContext;
};

}  // namespace skerry::runner
