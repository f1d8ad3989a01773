// A context in a launched sandbox: a worker that runs cell after cell.
#pragma once

#include <string>

#include "core/context.hpp"
#include "runner/command_pump.hpp"
#include "runner/launched_sandbox.hpp"
#include "runner/worker_process.hpp"

namespace skerry::runner {

// Holds a reference to its sandbox, which must outlive it.
class LaunchedContext : public core::Context {
 public:
  LaunchedContext(LaunchedSandbox& sandbox, core::Language language, core::Reach ends, WorkerProcess worker,
                  core::StartKind start);
  // With Reach::kCommand ends the interpreter and the processes that it started.
  ~LaunchedContext() override;

  base::Result<core::CellResult> Run(const core::Cell& cell, core::OutputSink& sink, std::stop_token stop) override;
  base::Result<core::ContextState> Save(std::chrono::milliseconds timeout) override;
  base::Status Load(const core::ContextState& state, std::chrono::milliseconds timeout) override;
  // False also when a command was ended together with the sandbox.
  [[nodiscard]] bool Alive() const override;
  [[nodiscard]] core::StartKind Started() const override { return start_; }

 private:
  struct Progress;

  // Sends one request and handles the worker's words up to `done`.
  base::Result<core::CellResult> Ask(const std::string& message, const core::Cell& cell, core::OutputSink& sink,
                                     std::stop_token stop, core::ContextState* state);
  base::Result<core::Outcome> Die();
  // Handles the words that have arrived. True when the request is done.
  bool HeedAll(Progress& progress);
  bool Heed(interpreters::WorkerWord word, Progress& progress) const;

  LaunchedSandbox& sandbox_;
  core::Language language_;
  core::Reach ends_;
  WorkerProcess worker_;
  core::StartKind start_;
  CommandPump::Sources sources_;
  launcher::Usage seen_;  // what was used before the cell began
  std::uint64_t next_id_ = 1;
  bool alive_ = true;
};

}  // namespace skerry::runner
