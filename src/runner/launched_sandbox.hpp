// A sandbox made by the launcher: what the native and the subprocess backend have in common.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "launcher/client.hpp"
#include "runner/shared_handle.hpp"
#include "runner/waiting_shell.hpp"
#include "runner/worker_process.hpp"

namespace skerry::runner {

class CommandRun;
struct LimitEvidence;
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

// After its end by a timeout or its loss the next Execute makes a new one around the same workspace: another life.
class LaunchedSandbox : public core::Sandbox {
 public:
  LaunchedSandbox(LaunchProfile profile, core::SandboxSpec spec)
      : profile_(std::move(profile)), spec_(std::move(spec)) {}
  ~LaunchedSandbox() override;

  base::Status Start() override;
  base::Result<core::CommandResult> Execute(const core::Command& command, core::OutputSink& sink,
                                            std::stop_token stop) override;
  base::Result<std::unique_ptr<core::Context>> OpenContext(core::Language language, core::Reach ends) override;
  base::Status Freeze() override;
  base::Status Thaw() override;
  bool ShareProcessors(std::uint32_t parts) override;
  void BeginStop() override;
  base::Status Stop() override;
  [[nodiscard]] bool IsRunning() const override;
  [[nodiscard]] std::string Workspace() const override { return spec_.workspace; }
  [[nodiscard]] std::optional<core::WorkspaceView> View() const override;
  [[nodiscard]] std::vector<std::string> Degraded() const override;
  // Processes are those of programs and contexts: neither the init nor an interpreter or a shell that waits for its
  // program. Without cgroups processes are counted one by one, and memory is what they have for themselves. The limit
  // of the disk is the size of the layer. kUnavailable while the sandbox begins or ends, and when there is none.
  [[nodiscard]] base::Result<core::SandboxUsage> Usage() const override;

  // For what runs in it.
  [[nodiscard]] const core::SandboxLimits& limits() const { return spec_.limits; }
  [[nodiscard]] std::vector<core::LimitReached> LimitsOf(LimitEvidence evidence) const;
  // Ends that life and waits for it; what was used becomes known. May be called by everybody whom it was lost to.
  base::Status Kill(const std::shared_ptr<SharedHandle>& life);

 private:
  // The life that there is, or another one after a loss.
  base::Result<std::shared_ptr<SharedHandle>> Begin();
  base::Status StartLocked();
  base::Status KillLocked(std::shared_ptr<SharedHandle> life);
  [[nodiscard]] bool IsRunningLocked() const;
  [[nodiscard]] std::shared_ptr<SharedHandle> Life() const;

  [[nodiscard]] base::Result<launcher::CommandRequest> RequestFor(const core::Command& command) const;
  base::Result<RunningCommand> Send(const CommandRun& run) const;

  // An interpreter, and how it came to be.
  struct Found {
    WorkerProcess worker;
    core::StartKind start;
  };
  void MakeSpare();
  [[nodiscard]] std::uint64_t WaitingTasks() const;
  [[nodiscard]] std::optional<std::string> ZygoteFor(core::Language language, std::string_view text) const;
  // The one that waits, or one that is forked now; nothing when the program is to be started anew.
  std::optional<Found> FindWorker(const std::shared_ptr<SharedHandle>& life, const core::Command& command);
  std::optional<Found> TakeSpare(core::Language language, const std::optional<std::string>& zygote);
  // The shell that waits, if it is right for this command.
  std::optional<WaitingShell> TakeShell(const core::Command& command);
  static base::Result<core::CommandResult> RunInShell(CommandRun& run, WaitingShell shell, std::stop_token stop);
  base::Result<core::CommandResult> RunInWorker(CommandRun& run, Found found, std::stop_token stop) const;

  LaunchProfile profile_;
  core::SandboxSpec spec_;
  mutable std::mutex mutex_;  // of what follows; held while a life begins or ends, never while something runs in it
  bool started_ = false;
  std::uint32_t processor_parts_ = 1;
  std::shared_ptr<SharedHandle> life_;
  std::vector<std::string> degraded_;
  std::vector<base::UniqueFd> views_;
  std::optional<WaitingShell> shell_;
  std::optional<WorkerProcess> spare_;
  core::Language spare_language_ = core::Language::kPython;
  std::string spare_zygote_;
  std::uint64_t spare_tasks_ = 0;  // processes and threads of it
};

}  // namespace skerry::runner
