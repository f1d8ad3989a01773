#include "engine/run_workspace.hpp"

#include <fcntl.h>
#include <time.h>

#include "base/unique_fd.hpp"
#include "core/session_name.hpp"
#include "engine/commit_policy.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"
#include "workspace/change_diff.hpp"
#include "workspace/commit.hpp"
#include "workspace/commit_preview.hpp"
#include "workspace/entry_digest.hpp"
#include "workspace/leftovers.hpp"
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
constexpr const char* kLeftovers = "/commits";

base::Result<workspace::OpenedDirectory> OpenSession(const workspace::SessionDirectory& session) {
  workspace::OpenedDirectory directory{base::UniqueFd(::openat(session.root(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)),
                                       session.path()};
  if (!directory.fd.valid())
    return os::ErrnoErr("open the workspace of session " + std::string(core::NameOfSession(session.id())));
  return directory;
}

}  // namespace

base::Result<RunWorkspace> RunWorkspace::Open(const core::ExecutionRequest& request, SessionRun* session,
                                              const FilesystemOptions& options) {
  if (session != nullptr && request.workspace)
    return base::Err(base::Code::kInvalidArgument, "a session has a workspace of its own; use it or the directory");
  RunWorkspace workspace;
  workspace.session_ = session;
  workspace.carry_ = request.carry;
  workspace.state_directory_ = options.state_directory;
  if (session != nullptr) {
    SKERRY_ASSIGN_OR_RETURN(workspace.directory_, OpenSession(session->directory));
  } else if (request.workspace) {
    SKERRY_ASSIGN_OR_RETURN(workspace.directory_,
                            workspace::OpenPersonsDirectory(*request.workspace, options.own_directories));
    if (!options.state_directory.empty()) workspace::SweepLeftovers(options.state_directory + kLeftovers);
  }
  SKERRY_ASSIGN_OR_RETURN(workspace.rules_,
                          FilesystemRules::Make(options, workspace.directory_.path, workspace.directory_.fd.get()));
  return workspace;
}

void RunWorkspace::ApplyTo(core::SandboxSpec& spec) const {
  spec.workspace = directory_.path;
  spec.workspace_fd = directory_.fd.get();
  spec.workspace_owner = HasDirectory() ? core::WorkspaceOwner::kPerson : core::WorkspaceOwner::kSkerry;
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
    // Most programs write nothing.
    const bool untouched =
        view->layered && (session_ == nullptr || session_->memory == nullptr) && os::IsEmptyDirectory(view->changes);
    if (untouched) return {};
    if (view->layered) return CarryOver(*view, result);
    SKERRY_ASSIGN_OR_RETURN(workspace::FileList list, workspace::ListFiles(view->changes, {}));
    result.files_created = std::move(list.files);
    if (!list.complete) result.degraded.emplace_back(kNotListed);
    return {};
  }
  return FinishInPlace(sandbox, result);
}

void RunWorkspace::DescribeChanges(const core::ExecutionResult& result) const {
  const auto describe = [&](const std::vector<std::string>& paths, core::FileAction action) {
    for (const std::string& path : paths) {
      const auto place = workspace::FindPlace(directory_.fd.get(), path);
      if (!place || !place->entry) continue;
      if (auto change = workspace::DescribeEntry(path, *place, action)) session_->changes.push_back(std::move(*change));
    }
  };
  describe(result.files_created, core::FileAction::kCreated);
  describe(result.files_changed, core::FileAction::kChanged);
  for (const std::string& path : result.files_deleted)
    session_->changes.push_back({.path = path, .action = core::FileAction::kRemoved});
}

base::Status RunWorkspace::FinishInPlace(const core::Sandbox& sandbox, core::ExecutionResult& result) const {
  const auto after = Snapshot(sandbox);
  if (!after || !before_) return {};
  workspace::FileSnapshot::Differences differences = before_->Until(*after);
  result.files_created = std::move(differences.created);
  result.files_changed = std::move(differences.changed);
  result.files_deleted = std::move(differences.deleted);
  if (!before_->complete || !after->complete) result.degraded.emplace_back(kNotListed);
  if (session_ == nullptr) return {};
  DescribeChanges(result);
  // What an undo would take back is not the last run's any more.
  return session_->changes.empty() ? base::Status{} : session_->directory.ForgetLast();
}

base::Result<workspace::CommitReport> RunWorkspace::Commit(const core::WorkspaceView& view) const {
  CommitPolicy policy({.deny_write = rules_.deny_write(), .protected_paths = rules_.protected_paths()},
                      core::WorkspaceOwner::kPerson, {.merged = view.merged, .lower = directory_.fd.get()});
  const workspace::CommitLimits limits{.since = since_};
  if (carry_ == core::Carry::kShow) return workspace::PreviewCommit(view.changes, directory_.fd.get(), policy, limits);
  if (state_directory_.empty()) {
    workspace::CommitJournal none;
    return workspace::Commit(view.changes, directory_.fd.get(), policy, limits, none);
  }
  workspace::LeftoverList leftovers(state_directory_ + kLeftovers, directory_.fd.get());
  return workspace::Commit(view.changes, directory_.fd.get(), policy, limits, leftovers);
}

base::Result<workspace::CommitReport> RunWorkspace::CommitToSession(const core::WorkspaceView& view) const {
  CommitPolicy policy({.deny_write = rules_.deny_write(), .protected_paths = rules_.protected_paths()},
                      core::WorkspaceOwner::kSkerry, {.merged = view.merged, .lower = directory_.fd.get()});
  const workspace::CommitLimits limits{.max_file_bytes = session_->max_bytes,
                                       .max_total_bytes = session_->allowance_bytes,
                                       .links = workspace::LinkRule::kOwn,
                                       .counting = workspace::Counting::kGrowth,
                                       .hashing = workspace::Hashing::kContent,
                                       .memory = session_->memory};
  if (carry_ == core::Carry::kShow) return workspace::PreviewCommit(view.changes, directory_.fd.get(), policy, limits);
  workspace::ChangeJournal journal = session_->directory.BeginChanges();
  auto report = workspace::Commit(view.changes, directory_.fd.get(), policy, limits, journal);
  if (!report) {
    (void)session_->directory.DropChanges();
    return report;
  }
  // What a tool did is not for undo, which takes the last run back.
  SKERRY_RETURN_IF_ERROR(session_->execution.empty() ? session_->directory.ForgetChanges()
                                                     : session_->directory.KeepChanges(journal, session_->execution));
  session_->changes = std::move(report->changes);
  return report;
}

base::Status RunWorkspace::CarryOver(const core::WorkspaceView& view, core::ExecutionResult& result) const {
  SKERRY_ASSIGN_OR_RETURN(workspace::CommitReport report, session_ != nullptr ? CommitToSession(view) : Commit(view));
  if (carry_ == core::Carry::kShow) result.diff = workspace::DiffOfLayers(report, view.changes, directory_.fd.get());
  result.files_created = std::move(report.created);
  result.files_changed = std::move(report.changed);
  result.files_deleted = std::move(report.deleted);
  for (workspace::Withheld& row : report.withheld)
    result.files_withheld.push_back({std::move(row.path), std::move(row.reason)});
  for (workspace::Withheld& row : report.to_review)
    result.files_to_review.push_back({std::move(row.path), std::move(row.reason)});
  return {};
}

}  // namespace skerry::engine
