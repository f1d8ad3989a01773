// SandboxManager: the one entry for all execution (S1.3). Every way to run code in the product goes through it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/backend_registry.hpp"
#include "core/execution.hpp"
#include "engine/backend_choice.hpp"
#include "engine/gate.hpp"
#include "engine/live_sandbox.hpp"
#include "engine/manager_options.hpp"
#include "engine/run_streams.hpp"
#include "engine/run_workspace.hpp"
#include "engine/warm_sandboxes.hpp"
#include "engine/watched.hpp"

namespace skerry::engine {

// Thread-safe: each call has its own sandbox. Keeps a reference to the registry, which must outlive it.
class SandboxManager {
 public:
  SandboxManager(const core::BackendRegistry& registry, ManagerOptions options);

  // Assesses the risk, asks for an approval where that is required, chooses the sandbox and runs the program: nothing
  // runs that was not assessed, and nothing after a rejection. Then the outcome is kRejected, and no sandbox was made.
  // The run has a sandbox of its own, which is never used again; it is gone when this returns, or about to go if it was
  // a warm one and has nothing to carry over. Changes in a person's directory have been carried over by then, or are in
  // files_withheld. An error means that there is no result; how the program ended is in the result.
  base::Result<core::ExecutionResult> Execute(const core::ExecutionRequest& request, const RunStreams& streams,
                                              const RunOccasion& occasion, const std::stop_token& stop);
  base::Result<core::ExecutionResult> Execute(const core::ExecutionRequest& request, const RunStreams& streams,
                                              const std::stop_token& stop) {
    return Execute(request, streams, {}, stop);
  }

  // As Execute, for a cell of a context that has a sandbox and files of its own.
  base::Result<core::ExecutionResult> ExecuteCell(const core::ExecutionRequest& request, const RunStreams& streams,
                                                  const RunOccasion& occasion, const std::stop_token& stop);

  // A sandbox on a session's files that stays when a command has ended, with the processes that the command left. The
  // request's code is not looked at.
  base::Result<std::unique_ptr<LiveSandbox>> StartLive(const core::ExecutionRequest& request, SessionRun& session,
                                                       const core::SandboxLimits& limits, const std::string& tenant,
                                                       base::Deadline deadline, const std::stop_token& stop);
  // As Execute, in that sandbox, beside other programs there; a timeout ends only this program and the processes that
  // it started. What was changed by then is committed with all processes standing still. A request that names a context
  // is a cell of it.
  base::Result<core::ExecutionResult> ExecuteLive(LiveSandbox& live, const core::ExecutionRequest& request,
                                                  const RunStreams& streams, const RunOccasion& occasion,
                                                  const std::stop_token& stop);
  // Commits what was changed since the last commit.
  base::Status CommitLive(LiveSandbox& live, SessionRun& session) const;
  // Ends every process in the sandbox, and commits what they changed since the last commit. What a lost sandbox had not
  // committed is lost.
  base::Status StopLive(LiveSandbox& live, SessionRun& session) const;

  // Removes what sandboxes of a killed Skerry left, for every backend. Gives what could not be done, a line each.
  std::vector<std::string> SweepOrphans(std::chrono::seconds patience_each) const;

  // The backend for a request: the named one, else the default; never one weaker than the mode demands.
  [[nodiscard]] base::Result<core::Backend*> Choose(const std::string& sandbox_type) const {
    return choice_.Named(sandbox_type);
  }
  [[nodiscard]] const BackendChoice& choice() const { return choice_; }

  // For callers that only want to know the risk.
  [[nodiscard]] const Gate& gate() const { return gate_; }

  // The warm sandboxes, or nullptr where none are kept.
  [[nodiscard]] WarmSandboxes* warm() const { return warm_.get(); }
  // Every sandbox that programs run in now.
  [[nodiscard]] Watched& watched() { return watched_; }
  // Adds the environment of the configuration, where the request does not say otherwise.
  void AddUsualEnvironment(core::ExecutionRequest& request) const {
    for (const auto& [name, value] : options_.environment) request.environment.emplace(name, value);
  }
  // The values of `environment` for programs of the tenant; `secret` names those that are secrets.
  [[nodiscard]] base::Result<ResolvedEnvironment> Resolved(const Environment& environment,
                                                           const std::set<std::string>& secret,
                                                           const std::string& tenant) const;

  [[nodiscard]] const ManagerOptions& options() const { return options_; }

 private:
  struct Run;
  struct Assessed {
    core::RiskAssessment risk;
    std::chrono::nanoseconds took{0};
  };
  // Why the backend of the run cannot do what is asked for.
  [[nodiscard]] base::Status Check(const Run& run) const;
  base::Result<Admission> Admit(const core::RiskAssessment& risk, Run& run, const std::stop_token& stop) const;
  void NoteUses(Run& run, const std::stop_token& stop) const;
  template <class RunIt>
  base::Result<core::ExecutionResult> AdmitAndRun(Run run, const Assessed& assessed, const std::stop_token& stop,
                                                  const RunIt& run_it);
  // With the files that the code would find; nothing when the assessment was cancelled.
  [[nodiscard]] base::Result<std::optional<Assessed>> Assess(const core::ExecutionRequest& request,
                                                             const RunStreams& streams, const RunOccasion& occasion,
                                                             int files, const std::stop_token& stop) const;
  [[nodiscard]] Watched::Registration Watch(core::Sandbox& sandbox, std::string session, const Asker& asker);
  base::Result<core::ExecutionResult> RunAdmitted(core::Backend& backend, Run& run, std::stop_token stop);
  base::Result<core::ExecutionResult> RunInOwn(core::Backend& backend, core::SandboxSpec spec, Run& run,
                                               std::stop_token stop);
  base::Result<core::ExecutionResult> RunWarm(WarmSandboxes::Lease lease, std::chrono::nanoseconds obtain, Run& run,
                                              std::stop_token stop);
  base::Result<core::ExecutionResult> RunIn(core::Sandbox& sandbox, Run& run, std::stop_token stop) const;
  base::Result<core::ExecutionResult> RunInLive(LiveSandbox& live, Run& run, const std::stop_token& stop) const;
  static std::optional<std::uint64_t> CellsBefore(const Run& run);
  static base::Result<core::ExecutionResult> RunCell(Run& run, std::stop_token stop);

  const core::BackendRegistry& registry_;
  ManagerOptions options_;
  BackendChoice choice_;
  Gate gate_;
  Watched watched_;
  core::Backend* warm_backend_ = nullptr;
  std::unique_ptr<WarmSandboxes> warm_;
};

}  // namespace skerry::engine
