#include "engine/context_sandbox.hpp"

#include <chrono>
#include <utility>

#include "engine/run_workspace.hpp"

namespace skerry::engine {

base::Result<ContextPlace> StartContextSandbox(const SandboxManager& manager) {
  constexpr std::chrono::minutes kPatience{10};
  const ManagerOptions& options = manager.options();
  SKERRY_ASSIGN_OR_RETURN(core::Backend * backend, manager.Choose(std::string(core::kAutoSandbox)));
  const core::Abilities abilities = backend->Can();
  if (!abilities.contexts)
    return base::Err(base::Code::kUnavailable,
                     "the " + std::string(backend->Name()) + " sandbox has no contexts" +
                         manager.choice().Advice([](const core::Abilities& other) { return other.contexts; }));
  SKERRY_ASSIGN_OR_RETURN(const RunWorkspace workspace, RunWorkspace::Open({}, nullptr, options.filesystem));
  core::SandboxSpec spec{.limits = options.limits};
  workspace.ApplyTo(spec, abilities);
  spec.demand =
      options.mode == policy::SecurityMode::kStrict ? core::Demand::kEverything : core::Demand::kWhatIsPossible;
  SKERRY_ASSIGN_OR_RETURN(std::shared_ptr<core::Sandbox> sandbox, backend->Create(spec));
  SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::After(kPatience), {}));
  return ContextPlace{
      .sandbox = std::move(sandbox), .backend = std::string(backend->Name()), .notes = workspace.rules().notes()};
}

}  // namespace skerry::engine
