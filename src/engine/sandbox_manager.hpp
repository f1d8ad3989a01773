// SandboxManager: the one entry for all execution (S1.3). Every way to run code in the product goes through it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/backend_registry.hpp"
#include "core/execution.hpp"
#include "core/output_sink.hpp"
#include "engine/filesystem_rules.hpp"
#include "engine/gate.hpp"
#include "engine/warm_sandboxes.hpp"
#include "policy/security_mode.hpp"

namespace skerry::engine {

// A root file system that stays where it is for as long as `lease` lives.
struct LeasedRoot {
  core::RootFileSystem root;
  std::shared_ptr<const void> lease;
};

struct ManagerOptions {
  policy::SecurityMode mode = policy::SecurityMode::kStrict;
  std::string default_backend = "native";  // what `auto` means
  core::SandboxLimits limits;              // memory comes from the request
  FilesystemOptions filesystem;
  std::function<base::Result<LeasedRoot>(const std::string& image)> acquire_root;
  GateOptions gate;                 // what stands before every run
  std::optional<PoolOptions> pool;  // keep sandboxes waiting; for those who run many programs
};

// A terminal for the program; see core::Command.
struct TerminalOptions {
  std::function<core::TerminalSize()> size;
  int resized_fd = -1;
  std::string type = "dumb";  // TERM
};

// Where a run's bytes come from and go to. Without a sink they are collected into the result.
struct RunStreams {
  core::OutputSink* sink = nullptr;
  int input_fd = -1;
  std::optional<TerminalOptions> terminal;
  std::function<void()> admitted;  // called when nothing stands in the way of the run any more
};

// Thread-safe: each call has its own sandbox. Keeps a reference to the registry, which must outlive it.
class SandboxManager {
 public:
  SandboxManager(const core::BackendRegistry& registry, ManagerOptions options);

  // Assesses the risk, asks for confirmation where that is required, chooses the sandbox and runs: nothing runs that
  // was not assessed, and nothing after a no. Then the outcome is kRejected, and no sandbox was made. One run in a
  // sandbox of its own, which is gone when this returns, or on its way out when it waited for this program and has
  // nothing to carry over; it is never used again. What changed in a person's directory has been carried over by then,
  // or is in files_withheld. An error means that nothing of the program is to be had; how it ended is in the result.
  base::Result<core::ExecutionResult> Execute(const core::ExecutionRequest& request, const RunStreams& streams,
                                              std::stop_token stop);

  // The backend that a request gets: what it names, else the default; never one weaker than the mode demands.
  [[nodiscard]] base::Result<core::Backend*> Choose(const std::string& sandbox_type) const;

  // The sandboxes that wait, or nullptr where none are kept.
  [[nodiscard]] WarmSandboxes* warm() const { return warm_.get(); }

 private:
  struct Run;
  // The same, where `auto` is what the risk suggests, if the mode lets it and the light sandbox has what is asked for.
  [[nodiscard]] base::Result<core::Backend*> ChooseFor(const core::ExecutionRequest& request, const RunStreams& streams,
                                                       const core::RiskAssessment& risk) const;
  // Nothing when it may run.
  base::Result<std::optional<core::Outcome>> Admit(const core::RiskAssessment& risk, const Run& run,
                                                   std::stop_token stop) const;
  base::Result<core::ExecutionResult> RunAdmitted(core::Backend& backend, Run& run, std::stop_token stop);
  base::Result<core::ExecutionResult> RunIn(core::Sandbox& sandbox, Run& run, std::stop_token stop) const;

  const core::BackendRegistry& registry_;
  ManagerOptions options_;
  Gate gate_;
  core::Backend* warm_backend_ = nullptr;
  std::unique_ptr<WarmSandboxes> warm_;
};

}  // namespace skerry::engine
