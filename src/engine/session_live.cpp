// A session whose processes live on: its sandbox, its view of the files, its commits.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/session_name.hpp"
#include "engine/session.hpp"
#include "os/own_directory.hpp"

namespace skerry::engine {

workspace::AgentWorkspace& Session::files() const {
  const std::scoped_lock lock(*view_mutex_);
  return live_files_.empty() ? *files_ : *live_files_.back();
}

base::Status Session::BeginLife(SandboxManager& manager, const core::ExecutionRequest& request,
                                const core::SandboxLimits& limits, const std::string& tenant, base::Deadline deadline,
                                const std::stop_token& stop) {
  if (live_)
    return base::Err(base::Code::kConflict, "session " + std::string(core::NameOfSession(id())) + " lives already");
  SKERRY_ASSIGN_OR_RETURN(SessionRun run, NextRun(""));
  SKERRY_ASSIGN_OR_RETURN(live_, manager.StartLive(request, run, limits, tenant, deadline, stop));
  manager_ = &manager;
  return OpenLiveView();
}

// The workspace as programs see it. New files have to belong to the programs' user: they know no other.
base::Status Session::OpenLiveView() {
  if (IsMirrored()) return {};
  const std::scoped_lock order(live_->order, *view_mutex_);
  if (!live_files_.empty() && generation_ == live_->generation) return {};
  const auto view = live_->sandbox->files().Local();
  if (!view) return base::Err(base::Code::kInternal, "the sandbox has no view of its workspace");
  SKERRY_ASSIGN_OR_RETURN(identity_, os::IdentityOf(view->merged));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd merged, os::OpenAgain(view->merged));
  live_files_.push_back(
      std::make_unique<workspace::AgentWorkspace>(std::move(merged), base::UniqueFd(), WorkspaceLimits()));
  generation_ = live_->generation;
  return {};
}

void Session::Join(SessionRun& run) const {
  if (live_->mirror != nullptr)
    run.mirror = live_->mirror.get();
  else
    run.memory = &live_->memory;
}

base::Status Session::Refresh() {
  return IsMirrored() && live_->sandbox->IsRunning() ? CommitLive({}) : base::Status{};
}

// What cannot be pushed now is pushed before the next command.
void Session::Push() {
  constexpr std::chrono::seconds kPatience{30};
  const std::scoped_lock order(live_->order);
  if (!live_->sandbox->IsRunning()) return;
  if (const auto pushed = live_->mirror->Push(base::Deadline::After(kPatience), {}); !pushed)
    recorder_->Warn("session " + id() + ": its sandbox does not have the newest files yet: " + pushed.error().message);
}

base::Status Session::CommitLive(const Changes& own) {
  SKERRY_ASSIGN_OR_RETURN(SessionRun run, NextRun(""));
  Join(run);
  SKERRY_RETURN_IF_ERROR(manager_->CommitLive(*live_, run));
  return RecordBackground(std::move(run), own);
}

base::Status Session::RecordBackground(SessionRun run, const Changes& own) {
  files_->Recount();
  // The rest was changed by programs that live on.
  std::erase_if(run.changes, [&](const core::FileChange& change) {
    return std::ranges::find(own, change.path, &core::FileChange::path) != own.end();
  });
  if (run.changes.empty()) return {};
  SKERRY_ASSIGN_OR_RETURN(const std::string execution,
                          recorder_->Begin({.session = id(), .kind = "background", .what = "programs that live on"}));
  return recorder_->End(id(), execution, {.outcome = "exited", .changes = std::move(run.changes)});
}

base::Status Session::EndLife() {
  if (!live_) return {};
  const auto end = [&]() -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(SessionRun run, NextRun(""));
    Join(run);
    SKERRY_RETURN_IF_ERROR(manager_->StopLive(*live_, run));
    return RecordBackground(std::move(run), {});
  };
  const auto committed = end();
  live_files_.clear();
  live_.reset();
  manager_ = nullptr;
  return committed;
}

}  // namespace skerry::engine
