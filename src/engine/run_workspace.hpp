// The files of one run: its directory, and what becomes of its changes.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/backend.hpp"
#include "core/record.hpp"
#include "engine/filesystem_rules.hpp"
#include "engine/workspace_mirror.hpp"
#include "workspace/commit.hpp"
#include "workspace/layer_memory.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::engine {

// The session that a run belongs to, borrowed, and what the run did to its files.
struct SessionRun {
  const workspace::SessionDirectory& directory;
  std::string execution;                     // the execution that the journal names
  std::uint64_t max_bytes = 0;               // of the workspace
  std::uint64_t allowance_bytes = 0;         // by which the workspace may grow
  workspace::LayerMemory* memory = nullptr;  // for a sandbox that lives on and has a layer
  WorkspaceMirror* mirror = nullptr;         // for a sandbox that lives on and has files of its own
  bool untouched = false;                    // known at the end: no entry of the workspace is new, different or gone
  std::vector<core::FileChange> changes;
  std::vector<core::FileUse> uses;
};

// Opened before the sandbox is made, used again when everything in the sandbox is dead or stands still.
class RunWorkspace {
 public:
  // The session's workspace, or a person's directory, or an empty one that goes with the sandbox.
  static base::Result<RunWorkspace> Open(const core::ExecutionRequest& request, SessionRun* session,
                                         const FilesystemOptions& options);

  // For a sandbox of a backend with these abilities.
  void ApplyTo(core::SandboxSpec& spec, const core::Abilities& abilities) const;
  // Whether a sandbox of such a backend gets a copy of the files: because its workspace is elsewhere, or because
  // writing to the session's directory itself would leave nothing to take back.
  [[nodiscard]] bool IsCopiedFor(const core::Abilities& abilities) const;
  [[nodiscard]] const FilesystemRules& rules() const { return rules_; }
  // Whether there are files already; their directory, -1 for none.
  [[nodiscard]] bool HasDirectory() const { return place_ != nullptr; }
  [[nodiscard]] int directory() const { return place_ ? place_->fd.get() : -1; }
  [[nodiscard]] const SessionRun* session() const { return session_; }

  // Before the program runs: brings the files into a sandbox that has its own, and notes the state of a directory that
  // the sandbox writes to itself.
  base::Status Begin(core::Sandbox& sandbox, const core::Abilities& abilities, base::Deadline deadline,
                     const std::stop_token& stop);
  // When every process has ended: carries the changes over and reports them.
  base::Status Finish(core::Sandbox& sandbox, core::ExecutionResult& result, base::Deadline deadline);

 private:
  // What a commit reads.
  struct Layer {
    int changes = -1;
    int merged = -1;
    const workspace::LayerMarks* marks = nullptr;
  };
  base::Status CarryOver(const Layer& layer, core::ExecutionResult& result) const;
  base::Result<workspace::CommitReport> Commit(const Layer& layer) const;
  base::Result<workspace::CommitReport> CommitToSession(const Layer& layer) const;
  base::Status FinishMirrored(WorkspaceMirror& mirror, core::ExecutionResult& result, base::Deadline deadline) const;
  base::Status FinishListed(core::Sandbox& sandbox, core::ExecutionResult& result, base::Deadline deadline) const;
  void DescribeChanges(const core::ExecutionResult& result) const;

  core::SharedPlace place_;  // O_PATH; none for an empty workspace
  FilesystemRules rules_;
  SessionRun* session_ = nullptr;
  core::Carry carry_ = core::Carry::kCommit;
  std::string state_directory_;
  std::unique_ptr<WorkspaceMirror> mirror_;  // for a sandbox of this run's own
  std::optional<core::FileMark> before_;
  std::chrono::system_clock::time_point since_;
};

}  // namespace skerry::engine
