#include "engine/host.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/own_directory.hpp"

namespace skerry::engine {
namespace {

using std::chrono_literals::operator""s;

base::Error NoSession(const std::string& name) {
  return {base::Code::kNotFound, "there is no session " + name.substr(0, 64)};
}

// Only for principals that see all tenants.
base::Error WhichOne(const std::string& name, const std::vector<std::shared_ptr<HostedSession>>& found) {
  constexpr std::size_t kShown = 5;
  std::string ids;
  for (const auto& session : found | std::views::take(kShown))
    ids += (ids.empty() ? "" : ", ") + session->id() + " (" + session->tenant() + ")";
  return {base::Code::kConflict, "several tenants have a session " + name + "; name one by its unique_id: " + ids};
}

std::string SharedWorkspace(const std::string& tenant) {
  return "shared-" + tenant;
}

}  // namespace

Host::Host(HostOptions options, SandboxManager& manager, base::WorkerPool& workers)
    : options_(std::move(options)),
      manager_(manager),
      workers_(workers),
      approvals_(Recorded(options_.approvals)),
      remembered_(approvals_) {}

confirm::ApprovalQueueOptions Host::Recorded(confirm::ApprovalQueueOptions options) {
  options.before_asking = [this](const confirm::Approval& approval) { return chronicle_->Asks(approval); };
  return options;
}

base::Result<std::unique_ptr<Host>> Host::Start(HostOptions options, SandboxManager& manager,
                                                base::WorkerPool& workers) {
  std::unique_ptr<Host> host(new Host(std::move(options), manager, workers));
  SKERRY_RETURN_IF_ERROR(host->Open());
  SKERRY_RETURN_IF_ERROR(host->Recover());
  for (const std::string& problem : manager.SweepOrphans(5s)) host->Warn(problem);
  host->subscription_ =
      host->approvals_.Subscribe([&host = *host](const confirm::Event& event) { host.RecordApproval(event); });
  host->monitor_ = std::make_unique<Monitor>(
      manager.watched(), host->options_.monitor,
      [&host = *host](const std::string& workspace, const std::string& execution, const watch::AlertChange& change) {
        host.NoteAlert(workspace, execution, change);
      });
  host->OfferFigures();
  host->tender_ = std::jthread([&host = *host](const std::stop_token& stop) { host.Tend(stop); });
  return host;
}

Host::~Host() {
  tender_ = {};
  if (runs_) StopRuns();
  for (const auto& session : All()) session->life().End();
  {
    // A run is over a little before its worker has reported all of it.
    std::unique_lock lock(mutex_);
    performed_.wait(lock, [this] { return performing_ == 0; });
  }
  if (monitor_) monitor_->Stop();
  if (chronicle_ && tokens_) chronicle_->DaemonEnds();
}

void Host::StopRuns() {
  // Processes that are paused cannot end.
  for (const auto& session : All())
    if (session->life().IsPaused()) (void)session->life().Resume();
  (void)runs_->Stop(std::nullopt, base::Deadline::After(30s));
}

base::Status Host::Open() {
  SKERRY_ASSIGN_OR_RETURN(directory_, os::OpenOwnDirectory(options_.state_directory));
  SKERRY_ASSIGN_OR_RETURN(output_directory_, os::OpenOwnPart(directory_.get(), "outputs"));
  auto lock = os::LockFile(directory_.get(), "daemon.lock", os::LockMode::kExclusive, base::Deadline::After(0s));
  if (!lock)
    return base::Err(base::Code::kConflict, "another daemon uses " + options_.state_directory +
                                                "; stop it, or set sandbox.record.path to another place");
  lock_ = std::move(*lock);
  SKERRY_ASSIGN_OR_RETURN(watch::AuditLog audit,
                          watch::AuditLog::Open({.directory = options_.state_directory + "/audit"}));
  options_.chronicle.audit = options_.budgets.audit;
  chronicle_ = std::make_unique<Chronicle>(std::move(audit), options_.chronicle);
  chronicle_->DaemonBegan(options_.version);
  SKERRY_RETURN_IF_ERROR(NoteConfiguration());
  options_.recorder.most_of_execution = options_.budgets.record_of_run;
  options_.recorder.told = [this](const std::string& session, const std::string& execution,
                                  const std::vector<core::FileChange>& changes) {
    NoteFiles(session, execution, changes);
  };
  options_.sessions.limits.room = [this](const std::string& workspace) { return RoomFor(workspace); };
  options_.sessions.limits.check_room = [this](const std::string& workspace, std::uint64_t bytes) -> base::Status {
    if (bytes <= RoomFor(workspace)) return {};
    return NoRoomOnDisk();
  };
  sessions_ = std::make_unique<Sessions>(options_.sessions, std::make_shared<const Recorder>(options_.recorder));
  OpenBudgets();
  runs_ = std::make_unique<Runs>(*options_.store, *outputs_);
  SKERRY_ASSIGN_OR_RETURN(Tokens tokens, Tokens::Load(*options_.store));
  tokens_ = std::make_unique<Tokens>(std::move(tokens));
  return {};
}

void Host::OpenBudgets() {
  const Budgets& budgets = options_.budgets;
  room_ = std::make_unique<DiskRoom>(options_.state_directory, budgets.reserve);
  workspace_room_ = std::make_unique<DiskRoom>(options_.sessions.base_dir, budgets.reserve);
  outputs_ = std::make_unique<Outputs>(
      output_directory_.get(),
      base::BudgetLimits{
          .each = budgets.output.each, .all = budgets.output.all, .left = [&room = *room_] { return room.Left(); }});
  spool_ = std::make_shared<base::Budget>(base::BudgetLimits{
      .each = budgets.spool.each, .all = budgets.spool.all, .left = [&room = *room_] { return room.LeftForLarge(); }});
  keeper_ = std::make_unique<RecordKeeper>(
      budgets.record, KeeperParts{.runs = *options_.store,
                                  .history = options_.record.get(),
                                  .room = *room_,
                                  .owner = std::string(kLocalTenant),
                                  .forget_output = [this](const std::string& run) { outputs_->Remove(run); },
                                  .make_room = [this](std::uint64_t bytes) { outputs_->MakeRoomOnDisk(bytes); }});
}

base::Error Host::Told(const Principal& principal, base::Error error) const {
  if (principal.owner) return error;
  for (const std::string& place : {options_.state_directory, options_.sessions.base_dir})
    for (std::size_t at = place.empty() ? std::string::npos : error.message.find(place); at != std::string::npos;
         at = error.message.find(place))
      error.message.replace(at, place.size(), "…");
  return error;
}

// The owner may use the reserve.
std::uint64_t Host::RoomFor(const std::string& workspace) const {
  const auto sessions = ThoseAt(workspace);
  const bool owners = std::ranges::any_of(sessions, [](const auto& each) { return each->tenant() == kLocalTenant; });
  if (options_.budgets.reserve == 0 || owners) return UINT64_MAX;
  // A session that is being made needs little.
  return sessions.empty() ? workspace_room_->Left() : workspace_room_->LeftForLarge();
}

base::Status Host::Recover() {
  SKERRY_ASSIGN_OR_RETURN(const auto lost, runs_->MarkLost());
  SKERRY_ASSIGN_OR_RETURN(const auto owners, options_.store->RunOwners());
  SKERRY_RETURN_IF_ERROR(outputs_->Adopt(owners));
  for (const core::RunRecord& run : lost) chronicle_->RunLost(run);
  SKERRY_RETURN_IF_ERROR(
      options_.store->CancelApprovals("the daemon was ended meanwhile", std::chrono::system_clock::now()));
  SKERRY_ASSIGN_OR_RETURN(const auto records, options_.store->Hosted());
  SKERRY_ASSIGN_OR_RETURN(const auto there, sessions_->List());
  std::set<std::string> directories;
  for (const SessionSummary& session : there) directories.insert(session.id);
  for (const core::HostedSessionRecord& record : records) {
    auto settings = DecodeSettings(record.settings);
    if (!settings) {
      Warn("session " + record.id + ": " + settings.error().message + "; it gets the settings of the configuration");
      settings = options_.defaults;
    }
    if (settings->mode != LifeMode::kShared && !directories.contains(record.id)) {
      // Its making or its removal was interrupted: no client was told that the session exists.
      SKERRY_RETURN_IF_ERROR(options_.store->RemoveHosted(record.id));
      continue;
    }
    Add(record, *settings, record.in_use ? Condition::kCrashed : Condition::kIdle);
    if (!record.in_use) continue;
    core::HostedSessionRecord now = record;
    now.in_use = false;
    SKERRY_RETURN_IF_ERROR(options_.store->UpdateHosted(now));
    // Repairs what an interrupted commit left, before anybody reads the files.
    const std::string workspace = hosted_.at(record.id)->life().workspace();
    if (const auto opened = sessions_->Open(workspace, base::Deadline::After(5s)); !opened)
      Warn("session " + record.id + ": " + opened.error().message);
  }
  return Adopt();
}

// Takes over sessions that were made without a daemon.
base::Status Host::Adopt() {
  SKERRY_ASSIGN_OR_RETURN(const auto there, sessions_->List());
  for (const SessionSummary& session : there) {
    if (hosted_.contains(session.id) || session.id.starts_with("shared-")) continue;
    core::HostedSessionRecord record{.id = session.id,
                                     .tenant = std::string(kLocalTenant),
                                     .settings = EncodeSettings(options_.defaults),
                                     .created_at = session.used_at};
    SKERRY_RETURN_IF_ERROR(options_.store->AddHosted(record, std::nullopt));
    Add(std::move(record), options_.defaults, Condition::kIdle);
  }
  return {};
}

std::shared_ptr<SessionLife> Host::LifeFor(const std::string& tenant, const std::string& id,
                                           const SessionSettings& settings) {
  const bool shared = settings.mode == LifeMode::kShared;
  if (shared)
    if (auto life = shared_[tenant].lock()) return life;
  const std::string workspace = shared ? SharedWorkspace(tenant) : id;
  auto life = std::make_shared<SessionLife>(
      workspace, settings,
      LifeParts{*sessions_, manager_, [this, workspace](bool has) { NoteSandbox(workspace, has); }, tenant,
                options_.own_contexts});
  if (shared) shared_[tenant] = life;
  return life;
}

void Host::Add(core::HostedSessionRecord record, const SessionSettings& settings, Condition condition) {
  const std::scoped_lock lock(mutex_);
  auto life = LifeFor(record.tenant, record.id, settings);
  // The record keeps the tenant for the time after the session's deletion. A record without the session learns of it at
  // the first use.
  if (options_.record) (void)options_.record->SetTenant(life->workspace(), record.tenant);
  const std::string id = record.id;
  hosted_.insert_or_assign(id,
                           std::make_shared<HostedSession>(std::move(record), settings, std::move(life), condition));
}

std::size_t Host::CountContexts() const {
  std::size_t count = 0;
  for (const auto& session : List({.scopes = {core::TokenScope::kAdmin}}))
    count += session->life().contexts().List().size();
  return count;
}

// In a session's sandbox a cell is approved once, and there is nothing to forget.
void Host::ForgetApprovalsOfContexts(const HostedSession& session) {
  if (options_.own_contexts) remembered_.Forget(session.id());
}

std::vector<std::shared_ptr<HostedSession>> Host::ThoseAt(const std::string& workspace) const {
  std::vector<std::shared_ptr<HostedSession>> sessions;
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, session] : hosted_)
    if (session->life().workspace() == workspace) sessions.push_back(session);
  return sessions;
}

void Host::NoteSandbox(const std::string& workspace, bool has) {
  for (const auto& session : ThoseAt(workspace)) {
    (void)options_.store->UpdateHosted(session->record(has));
    chronicle_->SessionState(session->name(), session->tenant(), has ? "active" : "idle");
  }
}

// While it lives, the session's id is taken and counts for its tenant.
class Host::Making {
 public:
  Making(Host& host, std::string id) : host_(host), id_(std::move(id)) {}
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  ~Making() {
    const std::scoped_lock lock(host_.mutex_);
    host_.making_.erase(id_);
    host_.made_.notify_all();
  }

 private:
  Host& host_;
  std::string id_;
};

// The id of the tenant's session of this name, existing or being made. Needs the lock.
std::optional<std::string> Host::Holder(const std::string& tenant, const std::string& name) const {
  for (const auto& [id, session] : hosted_)
    if (session->tenant() == tenant && core::NameOfSession(id) == name) return id;
  for (const auto& [id, whose] : making_)
    if (whose == tenant && core::NameOfSession(id) == name) return id;
  return std::nullopt;
}

// Counts sessions that exist and that are being made, so that no two requests at once exceed a limit. Gives the id.
base::Result<std::string> Host::Reserve(const Principal& principal, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (Holder(principal.tenant, name))
    return base::Err(base::Code::kConflict, "there is a session " + name + " already");
  const auto mine = [&](const std::string& tenant) { return tenant == principal.tenant; };
  const auto of_tenant =
      std::ranges::count_if(hosted_, [&](const auto& entry) { return mine(entry.second->tenant()); }) +
      std::ranges::count_if(making_, [&](const auto& entry) { return mine(entry.second); });
  if (principal.most_sessions != 0 && static_cast<std::uint64_t>(of_tenant) >= principal.most_sessions)
    return base::Err(base::Code::kRateLimited, "there are " + std::to_string(of_tenant) +
                                                   " sessions, the most that this token may have; delete one");
  if (hosted_.size() + making_.size() >= options_.max_sessions)
    return base::Err(base::Code::kUnavailable,
                     "there are " + std::to_string(hosted_.size()) + " sessions, the most that this daemon may have");
  // The owner finds the files under the session's name; names that other tenants choose are no names of directories.
  const bool plain = principal.tenant == kLocalTenant && !hosted_.contains(name) && !making_.contains(name);
  std::string id = plain ? name : core::SessionIdOf(name, base::RandomId(""));
  making_.emplace(id, principal.tenant);
  return id;
}

void Host::AwaitMade(const std::string& id) {
  std::unique_lock lock(mutex_);
  (void)made_.wait_for(lock, 30s, [&] { return !making_.contains(id); });
}

void Host::AwaitMade(const std::string& tenant, const std::string& name) {
  std::unique_lock lock(mutex_);
  const auto holder = Holder(tenant, name);
  (void)made_.wait_for(lock, 30s, [&] { return !holder || !making_.contains(*holder); });
}

std::shared_ptr<HostedSession> Host::Get(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = hosted_.find(id);
  return found == hosted_.end() ? nullptr : found->second;
}

base::Result<Host::Made> Host::Replay(const Principal& principal, const core::IdempotencyClaim& claim) {
  SKERRY_ASSIGN_OR_RETURN(const auto known, options_.store->FindClaim(claim.tenant, claim.key));
  if (known.request_sha256 != claim.request_sha256)
    return base::Err(base::Code::kConflict, "this Idempotency-Key was used for another request");
  AwaitMade(known.made);
  auto session = Get(known.made);
  if (session == nullptr || session->tenant() != principal.tenant)
    return std::unexpected(NoSession(std::string(core::NameOfSession(known.made))));
  return Made{std::move(session), true};
}

base::Result<Host::Made> Host::Create(const Principal& principal, NewSession wanted) {
  if (wanted.name) SKERRY_RETURN_IF_ERROR(workspace::CheckSessionId(*wanted.name));
  if (wanted.name && wanted.name->starts_with("shared-"))
    return base::Err(base::Code::kInvalidArgument, "ids that begin with shared- are not for sessions");
  if (wanted.claim && options_.store->FindClaim(wanted.claim->tenant, wanted.claim->key))
    return Replay(principal, *wanted.claim);
  SKERRY_RETURN_IF_ERROR(Admit(principal));
  const std::string name = wanted.name ? *wanted.name : base::RandomId("s");
  core::HostedSessionRecord record{.tenant = principal.tenant,
                                   .settings = EncodeSettings(wanted.settings),
                                   .created_at = std::chrono::system_clock::now()};
  if (wanted.ttl) record.expires_at = record.created_at + *wanted.ttl;
  auto reserved = Reserve(principal, name);
  if (!reserved) {
    // Who made the name a conflict may still be at it: after this the session can be found.
    if (reserved.error().code == base::Code::kConflict) {
      AwaitMade(principal.tenant, name);
      if (wanted.claim)
        if (auto replayed = Replay(principal, *wanted.claim)) return replayed;
    }
    return std::unexpected(reserved.error());
  }
  record.id = *std::move(reserved);
  const Making making(*this, record.id);
  if (const auto added = options_.store->AddHosted(record, wanted.claim); !added) {
    // Another request with the same key was faster.
    if (wanted.claim && added.error().code == base::Code::kConflict) return Replay(principal, *wanted.claim);
    return std::unexpected(added.error());
  }
  const bool shared = wanted.settings.mode == LifeMode::kShared;
  const auto made = sessions_->Create(shared ? SharedWorkspace(principal.tenant) : record.id);
  // The shared workspace may exist, and be in use.
  const bool there =
      shared && !made && (made.error().code == base::Code::kConflict || made.error().code == base::Code::kUnavailable);
  if (!made && !there) {
    (void)options_.store->RemoveHosted(record.id);
    return std::unexpected(made.error());
  }
  Add(record, wanted.settings, Condition::kIdle);
  const auto session = Get(record.id);
  if (const auto noted = chronicle_->SessionMade(record, principal); !noted) {
    (void)Remove(session, "unrecorded");
    return std::unexpected(noted.error());
  }
  return Made{session, false};
}

base::Result<std::shared_ptr<HostedSession>> Host::Find(const Principal& principal, const std::string& name) const {
  const auto now = std::chrono::system_clock::now();
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<HostedSession>> others;
  for (const auto& [id, session] : hosted_) {
    if (session->Expired(now)) continue;
    const bool named = core::NameOfSession(id) == name;
    if (named && session->tenant() == principal.tenant) return session;
    if (named) others.push_back(session);
  }
  if (!principal.everybody()) return std::unexpected(NoSession(name));
  if (const auto exact = hosted_.find(name); exact != hosted_.end() && !exact->second->Expired(now))
    return exact->second;
  if (others.size() == 1) return others.front();
  return std::unexpected(others.empty() ? NoSession(name) : WhichOne(name, others));
}

std::vector<std::shared_ptr<HostedSession>> Host::All() const {
  return List({.scopes = {core::TokenScope::kAdmin}});
}

std::vector<std::shared_ptr<HostedSession>> Host::List(const Principal& principal) const {
  std::vector<std::shared_ptr<HostedSession>> sessions;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, session] : hosted_)
      if (principal.Sees(session->tenant())) sessions.push_back(session);
  }
  std::ranges::sort(sessions, {}, [](const auto& session) { return std::tuple(session->name(), session->id()); });
  return sessions;
}

base::Status Host::Delete(const Principal& principal, const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(const auto session, Find(principal, id));
  return Remove(session, "deleted", &principal);
}

base::Status Host::Remove(const std::shared_ptr<HostedSession>& session, std::string_view why, const Principal* by) {
  const std::string& id = session->id();
  if (!session->BeginRemoval()) return std::unexpected(NoSession(session->name()));
  bool last = true;
  {
    const std::scoped_lock lock(mutex_);
    hosted_.erase(id);
    for (const auto& [other, hosted] : hosted_) last = last && hosted->shared_life() != session->shared_life();
    // The tenant's next shared session begins anew.
    if (last && session->settings().mode == LifeMode::kShared) shared_.erase(session->tenant());
  }
  chronicle_->SessionEnded(id, session->tenant(), why, by);
  remembered_.Forget(id);
  if (session->life().IsPaused()) (void)session->life().Resume();
  (void)runs_->Stop(id, base::Deadline::After(10s));
  if (last) {
    session->life().End();
    const auto removed = sessions_->Delete(session->life().workspace(), base::Deadline::After(10s));
    if (!removed && removed.error().code != base::Code::kNotFound) return removed;
  }
  (void)runs_->ForgetOutputs(id);
  return options_.store->RemoveHosted(id);
}

base::Status Host::Extend(HostedSession& session, std::chrono::seconds ttl) {
  session.SetExpiry(std::chrono::system_clock::now() + ttl);
  return options_.store->UpdateHosted(session.record(session.life().HasSandbox()));
}

base::Status Host::Stop(HostedSession& session) {
  if (session.life().IsPaused()) (void)session.life().Resume();
  if (!runs_->Stop(session.id(), base::Deadline::After(10s)))
    return base::Err(base::Code::kTimeout, "what runs in session " + session.name() + " does not end");
  return session.life().Rest();
}

void Host::Tend(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any waiting;
  for (unsigned round = 0;; ++round) {
    std::unique_lock lock(mutex);
    if (waiting.wait_for(lock, stop, 1s, [&] { return stop.stop_requested(); }) || stop.stop_requested()) return;
    const auto now = std::chrono::system_clock::now();
    for (const auto& session : All()) {
      if (session->Expired(now)) {
        RemoveBeside(session, "expired");
        continue;
      }
      // Ending a sandbox takes time, and must not hold up the other sessions.
      if (session->life().IsIdle())
        (void)workers_.Submit([session, mark = Performing()] { session->life().RestIfIdle(); });
    }
    runs_->WriteAgain();
    NoteInputs();
    if (round % 10 != 0) continue;
    if (round % 600 == 0) RemoveUnused();
    (void)runs_->Forget(options_.keep_results, options_.keep_results_count);
    if (const auto tended = keeper_->Tend(stop); !tended) Warn(tended.error().message);
    if (round % 60 == 0) chronicle_->CountAudit();
  }
}

// A removal waits for the users of the session, so it gets a worker of its own.
void Host::RemoveBeside(const std::shared_ptr<HostedSession>& session, const char* why) {
  (void)workers_.Submit([this, session, why, mark = Performing()] {
    const auto removed = Remove(session, why);
    // kNotFound: the session is being removed already.
    if (!removed && removed.error().code != base::Code::kNotFound)
      Warn("session " + session->id() + ": " + removed.error().message);
  });
}

// S4.1: decides by the last use of the files, also before this process was started. The directories of the swept
// sessions are gone already.
void Host::RemoveUnused() {
  const auto swept = sessions_->Sweep();
  if (!swept) return;
  for (const auto& session : All())
    if (std::ranges::find(*swept, session->life().workspace()) != swept->end()) RemoveBeside(session, "unused");
}

void Host::Warn(const std::string& text) const {
  chronicle_->Log(watch::LogLevel::kWarning, text);
}

}  // namespace skerry::engine
