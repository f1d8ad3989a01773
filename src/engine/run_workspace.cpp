#include "engine/run_workspace.hpp"

#include <fcntl.h>
#include <time.h>

#include <utility>

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
#include "workspace/persons_directory.hpp"

namespace skerry::engine {
namespace {

// The clock of file time stamps.
std::chrono::system_clock::time_point FileTime() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::chrono::system_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                               std::chrono::nanoseconds(now.tv_nsec));
}

constexpr char kNotListed[] = "files_created: the workspace is too large, too deep or closed, and could not be listed";
constexpr const char* kLeftovers = "/commits";

core::SharedPlace Shared(workspace::OpenedDirectory directory) {
  auto place = std::make_shared<core::HostPlace>();
  place->path = std::move(directory.path);
  place->fd = std::move(directory.fd);
  return place;
}

base::Result<workspace::OpenedDirectory> OpenSession(const workspace::SessionDirectory& session) {
  workspace::OpenedDirectory directory{base::UniqueFd(::openat(session.root(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)),
                                       session.path()};
  if (!directory.fd.valid())
    return os::ErrnoErr("open the workspace of session " + std::string(core::NameOfSession(session.id())));
  return directory;
}

std::vector<std::string> FilesAmong(const std::vector<std::string>& paths, const core::FileMark& mark) {
  std::vector<std::string> files;
  for (const std::string& path : paths)
    if (const auto found = mark.find(path);
        found != mark.end() && found->second.kind != core::FileState::Kind::kDirectory)
      files.push_back(path);
  return files;
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
    SKERRY_ASSIGN_OR_RETURN(workspace::OpenedDirectory opened, OpenSession(session->directory));
    workspace.place_ = Shared(std::move(opened));
  } else if (request.workspace) {
    SKERRY_ASSIGN_OR_RETURN(workspace::OpenedDirectory opened,
                            workspace::OpenPersonsDirectory(*request.workspace, options.own_directories));
    workspace.place_ = Shared(std::move(opened));
    if (!options.state_directory.empty()) workspace::SweepLeftovers(options.state_directory + kLeftovers);
  }
  SKERRY_ASSIGN_OR_RETURN(
      workspace.rules_,
      FilesystemRules::Make(options, workspace.place_ ? workspace.place_->path : "", workspace.directory()));
  return workspace;
}

bool RunWorkspace::IsCopiedFor(const core::Abilities& abilities) const {
  if (!HasDirectory()) return false;
  return abilities.workspace == core::WorkspaceKind::kRemote ||
         (session_ != nullptr && abilities.workspace == core::WorkspaceKind::kInPlace);
}

void RunWorkspace::ApplyTo(core::SandboxSpec& spec, const core::Abilities& abilities) const {
  if (!IsCopiedFor(abilities)) {
    spec.workspace = place_;
    spec.workspace_owner = HasDirectory() ? core::WorkspaceOwner::kPerson : core::WorkspaceOwner::kSkerry;
  }
  rules_.ApplyTo(spec);
}

base::Status RunWorkspace::Begin(core::Sandbox& sandbox, const core::Abilities& abilities, base::Deadline deadline,
                                 const std::stop_token& stop) {
  since_ = FileTime();
  // A sandbox that lives on has its copy already.
  if (session_ != nullptr && session_->mirror != nullptr) return {};
  if (IsCopiedFor(abilities)) {
    mirror_ = std::make_unique<WorkspaceMirror>(directory(), sandbox.files(),
                                                session_ != nullptr ? session_->directory.stage() : -1);
    return mirror_->Push(deadline, stop);
  }
  if (sandbox.files().Local()) return {};
  if (auto mark = sandbox.files().Mark(deadline, stop)) before_ = *std::move(mark);
  return {};
}

base::Status RunWorkspace::Finish(core::Sandbox& sandbox, core::ExecutionResult& result, base::Deadline deadline) {
  if (session_ != nullptr && session_->mirror != nullptr) return FinishMirrored(*session_->mirror, result, deadline);
  if (mirror_ != nullptr) return FinishMirrored(*mirror_, result, deadline);
  const auto view = sandbox.files().Local();
  if (!view) return FinishListed(sandbox, result, deadline);
  // Most programs write nothing, and leave an empty layer.
  const bool untouched =
      view->layered && (session_ == nullptr || session_->memory == nullptr) && os::IsEmptyDirectory(view->changes);
  if (untouched && session_ != nullptr) session_->untouched = true;
  if (untouched) return {};
  if (view->layered) return CarryOver({.changes = view->changes, .merged = view->merged}, result);
  SKERRY_ASSIGN_OR_RETURN(workspace::FileList list, workspace::ListFiles(view->changes, {}));
  result.files_created = std::move(list.files);
  if (!list.complete) result.degraded.emplace_back(kNotListed);
  return {};
}

base::Status RunWorkspace::FinishMirrored(WorkspaceMirror& mirror, core::ExecutionResult& result,
                                          base::Deadline deadline) const {
  // The rules of a person's directory look at what lies beside a change.
  const auto extent = session_ != nullptr ? WorkspaceMirror::Extent::kChanges : WorkspaceMirror::Extent::kEverything;
  SKERRY_ASSIGN_OR_RETURN(const ReceivedLayer layer, mirror.Pull(extent, deadline, {}));
  if (layer.empty() && session_ != nullptr) session_->untouched = true;
  if (layer.empty()) return {};
  SKERRY_RETURN_IF_ERROR(
      CarryOver({.changes = layer.directory(), .merged = layer.directory(), .marks = &layer.marks}, result));
  return mirror.Settle(deadline, {});
}

void RunWorkspace::DescribeChanges(const core::ExecutionResult& result) const {
  const auto describe = [&](const std::vector<std::string>& paths, core::FileAction action) {
    for (const std::string& path : paths) {
      const auto place = workspace::FindPlace(directory(), path);
      if (!place || !place->entry) continue;
      if (auto change = workspace::DescribeEntry(path, *place, action)) session_->changes.push_back(std::move(*change));
    }
  };
  describe(result.files_created, core::FileAction::kCreated);
  describe(result.files_changed, core::FileAction::kChanged);
  for (const std::string& path : result.files_deleted)
    session_->changes.push_back({.path = path, .action = core::FileAction::kRemoved});
}

base::Status RunWorkspace::FinishListed(core::Sandbox& sandbox, core::ExecutionResult& result,
                                        base::Deadline deadline) const {
  auto after = sandbox.files().Mark(deadline, {});
  if (!before_ || !after) {
    result.degraded.emplace_back(kNotListed);
    return {};
  }
  const core::FilesChanged changes = core::Compare(*before_, *std::move(after));
  for (std::string& path : FilesAmong(changes.changed, changes.now))
    (before_->contains(path) ? result.files_changed : result.files_created).push_back(std::move(path));
  result.files_deleted = FilesAmong(changes.removed, *before_);
  if (session_ == nullptr) return {};
  DescribeChanges(result);
  // The last journal does not match the files any more: there is nothing to undo.
  return session_->changes.empty() ? base::Status{} : session_->directory.ForgetLast();
}

base::Result<workspace::CommitReport> RunWorkspace::Commit(const Layer& layer) const {
  CommitPolicy policy({.deny_write = rules_.deny_write(), .protected_paths = rules_.protected_paths()},
                      core::WorkspaceOwner::kPerson, {.merged = layer.merged, .lower = directory()});
  const workspace::CommitLimits limits{.marks = layer.marks, .since = since_};
  if (carry_ == core::Carry::kShow) return workspace::PreviewCommit(layer.changes, directory(), policy, limits);
  if (state_directory_.empty()) {
    workspace::CommitJournal none;
    return workspace::Commit(layer.changes, directory(), policy, limits, none);
  }
  workspace::LeftoverList leftovers(state_directory_ + kLeftovers, directory());
  return workspace::Commit(layer.changes, directory(), policy, limits, leftovers);
}

base::Result<workspace::CommitReport> RunWorkspace::CommitToSession(const Layer& layer) const {
  CommitPolicy policy({.deny_write = rules_.deny_write(), .protected_paths = rules_.protected_paths()},
                      core::WorkspaceOwner::kSkerry, {.merged = layer.merged, .lower = directory()});
  const workspace::CommitLimits limits{.max_file_bytes = session_->max_bytes,
                                       .max_total_bytes = session_->allowance_bytes,
                                       .links = workspace::LinkRule::kOwn,
                                       .counting = workspace::Counting::kGrowth,
                                       .hashing = workspace::Hashing::kContent,
                                       .memory = session_->memory,
                                       .marks = layer.marks};
  if (carry_ == core::Carry::kShow) return workspace::PreviewCommit(layer.changes, directory(), policy, limits);
  workspace::ChangeJournal journal = session_->directory.BeginChanges();
  auto report = workspace::Commit(layer.changes, directory(), policy, limits, journal);
  if (!report) {
    (void)session_->directory.DropChanges();
    return report;
  }
  // Undo takes back the last run, not the change of a tool.
  SKERRY_RETURN_IF_ERROR(session_->execution.empty() ? session_->directory.ForgetChanges()
                                                     : session_->directory.KeepChanges(journal, session_->execution));
  session_->changes = std::move(report->changes);
  session_->untouched = report->untouched;
  return report;
}

base::Status RunWorkspace::CarryOver(const Layer& layer, core::ExecutionResult& result) const {
  SKERRY_ASSIGN_OR_RETURN(workspace::CommitReport report, session_ != nullptr ? CommitToSession(layer) : Commit(layer));
  if (carry_ == core::Carry::kShow) result.diff = workspace::DiffOfLayers(report, layer.changes, directory());
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
