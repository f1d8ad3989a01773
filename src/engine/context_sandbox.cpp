#include "engine/context_sandbox.hpp"

#include <utility>

#include "engine/run_workspace.hpp"

namespace skerry::engine {
namespace {

// A sandbox borrows the directories of the host that it shows: they stay open as long as it lives.
class ContextSandbox : public core::Sandbox {
 public:
  ContextSandbox(RunWorkspace workspace, std::unique_ptr<core::Sandbox> sandbox)
      : workspace_(std::move(workspace)), sandbox_(std::move(sandbox)) {}

  base::Status Start() override { return sandbox_->Start(); }
  base::Result<core::CommandResult> Execute(const core::Command& command, core::OutputSink& sink,
                                            std::stop_token stop) override {
    return sandbox_->Execute(command, sink, std::move(stop));
  }
  base::Result<std::unique_ptr<core::Context>> OpenContext(core::Language language, core::Reach ends) override {
    return sandbox_->OpenContext(language, ends);
  }
  base::Status Stop() override { return sandbox_->Stop(); }
  [[nodiscard]] bool IsRunning() const override { return sandbox_->IsRunning(); }
  [[nodiscard]] std::string Workspace() const override { return sandbox_->Workspace(); }
  [[nodiscard]] std::optional<core::WorkspaceView> View() const override { return sandbox_->View(); }
  [[nodiscard]] std::vector<std::string> Degraded() const override {
    std::vector<std::string> all = sandbox_->Degraded();
    const auto& notes = workspace_.rules().notes();
    all.insert(all.end(), notes.begin(), notes.end());
    return all;
  }

 private:
  RunWorkspace workspace_;
  std::unique_ptr<core::Sandbox> sandbox_;
};

}  // namespace

base::Result<std::unique_ptr<core::Sandbox>> StartContextSandbox(const core::BackendRegistry& registry,
                                                                 const ManagerOptions& options) {
  const SandboxManager manager(registry, {.mode = options.mode, .default_backend = options.default_backend});
  SKERRY_ASSIGN_OR_RETURN(core::Backend * backend, manager.Choose(std::string(core::kAutoSandbox)));
  if (backend->Isolation() != core::IsolationLevel::kNamespaces)
    return base::Err(base::Code::kUnavailable,
                     "the " + std::string(backend->Name()) + " sandbox has no contexts; use the native one");
  SKERRY_ASSIGN_OR_RETURN(RunWorkspace workspace, RunWorkspace::Open({}, nullptr, options.filesystem));
  core::SandboxSpec spec{.limits = options.limits};
  workspace.ApplyTo(spec);
  spec.demand =
      options.mode == policy::SecurityMode::kStrict ? core::Demand::kEverything : core::Demand::kWhatIsPossible;
  SKERRY_ASSIGN_OR_RETURN(auto made, backend->Create(spec));
  auto sandbox = std::make_unique<ContextSandbox>(std::move(workspace), std::move(made));
  SKERRY_RETURN_IF_ERROR(sandbox->Start());
  return sandbox;
}

}  // namespace skerry::engine
