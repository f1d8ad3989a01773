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
#include "workspace/directory_files.hpp"

namespace skerry::runner {

class CommandRun;
class LaunchedProcess;
struct LimitEvidence;
struct RunningCommand;

// What differs between the native and the subprocess backend.
struct LaunchProfile {
  std::shared_ptr<launcher::Launcher> launcher;
  std::vector<std::string> zygotes;  // names of the zygotes that the launcher has
  launcher::Isolation isolation = launcher::Isolation::kNamespaces;
  std::string scratch;    // on the host, without namespaces
  std::string directory;  // the workspace as the program sees it
  std::string home;       // as the program sees it
  std::string temporary;  // as the program sees it
  base::FeatureSet pretend_missing;
};

// When the sandbox was lost or ended by a timeout, the next Launch makes a new one around the same workspace: another
// life.
class LaunchedSandbox : public core::Sandbox, public core::Contexts, public core::Pausing {
 public:
  LaunchedSandbox(LaunchProfile profile, core::SandboxSpec spec)
      : profile_(std::move(profile)), spec_(std::move(spec)) {}
  ~LaunchedSandbox() override;

  base::Status Start(base::Deadline deadline, const std::stop_token& stop) override;
  base::Result<std::unique_ptr<core::Process>> Launch(core::Command command, core::OutputSink& sink,
                                                      const std::stop_token& stop) override;
  [[nodiscard]] core::SandboxFiles& files() override { return files_; }
  [[nodiscard]] core::Contexts* contexts() override { return this; }
  [[nodiscard]] core::Pausing* pausing() override { return this; }
  base::Result<std::unique_ptr<core::Context>> OpenContext(const core::NewContext& context) override;
  base::Status Freeze(base::Deadline deadline) override;
  base::Status Thaw(base::Deadline deadline) override;
  bool ShareProcessors(std::uint32_t parts) override;
  void BeginStop() override;
  base::Status Stop(base::Deadline deadline) override;
  [[nodiscard]] bool IsRunning() const override;
  [[nodiscard]] std::vector<std::string> Degraded() const override;
  // Counts the processes of programs and contexts: neither the init nor an interpreter or a shell that waits for a
  // program. Without cgroups processes are counted one by one, and memory is what they have for themselves. The limit
  // of the disk is the size of the layer. kUnavailable while the sandbox begins or ends, and when it is not started.
  [[nodiscard]] base::Result<core::SandboxUsage> Sample(base::Deadline deadline) override;

  // For the commands and contexts in the sandbox.
  [[nodiscard]] const core::SandboxLimits& limits() const { return spec_.limits; }
  [[nodiscard]] std::vector<core::LimitReached> LimitsOf(LimitEvidence evidence) const;
  // Ends a life of the sandbox and waits for it; its last usage is known afterwards. May be called by each command that
  // lost the life.
  base::Status Kill(const std::shared_ptr<SharedHandle>& life);

 private:
  // The views that the launcher gave, or the directory that programs write to.
  class Files : public workspace::DirectoryFiles {
   public:
    explicit Files(const LaunchedSandbox& sandbox)
        : DirectoryFiles([&sandbox] { return sandbox.OpenWorkspace(); }), sandbox_(sandbox) {}
    [[nodiscard]] std::optional<core::LocalView> Local() const override;

   private:
    const LaunchedSandbox& sandbox_;
  };

  // The present life, or after a loss a new one.
  base::Result<std::shared_ptr<SharedHandle>> Begin();
  base::Status StartLocked(base::Deadline deadline);
  [[nodiscard]] base::UniqueFd OpenWorkspace() const;
  base::Status KillLocked(std::shared_ptr<SharedHandle> life);
  [[nodiscard]] bool IsRunningLocked() const;
  [[nodiscard]] std::shared_ptr<SharedHandle> Life() const;

  [[nodiscard]] base::Result<launcher::CommandRequest> RequestFor(const core::Command& command) const;
  base::Result<RunningCommand> Send(LaunchedProcess& process) const;

  // An interpreter, and how it came to be.
  struct Found {
    WorkerProcess worker;
    core::StartKind start;
  };
  void MakeSpare();
  [[nodiscard]] std::uint64_t WaitingTasks() const;
  [[nodiscard]] std::optional<std::string> ZygoteFor(core::Language language, std::string_view text) const;
  // The interpreter that waits, or one that is forked now; nothing when the program needs an interpreter of its own.
  std::optional<Found> FindWorker(const std::shared_ptr<SharedHandle>& life, const core::Command& command);
  std::optional<Found> TakeSpare(core::Language language, const std::optional<std::string>& zygote);
  // The shell that waits, if it fits the command.
  std::optional<WaitingShell> TakeShell(const core::Command& command);
  static base::Status BeginInShell(LaunchedProcess& process, WaitingShell shell);
  base::Status BeginInWorker(LaunchedProcess& process, Found found) const;

  LaunchProfile profile_;
  core::SandboxSpec spec_;
  mutable std::mutex mutex_;  // guards what follows; held while a life begins or ends, never while a command runs
  bool started_ = false;
  std::uint32_t processor_parts_ = 1;
  std::shared_ptr<SharedHandle> life_;
  std::vector<std::string> degraded_;
  std::vector<base::UniqueFd> views_;
  std::optional<WaitingShell> shell_;
  std::optional<WorkerProcess> spare_;
  core::Language spare_language_ = core::Language::kPython;
  std::string spare_zygote_;
  std::uint64_t spare_tasks_ = 0;  // processes and threads of the spare interpreter
  Files files_{*this};
};

}  // namespace skerry::runner
