// A sandbox made by the launcher: what the native and the subprocess backend have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "launcher/client.hpp"

namespace skerry::runner {

class CommandPump;

// What differs between the backends.
struct LaunchProfile {
  std::shared_ptr<launcher::Launcher> launcher;
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
  base::Status Stop() override;
  [[nodiscard]] bool IsRunning() const override { return handle_.has_value(); }
  [[nodiscard]] std::string Workspace() const override { return spec_.workspace; }
  [[nodiscard]] std::optional<core::WorkspaceView> View() const override;
  [[nodiscard]] std::vector<std::string> Degraded() const override { return degraded_; }

 private:
  struct Running;

  [[nodiscard]] base::Result<launcher::CommandRequest> RequestFor(const core::Command& command) const;
  base::Result<Running> Send(const core::Command& command);
  base::Result<Running> SendWithPipes(const core::Command& command, launcher::CommandRequest request,
                                      const base::UniqueFd& text);
  base::Result<Running> SendWithTerminal(const core::Command& command, launcher::CommandRequest request,
                                         const base::UniqueFd& text);
  base::Result<core::Outcome> Await(const core::Command& command, Running& running, CommandPump& pump,
                                    base::Deadline deadline, std::stop_token stop);
  base::Result<core::Outcome> ReadEnd(const core::Command& command, base::Deadline deadline);
  [[nodiscard]] core::Outcome Judge(int wait_status) const;
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
};

}  // namespace skerry::runner
