// How the sandbox of a run is made, what it is told to run, and how it ends.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "core/execution.hpp"
#include "engine/manager_options.hpp"
#include "engine/run_streams.hpp"
#include "engine/run_workspace.hpp"

namespace skerry::engine {

// How long the files of a sandbox elsewhere may take, the making of a sandbox, and its end.
constexpr std::chrono::minutes kFilesPatience{5};
constexpr std::chrono::minutes kMakingPatience{10};
constexpr std::chrono::seconds kStopPatience{60};

constexpr char kLostFiles[] =
    "workspace: the sandbox was lost, and with it what was changed in it and not carried over";

[[nodiscard]] core::Demand DemandOf(policy::SecurityMode mode);

// What a sandbox for this request has to be.
[[nodiscard]] base::Result<core::SandboxSpec> SpecFor(const core::ExecutionRequest& request,
                                                      const RunWorkspace& workspace, const ManagerOptions& options,
                                                      const core::Backend& backend);

// `ends`: what ends with the program.
[[nodiscard]] core::Command CommandFor(const core::ExecutionRequest& request, const Environment& environment,
                                       const RunStreams& streams, core::Reach ends);

// A started sandbox, and what it lacks.
struct Started {
  std::unique_ptr<core::Sandbox> sandbox;
  std::vector<std::string> degraded;
};

// Where a workspace's changes cannot be kept apart, strict mode refuses; permissive mode lets the program write to the
// directory itself, and says so.
[[nodiscard]] base::Result<Started> StartSandbox(core::Backend& backend, core::SandboxSpec spec,
                                                 policy::SecurityMode mode, const std::stop_token& stop);

// Ends a sandbox of one run with every process in it, and carries its changes over. One that was lost has none.
base::Status StopAndFinish(core::Sandbox& sandbox, const core::Abilities& abilities, RunWorkspace& workspace,
                           core::ExecutionResult& result);
// The same for a warm sandbox. Most programs leave no changes: then nobody waits for the end of the last process, which
// is under way.
base::Status FinishWarm(core::Sandbox& sandbox, RunWorkspace& workspace, core::ExecutionResult& result);

}  // namespace skerry::engine
