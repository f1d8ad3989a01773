// The files of one run: the directory it works in, and what becomes of its changes.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "engine/filesystem_rules.hpp"
#include "workspace/file_snapshot.hpp"
#include "workspace/persons_directory.hpp"

namespace skerry::engine {

// Opened before the sandbox is made, asked again when it is dead.
class RunWorkspace {
 public:
  // `persons`: somebody's directory, or nothing for an empty one that is gone with the sandbox.
  static base::Result<RunWorkspace> Open(const std::optional<std::string>& persons, const FilesystemOptions& options);

  void ApplyTo(core::SandboxSpec& spec) const;
  [[nodiscard]] const FilesystemRules& rules() const { return rules_; }
  [[nodiscard]] bool IsPersons() const { return directory_.fd.valid(); }
  // Of the person's directory; -1 for none.
  [[nodiscard]] int directory() const { return directory_.fd.get(); }

  // Before anything runs: remembers what is there where a sandbox writes to the directory itself.
  base::Status Begin(const core::Sandbox& sandbox);
  // When everything in it has ended: carries the changes over and tells them.
  base::Status Finish(const core::Sandbox& sandbox, core::ExecutionResult& result) const;

 private:
  base::Status Commit(const core::WorkspaceView& view, core::ExecutionResult& result) const;
  [[nodiscard]] base::Result<workspace::FileSnapshot> Snapshot(const core::Sandbox& sandbox) const;

  workspace::OpenedDirectory directory_;
  FilesystemRules rules_;
  std::optional<workspace::FileSnapshot> before_;
  std::chrono::system_clock::time_point since_;
};

}  // namespace skerry::engine
