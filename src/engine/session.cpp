#include "engine/session.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/printable.hpp"
#include "core/session_name.hpp"
#include "os/errno_error.hpp"
#include "os/own_directory.hpp"
#include "os/remove_tree.hpp"
#include "workspace/change_diff.hpp"

namespace skerry::engine {
namespace {

using Changes = Session::Changes;

// The file changes of an operation, whatever its result has besides.
Changes ChangesOf(const core::FileChange& change) {
  return {change};
}
Changes ChangesOf(const Changes& changes) {
  return changes;
}
Changes ChangesOf(const workspace::ImportReport& report) {
  return report.changes;
}
Changes ChangesOf(const workspace::AgentWorkspace::Edited& edited) {
  return edited.change ? Changes{*edited.change} : Changes{};
}

core::ExecutionEnd EndOf(const base::Error& error) {
  return {.outcome = "failed", .exit_code = base::RowOf(error.code).exit_code, .reason = error.message};
}

std::vector<core::FileNotice> NoticesOf(const core::ExecutionResult& result) {
  std::vector<core::FileNotice> notices;
  const auto add = [&](const std::vector<core::WithheldFile>& files, core::FileNotice::About about) {
    for (const core::WithheldFile& file : files) notices.push_back({file.path, about, file.reason});
  };
  add(result.files_to_review, core::FileNotice::About::kToReview);
  add(result.files_withheld, core::FileNotice::About::kWithheld);
  return notices;
}

std::string KindOf(const core::ExecutionRequest& request) {
  if (!request.context.empty()) return "cell";
  return request.carry == core::Carry::kShow ? "dry-run" : "run";
}

core::ExecutionRecord RecordOf(const core::ExecutionRequest& request, const std::string& session,
                               std::string execution) {
  return {.id = std::move(execution),
          .session = session,
          .kind = KindOf(request),
          .what = request.code,
          .language = std::string(core::NameOf(request.language)),
          .timeout_seconds = static_cast<std::uint64_t>(request.timeout.count()),
          .memory_mb = request.max_memory_mb,
          .caused_by = request.caused_by.value_or("")};
}

core::ExecutionEnd EndOf(const core::ExecutionResult& result, std::vector<core::FileChange> changes = {},
                         std::vector<core::FileUse> uses = {}) {
  return {.sandbox = result.sandbox_type,
          .risk = std::string(core::NameOf(result.risk.level)),
          .approval = result.approved_by,
          .digest = result.digest,
          .outcome = std::string(core::NameOf(result.outcome.kind)),
          .exit_code = result.outcome.exit_code,
          .reason = result.outcome.Explanation(),
          .obtain = result.timings.obtain,
          .run = result.timings.run,
          .finish = result.timings.finish,
          .changes = std::move(changes),
          .uses = std::move(uses),
          .notices = NoticesOf(result)};
}

}  // namespace

base::Result<Session> Session::Make(workspace::SessionDirectory directory, const SessionLimits& limits,
                                    std::shared_ptr<const Recorder> recorder) {
  Session session;
  session.directory_ = std::make_unique<workspace::SessionDirectory>(std::move(directory));
  session.recorder_ = std::move(recorder);
  session.limits_ = limits;
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd root, os::OpenAgain(session.directory_->root()));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd stage, os::OpenAgain(session.directory_->stage()));
  session.files_ =
      std::make_unique<workspace::AgentWorkspace>(std::move(root), std::move(stage), session.WorkspaceLimits());
  if (!session.directory_->problem().empty()) session.recorder_->Warn(session.directory_->problem());
  SKERRY_RETURN_IF_ERROR(session.PutInOrder());
  return session;
}

workspace::WorkspaceOptions Session::WorkspaceLimits() const {
  workspace::WorkspaceOptions options{.max_bytes = limits_.max_bytes};
  if (limits_.check_room)
    options.room = [check = limits_.check_room, id = id()](std::uint64_t bytes) { return check(id, bytes); };
  return options;
}

// Unfinished executions are lost: this process has the lock, so the ones that began them are dead.
base::Result<std::string> Session::RecordLost(core::RecordStore& store) {
  SKERRY_ASSIGN_OR_RETURN(const auto unfinished, store.Unfinished(id()));
  for (const core::ExecutionRecord& execution : unfinished)
    SKERRY_RETURN_IF_ERROR(recorder_->End(
        id(), execution.id,
        {.state = core::ExecutionState::kLost, .outcome = "lost", .reason = "Skerry was ended meanwhile"}));
  return unfinished.empty() ? std::string() : unfinished.back().id;
}

// A new record store does not know the session.
base::Result<Session::Known> Session::Introduce(core::RecordStore& store) {
  const auto session = store.FindSession(id());
  if (session && !session->deleted_at) return Known::kAlready;
  if (!session && session.error().code != base::Code::kNotFound) return std::unexpected(session.error());
  const auto now = std::chrono::system_clock::now();
  SKERRY_RETURN_IF_ERROR(
      store.AddSession({.id = id(), .created_by = recorder_->by(), .created_at = now, .used_at = now}));
  return Known::kSinceNow;
}

base::Status Session::PutInOrder() {
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, recorder_->Store());
  if (store == nullptr) return {};
  const auto known = Introduce(*store);
  const auto lost = known ? RecordLost(*store) : std::unexpected(known.error());
  if (!lost) return {};  // reported when something is to be written to the store
  if (*known == Known::kAlready && lost->empty() && !directory_->recovered()) return {};
  auto found = Unrecorded();
  // A session with too many files to compare is opened all the same.
  if (!found && found.error().code == base::Code::kTooLarge) {
    recorder_->Warn("what an interruption left in session " + id() + " is not recorded: " + found.error().message);
    return {};
  }
  if (!found) return std::unexpected(std::move(found).error());
  Changes changes = std::move(*found);
  if (changes.empty()) return {};
  SKERRY_ASSIGN_OR_RETURN(const std::string execution,
                          recorder_->Begin({.session = id(),
                                            .kind = "found",
                                            .what = "what an interruption left in the workspace",
                                            .caused_by = *lost}));
  return recorder_->End(id(), execution, {.outcome = "exited", .changes = std::move(changes)});
}

template <class Act>
auto Session::Recorded(const std::string& kind, std::string what, const Act& act) -> decltype(act()) {
  SKERRY_ASSIGN_OR_RETURN(const std::string execution,
                          recorder_->Begin({.session = id(), .kind = kind, .what = std::move(what)}));
  // Commits first what programs that work on a copy did meanwhile: the tool works on the files that they see.
  if (IsMirrored()) SKERRY_RETURN_IF_ERROR(Refresh());
  auto done = [&] {
    const os::AsFileIdentity as(live_ && !IsMirrored() ? identity_ : os::FileIdentity{});
    return act();
  }();
  core::ExecutionEnd end = done ? core::ExecutionEnd{.outcome = "exited"} : EndOf(done.error());
  if (done) end.changes = ChangesOf(*done);
  // The change is committed before the record says so.
  const base::Status committed = live_ && done && !IsMirrored() ? CommitLive(end.changes) : base::Status{};
  if (IsMirrored() && done) Push();
  if (!committed) end = EndOf(committed.error());
  SKERRY_RETURN_IF_ERROR(recorder_->End(id(), execution, std::move(end)));
  SKERRY_RETURN_IF_ERROR(committed);
  return done;
}

base::Result<core::FileChange> Session::Write(std::string_view path, std::string_view bytes,
                                              const workspace::WriteOptions& options) {
  return Recorded("write", base::Printable(path), [&] { return files().Write(path, bytes, options); });
}

base::Result<core::FileChange> Session::WriteStream(std::string_view path, const workspace::WriteOptions& options,
                                                    const std::function<base::Status(workspace::FileWriter&)>& feed) {
  return Recorded("write", base::Printable(path), [&]() -> base::Result<core::FileChange> {
    SKERRY_ASSIGN_OR_RETURN(workspace::FileWriter writer, files().BeginWrite(path, options));
    SKERRY_RETURN_IF_ERROR(feed(writer));
    return writer.Finish();
  });
}

base::Result<core::FileChange> Session::Append(std::string_view path, std::string_view bytes) {
  return Recorded("append", base::Printable(path), [&] { return files().Append(path, bytes); });
}

base::Result<workspace::AgentWorkspace::Edited> Session::Edit(std::string_view path,
                                                              const std::vector<text::TextEdit>& edits,
                                                              const std::optional<std::string>& expected_sha256) {
  return Recorded("edit", base::Printable(path), [&] { return files().Edit(path, edits, expected_sha256); });
}

base::Status Session::MakeDirectory(std::string_view path, workspace::Parents parents) {
  const auto made = Recorded("mkdir", base::Printable(path), [&]() -> base::Result<Changes> {
    SKERRY_RETURN_IF_ERROR(files().MakeDirectory(path, parents));
    return Changes{};
  });
  return made ? base::Status{} : std::unexpected(made.error());
}

base::Result<Changes> Session::Move(std::string_view from, std::string_view to, workspace::Existing existing) {
  return Recorded("move", base::Printable(from) + " to " + base::Printable(to),
                  [&] { return files().Move(from, to, existing); });
}

base::Result<Changes> Session::Copy(std::string_view from, std::string_view to, workspace::Existing existing) {
  return Recorded("copy", base::Printable(from) + " to " + base::Printable(to),
                  [&] { return files().Copy(from, to, existing); });
}

base::Result<Changes> Session::Delete(std::string_view path, workspace::Depth depth) {
  return Recorded("delete", base::Printable(path), [&] { return files().Delete(path, depth); });
}

base::Result<workspace::ImportReport> Session::Import(int archive, const workspace::ImportOptions& options,
                                                      const std::string& what) {
  return Recorded("import", what, [&] {
    return live_ && !IsMirrored() ? workspace::ImportArchive(files(), archive, options)
                                  : ImportByJournal(archive, options);
  });
}

namespace {

// Keeps existing files where that was asked for; refuses nothing else.
class ImportRules : public workspace::CommitRules {
 public:
  ImportRules(int root, workspace::Existing existing) : root_(root), existing_(existing) {}

  std::string Refuses(const workspace::Change& change, const workspace::ChangeContents&) override {
    const auto place = workspace::FindPlace(root_, change.path);
    if (!place) return place.error().code == base::Code::kNotFound ? "" : place.error().message;
    if (!place->entry) return "";
    const bool directory = change.kind == workspace::ChangeKind::kDirectory;
    if (directory != place->HoldsDirectory()) return directory ? "is no directory in the workspace" : "is a directory";
    if (!directory && existing_ == workspace::Existing::kKeep) return std::string(kThere);
    return "";
  }

  static constexpr std::string_view kThere = "is there already";

 private:
  int root_;
  workspace::Existing existing_;
};

// The directory that a path leads to, through existing links.
base::Result<std::string> Whereto(const workspace::AgentWorkspace& files, std::string_view path) {
  SKERRY_ASSIGN_OR_RETURN(std::string mapped, workspace::MapPath(path));
  if (mapped.empty()) return mapped;
  auto located = files.resolver().Locate(mapped, workspace::Resolver::LastLink::kFollow);
  if (located) return std::move(located->path);
  if (located.error().code == base::Code::kNotFound) return mapped;
  return base::Err(located.error().code, base::Printable(path) + ": " + located.error().message);
}

// An archive arrives whole: a withheld file is an error, unless an existing one was to stay.
base::Status CheckWithheld(const std::vector<workspace::Withheld>& withheld, std::vector<std::string>& skipped) {
  for (const workspace::Withheld& row : withheld) {
    if (!row.reason.starts_with(ImportRules::kThere))
      return base::Err(row.reason.contains("larger") ? base::Code::kTooLarge : base::Code::kConflict,
                       base::Printable(row.path) + ": " + row.reason);
    skipped.push_back(row.path);
  }
  return {};
}

}  // namespace

// Unpacks into a directory of its own first, then commits like the changes of a run: a kill at any moment leaves
// nothing of it.
base::Result<workspace::ImportReport> Session::ImportByJournal(int archive, const workspace::ImportOptions& options) {
  constexpr const char* kScratch = "import";
  SKERRY_ASSIGN_OR_RETURN(const SessionRun run, NextRun(""));
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(directory_->stage(), kScratch));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd scratch, os::OpenOwnPart(directory_->stage(), kScratch));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd root, os::OpenAgain(scratch.get()));
  workspace::AgentWorkspace unpacked(std::move(root), base::UniqueFd(), WorkspaceLimits());
  workspace::ImportOptions inside = options;
  SKERRY_ASSIGN_OR_RETURN(inside.directory, Whereto(*files_, options.directory));
  auto report = workspace::ImportArchive(unpacked, archive, inside);
  if (!report) {
    (void)os::RemoveTree(directory_->stage(), kScratch);
    return report;
  }
  ImportRules rules(directory_->root(), options.existing);
  workspace::ChangeJournal journal = directory_->BeginChanges();
  auto committed = workspace::Commit(scratch.get(), directory_->root(), rules,
                                     {.max_file_bytes = limits_.max_bytes,
                                      .max_total_bytes = run.allowance_bytes,
                                      .links = workspace::LinkRule::kOwn,
                                      .directory_modes = workspace::DirectoryModes::kKeep,
                                      .counting = workspace::Counting::kGrowth,
                                      .hashing = workspace::Hashing::kContent},
                                     journal);
  (void)os::RemoveTree(directory_->stage(), kScratch);
  files_->Recount();
  const base::Status whole =
      committed ? CheckWithheld(committed->withheld, report->skipped) : std::unexpected(committed.error());
  if (!whole) {
    SKERRY_RETURN_IF_ERROR(directory_->DropChanges());
    return std::unexpected(whole.error());
  }
  SKERRY_RETURN_IF_ERROR(directory_->ForgetChanges());
  report->changes = std::move(committed->changes);
  return report;
}

base::Result<Changes> Session::Record(const std::string& kind, const std::string& what,
                                      const std::function<base::Result<Changes>()>& act) {
  return Recorded(kind, what, act);
}

base::Result<core::ExecutionResult> Session::Run(SandboxManager& manager, core::ExecutionRequest request,
                                                 const RunStreams& streams, const std::stop_token& stop,
                                                 std::string execution, In sandbox, RunOccasion occasion) {
  const bool dry = request.carry == core::Carry::kShow;
  // A dry run must not change files that others see.
  const bool live = sandbox == In::kThatStays && !dry && live_ != nullptr;
  SKERRY_ASSIGN_OR_RETURN(execution, recorder_->Begin(RecordOf(request, id(), std::move(execution))));
  SKERRY_ASSIGN_OR_RETURN(SessionRun run, NextRun(execution));
  if (live) Join(run);
  request.session_id = id();
  occasion.session = &run;
  auto result = live ? manager.ExecuteLive(*live_, request, streams, occasion, stop)
                     : manager.Execute(request, streams, occasion, stop);
  if (!run.untouched) files_->Recount();
  directory_->Touch();
  SKERRY_RETURN_IF_ERROR(recorder_->End(
      id(), execution, result ? EndOf(*result, std::move(run.changes), std::move(run.uses)) : EndOf(result.error())));
  if (live) SKERRY_RETURN_IF_ERROR(OpenLiveView());
  if (result) result->execution_id = execution;
  return result;
}

base::Result<core::ExecutionResult> Session::RunElsewhere(SandboxManager& manager, core::ExecutionRequest request,
                                                          const RunStreams& streams, const std::stop_token& stop,
                                                          std::string execution, const RunOccasion& occasion) const {
  SKERRY_ASSIGN_OR_RETURN(execution, recorder_->Begin(RecordOf(request, id(), std::move(execution))));
  request.session_id = id();
  auto result = manager.ExecuteCell(request, streams, occasion, stop);
  directory_->Touch();
  SKERRY_RETURN_IF_ERROR(recorder_->End(id(), execution, result ? EndOf(*result) : EndOf(result.error())));
  if (result) result->execution_id = execution;
  return result;
}

base::Result<SessionRun> Session::NextRun(std::string execution) const {
  SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, files_->CurrentUsage());
  std::uint64_t allowance = limits_.max_bytes > usage.bytes ? limits_.max_bytes - usage.bytes : 0;
  if (limits_.room) allowance = std::min(allowance, limits_.room(id()));
  return SessionRun{.directory = *directory_,
                    .execution = std::move(execution),
                    .max_bytes = limits_.max_bytes,
                    .allowance_bytes = allowance};
}

base::Result<std::string> Session::Diff() const {
  SKERRY_ASSIGN_OR_RETURN(const auto last, directory_->Last());
  return last ? workspace::DiffOfJournal(last->journal, last->directory.get(), directory_->root()) : std::string();
}

base::Result<Changes> Session::Undo(workspace::LaterWork later) {
  if (live_)
    return base::Err(base::Code::kConflict, "programs live on in session " + std::string(core::NameOfSession(id())) +
                                                "; end them before an undo");
  SKERRY_ASSIGN_OR_RETURN(const auto last, directory_->Last());
  SKERRY_ASSIGN_OR_RETURN(
      const std::string execution,
      recorder_->Begin(
          {.session = id(), .kind = "undo", .what = "take the last run back", .caused_by = last ? last->label : ""}));
  auto changes = directory_->Undo(later);
  files_->Recount();
  core::ExecutionEnd end = changes ? core::ExecutionEnd{.outcome = "exited"} : EndOf(changes.error());
  if (changes) end.changes = *changes;
  SKERRY_RETURN_IF_ERROR(recorder_->End(id(), execution, std::move(end)));
  return changes;
}

base::Result<Changes> Session::Unrecorded() const {
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, recorder_->Store());
  if (store == nullptr) return base::Err(base::Code::kUnavailable, "there is no record to compare with");
  SKERRY_ASSIGN_OR_RETURN(const auto recorded, store->CurrentFiles(id()));
  SKERRY_ASSIGN_OR_RETURN(const Changes there, files_->AllFiles());
  std::map<std::string_view, const core::FileChange*> known;
  for (const core::FileVersion& version : recorded) known.emplace(version.change.path, &version.change);
  Changes different;
  for (const core::FileChange& file : there) {
    const auto before = known.find(file.path);
    const bool created = before == known.end();
    const bool same = !created && before->second->sha256 == file.sha256 && before->second->kind == file.kind &&
                      before->second->mode == file.mode;
    if (!created) known.erase(before);
    if (same) continue;
    different.push_back(file);
    different.back().action = created ? core::FileAction::kCreated : core::FileAction::kChanged;
  }
  for (const auto& [path, change] : known)
    different.push_back({.path = std::string(path), .action = core::FileAction::kRemoved, .kind = change->kind});
  std::ranges::sort(different, {}, &core::FileChange::path);
  return different;
}

base::Status Session::Remove() {
  return directory_->Remove();
}

}  // namespace skerry::engine
