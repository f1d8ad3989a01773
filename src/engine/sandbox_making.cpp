#include "engine/sandbox_making.hpp"

#include <algorithm>
#include <utility>

#include "os/directory.hpp"

namespace skerry::engine {
namespace {

// How long the backend may take to end a run after its timeout; then the launcher ends it.
constexpr std::chrono::seconds kGrace{2};

base::Status AddImage(const core::ExecutionRequest& request, const ManagerOptions& options,
                      const core::Backend& backend, core::SandboxSpec& spec) {
  if (!request.image) return {};
  switch (backend.Can().images) {
    case core::ImageKind::kNamed:
      spec.image = *request.image;
      return {};
    case core::ImageKind::kRootFileSystem: {
      SKERRY_ASSIGN_OR_RETURN(spec.root, options.acquire_root(*request.image));
      return {};
    }
    case core::ImageKind::kNone:
      break;
  }
  return base::Err(base::Code::kUnavailable, "the " + std::string(backend.Name()) + " sandbox has no images");
}

}  // namespace

core::Demand DemandOf(policy::SecurityMode mode) {
  return mode == policy::SecurityMode::kStrict ? core::Demand::kEverything : core::Demand::kWhatIsPossible;
}

base::Result<core::SandboxSpec> SpecFor(const core::ExecutionRequest& request, const RunWorkspace& workspace,
                                        const ManagerOptions& options, const core::Backend& backend) {
  core::SandboxSpec spec{.limits = options.limits};
  workspace.ApplyTo(spec, backend.Can());
  spec.limits.memory_mb = request.max_memory_mb;
  // Files that a program rewrites are in its layer a second time: the commit checks how much the workspace grows.
  if (const SessionRun* session = workspace.session())
    spec.limits.disk_mb = std::clamp<std::uint64_t>(session->max_bytes >> 20U, 1, spec.limits.disk_mb);
  spec.demand = DemandOf(options.mode);
  SKERRY_RETURN_IF_ERROR(AddImage(request, options, backend, spec));
  return spec;
}

core::Command CommandFor(const core::ExecutionRequest& request, const Environment& environment,
                         const RunStreams& streams, core::Reach ends) {
  constexpr std::uint64_t kMegabyte = 1U << 20U;
  core::Command command{.program = core::Code{.language = request.language,
                                              .text = request.code,
                                              .name = request.code_name,
                                              .arguments = request.code_arguments},
                        .ends = ends,
                        .directory = request.directory,
                        .environment = environment,
                        .timeout = request.timeout,
                        .max_output_bytes = request.max_output_mb * kMegabyte};
  const RunInput input =
      streams.controls != nullptr && !streams.input.IsKnown() ? streams.controls->TakeInput() : streams.input;
  command.input = input.text;
  command.input_end = input.end;
  if (!request.arguments.empty()) command.program = request.arguments;
  // A sandbox that other programs use too has no lifetime.
  if (ends == core::Reach::kSandbox) command.lifetime = request.timeout + kGrace;
  if (streams.terminal) {
    command.terminal = streams.controls != nullptr ? streams.controls->size() : core::TerminalSize{};
    command.environment.emplace("TERM", streams.terminal->type);
  }
  return command;
}

base::Result<Started> StartSandbox(core::Backend& backend, core::SandboxSpec spec, policy::SecurityMode mode,
                                   const std::stop_token& stop) {
  const auto deadline = base::Deadline::After(kMakingPatience);
  SKERRY_ASSIGN_OR_RETURN(auto sandbox, backend.Create(spec));
  const auto started = sandbox->Start(deadline, stop);
  if (started) return Started{std::move(sandbox), {}};
  const bool try_in_place = mode == policy::SecurityMode::kPermissive && spec.workspace != nullptr &&
                            started.error().code == base::Code::kUnavailable;
  if (!try_in_place) return std::unexpected(started.error());
  spec.workspace_changes = core::WorkspaceChanges::kInPlace;
  SKERRY_ASSIGN_OR_RETURN(sandbox, backend.Create(spec));
  SKERRY_RETURN_IF_ERROR(sandbox->Start(deadline, stop));
  return Started{std::move(sandbox),
                 {"workspace: its changes cannot be kept apart (" + started.error().message +
                  "); programs write to the directory itself, without a limit on the disk and without the list of what "
                  "is not carried over"}};
}

// Remote files go with the sandbox, so they are read before its end; others are read when nothing can change them any
// more.
base::Status StopAndFinish(core::Sandbox& sandbox, const core::Abilities& abilities, RunWorkspace& workspace,
                           core::ExecutionResult& result) {
  const auto finish = [&] { return workspace.Finish(sandbox, result, base::Deadline::After(kFilesPatience)); };
  const auto stop = [&] { return sandbox.Stop(base::Deadline::After(kStopPatience)); };
  if (abilities.workspace == core::WorkspaceKind::kRemote) {
    if (const auto finished = finish(); !finished && sandbox.IsRunning()) return finished;
    if (!sandbox.IsRunning()) result.degraded.emplace_back(kLostFiles);
    return stop();
  }
  SKERRY_RETURN_IF_ERROR(stop());
  return finish();
}

base::Status FinishWarm(core::Sandbox& sandbox, RunWorkspace& workspace, core::ExecutionResult& result) {
  const auto view = sandbox.files().Local();
  sandbox.BeginStop();
  if (view && os::IsEmptyDirectory(view->changes)) return {};
  SKERRY_RETURN_IF_ERROR(sandbox.Stop(base::Deadline::After(kStopPatience)));
  return workspace.Finish(sandbox, result, base::Deadline::After(kFilesPatience));
}

}  // namespace skerry::engine
