// The files of one run: the directory it works in, and what becomes of its changes.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "core/record.hpp"
#include "engine/filesystem_rules.hpp"
#include "workspace/commit.hpp"
#include "workspace/file_snapshot.hpp"
#include "workspace/layer_memory.hpp"
#include "workspace/persons_directory.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::engine {

// The session that a run belongs to, borrowed, and what the run did to its files.
struct SessionRun {
  const workspace::SessionDirectory& directory;
  std::string execution;                     // whose journal it will be
  std::uint64_t max_bytes = 0;               // of the workspace
  std::uint64_t allowance_bytes = 0;         // by which it may grow
  workspace::LayerMemory* memory = nullptr;  // of a sandbox that lives on
  std::vector<core::FileChange> changes;
  std::vector<core::FileUse> uses;
};

// Opened before the sandbox is made, asked again when it is dead.
class RunWorkspace {
 public:
  // That of the session, or somebody's directory, or an empty one that is gone with the sandbox.
  static base::Result<RunWorkspace> Open(const core::ExecutionRequest& request, SessionRun* session,
                                         const FilesystemOptions& options);

  void ApplyTo(core::SandboxSpec& spec) const;
  [[nodiscard]] const FilesystemRules& rules() const { return rules_; }
  // Whether there are files already. Of them; -1 for none.
  [[nodiscard]] bool HasDirectory() const { return directory_.fd.valid(); }
  [[nodiscard]] int directory() const { return directory_.fd.get(); }
  [[nodiscard]] const SessionRun* session() const { return session_; }

  // Before anything runs: remembers what is there where a sandbox writes to the directory itself.
  base::Status Begin(const core::Sandbox& sandbox);
  // When everything in it has ended: carries the changes over and tells them.
  base::Status Finish(const core::Sandbox& sandbox, core::ExecutionResult& result) const;

 private:
  base::Status CarryOver(const core::WorkspaceView& view, core::ExecutionResult& result) const;
  base::Result<workspace::CommitReport> Commit(const core::WorkspaceView& view) const;
  base::Result<workspace::CommitReport> CommitToSession(const core::WorkspaceView& view) const;
  base::Status FinishInPlace(const core::Sandbox& sandbox, core::ExecutionResult& result) const;
  void DescribeChanges(const core::ExecutionResult& result) const;
  [[nodiscard]] base::Result<workspace::FileSnapshot> Snapshot(const core::Sandbox& sandbox) const;

  workspace::OpenedDirectory directory_;
  FilesystemRules rules_;
  SessionRun* session_ = nullptr;
  core::Carry carry_ = core::Carry::kCommit;
  std::string state_directory_;
  std::optional<workspace::FileSnapshot> before_;
  std::chrono::system_clock::time_point since_;
};

}  // namespace skerry::engine
