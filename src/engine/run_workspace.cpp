#include "engine/run_workspace.hpp"

#include <fcntl.h>
#include <time.h>

#include "base/unique_fd.hpp"
#include "engine/commit_policy.hpp"
#include "workspace/commit.hpp"
#include "workspace/overlay_changes.hpp"

namespace skerry::engine {
namespace {

// The clock that file systems stamp by.
std::chrono::system_clock::time_point FileTime() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::chrono::system_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                               std::chrono::nanoseconds(now.tv_nsec));
}

constexpr char kNotListed[] = "files_created: the workspace is too large, too deep or closed, and could not be listed";

}  // namespace

base::Result<RunWorkspace> RunWorkspace::Open(const std::optional<std::string>& persons,
                                              const FilesystemOptions& options) {
  RunWorkspace workspace;
  if (persons) {
    SKERRY_ASSIGN_OR_RETURN(workspace.directory_, workspace::OpenPersonsDirectory(*persons, options.own_directories));
  }
  SKERRY_ASSIGN_OR_RETURN(workspace.rules_,
                          FilesystemRules::Make(options, workspace.directory_.path, workspace.directory_.fd.get()));
  return workspace;
}

void RunWorkspace::ApplyTo(core::SandboxSpec& spec) const {
  spec.workspace = directory_.path;
  spec.workspace_fd = directory_.fd.get();
  spec.workspace_owner = IsPersons() ? core::WorkspaceOwner::kPerson : core::WorkspaceOwner::kSkerry;
  rules_.ApplyTo(spec);
}

base::Result<workspace::FileSnapshot> RunWorkspace::Snapshot(const core::Sandbox& sandbox) const {
  if (sandbox.Workspace() == directory_.path) return workspace::FileSnapshot::Take(directory_.fd.get());
  const base::UniqueFd elsewhere(::open(sandbox.Workspace().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return workspace::FileSnapshot::Take(elsewhere.get());
}

base::Status RunWorkspace::Begin(const core::Sandbox& sandbox) {
  since_ = FileTime();
  if (sandbox.View()) return {};
  SKERRY_ASSIGN_OR_RETURN(before_, Snapshot(sandbox));
  return {};
}

base::Status RunWorkspace::Finish(const core::Sandbox& sandbox, core::ExecutionResult& result) const {
  if (const auto view = sandbox.View()) {
    if (view->layered) return Commit(*view, result);
    SKERRY_ASSIGN_OR_RETURN(workspace::FileList list, workspace::ListFiles(view->changes, {}));
    result.files_created = std::move(list.files);
    if (!list.complete) result.degraded.emplace_back(kNotListed);
    return {};
  }
  const auto after = Snapshot(sandbox);
  if (!after || !before_) return {};
  result.files_created = before_->CreatedSince(*after);
  if (!before_->complete || !after->complete) result.degraded.emplace_back(kNotListed);
  return {};
}

base::Status RunWorkspace::Commit(const core::WorkspaceView& view, core::ExecutionResult& result) const {
  CommitPolicy policy(rules_.deny_write(), core::WorkspaceOwner::kPerson,
                      {.merged = view.merged, .lower = directory_.fd.get()});
  SKERRY_ASSIGN_OR_RETURN(workspace::CommitReport report,
                          workspace::Commit(view.changes, directory_.fd.get(), policy, {.since = since_}));
  result.files_created = std::move(report.created);
  result.files_changed = std::move(report.changed);
  result.files_deleted = std::move(report.deleted);
  for (workspace::Withheld& row : report.withheld)
    result.files_withheld.push_back({std::move(row.path), std::move(row.reason)});
  return {};
}

}  // namespace skerry::engine
