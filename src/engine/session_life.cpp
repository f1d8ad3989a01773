#include "engine/session_life.hpp"

#include <thread>
#include <utility>

#include "core/session_name.hpp"
#include "engine/context_sandbox.hpp"

namespace skerry::engine {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kPatience = 30s;     // for the session to become free, here or in another process
constexpr auto kFilePatience = 5s;  // of a change of files, for an approved run to end
constexpr auto kEndPatience = 5s;   // for processes that are about to end
constexpr auto kMakingPatience = 600s;
constexpr auto kMotionPatience = 30s;

}  // namespace

class SessionLife::Use {
 public:
  explicit Use(SessionLife& life, Mark mark = Mark::kUsed) : life_(&life), mark_(mark) {}
  Use(Use&& other) noexcept : life_(std::exchange(other.life_, nullptr)), mark_(other.mark_) {}
  Use& operator=(Use&&) = delete;
  ~Use() {
    if (life_ != nullptr) life_->Leave(mark_);
  }

 private:
  SessionLife* life_;
  Mark mark_;
};

SessionLife::SessionLife(std::string workspace, SessionSettings settings, LifeParts parts)
    : workspace_(std::move(workspace)),
      settings_(std::move(settings)),
      parts_(std::move(parts)),
      contexts_(OptionsOfContexts()) {}

void SessionLife::AddTo(core::ExecutionRequest& request) const {
  for (const auto& [name, value] : settings_.environment)
    if (request.environment.emplace(name, value).second && settings_.secrets.contains(name))
      request.secrets.insert(name);
  parts_.manager.AddUsualEnvironment(request);
}

base::Result<ResolvedEnvironment> SessionLife::EnvironmentOfContexts() const {
  core::ExecutionRequest request;
  AddTo(request);
  return parts_.manager.Resolved(request.environment, request.secrets, parts_.tenant);
}

ContextOptions SessionLife::OptionsOfContexts() {
  const auto environment = [this]() -> base::Result<Environment> {
    SKERRY_ASSIGN_OR_RETURN(ResolvedEnvironment resolved, EnvironmentOfContexts());
    return std::move(resolved.values);
  };
  if (parts_.own_contexts)
    return {.make_sandbox = [this](core::Language) { return StartContextSandbox(parts_.manager); },
            .environment = environment,
            .idle_timeout = *parts_.own_contexts};
  return {.make_sandbox = [this](core::Language) -> base::Result<ContextPlace> {
            // The session's sandbox, which is alive while a run uses it.
            std::shared_ptr<core::Sandbox> borrowed(std::shared_ptr<void>(), &session_->sandbox());
            return ContextPlace{.sandbox = std::move(borrowed), .backend = std::string(session_->backend().Name())};
          },
          .ends = core::Reach::kCommand,
          .environment = environment};
}

SessionLife::~SessionLife() {
  End();
}

std::string SessionLife::Name() const {
  return std::string(core::NameOfSession(workspace_));
}

base::Error SessionLife::NotAlone() const {
  return {base::Code::kConflict,
          "programs run in session " + Name() + "; this needs it for itself: wait for them, or end them"};
}

base::Error SessionLife::NotThere() const {
  return {base::Code::kNotFound, "there is no session " + Name()};
}

base::Status SessionLife::AwaitSettled(Lock& lock, const std::stop_token& stop) {
  ++to_enter_;
  const bool settled = left_.wait(lock, stop, [this] { return IsSettled(); });
  --to_enter_;
  if (settled) return {};
  return base::Err(base::Code::kTimeout, "nobody waits for session " + Name() + " any more");
}

template <class Act>
base::Status SessionLife::Transit(Lock& lock, Phase during, Phase after, const Act& act) {
  const Phase before = std::exchange(phase_, during);
  // Changes of files have to end first: the files that they work on are about to be replaced.
  left_.wait(lock, [this] { return changers_ == 0; });
  lock.unlock();
  const base::Status done = act();
  lock.lock();
  phase_ = done ? after : before;
  left_.notify_all();
  return done;
}

base::Status SessionLife::OpenSession(Lock& lock) {
  if (session_) return {};
  std::unique_ptr<Session> opened;
  SKERRY_RETURN_IF_ERROR(Transit(lock, Phase::kOpening, Phase::kResting, [&]() -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(Session session, parts_.sessions.Open(workspace_, base::Deadline::After(kPatience)));
    opened = std::make_unique<Session>(std::move(session));
    return {};
  }));
  session_ = std::move(opened);
  return {};
}

base::Status SessionLife::BeginLife(Lock& lock, const std::stop_token& stop) {
  if (settings_.mode == LifeMode::kDisabled || phase_ == Phase::kReady) return {};
  std::stop_source making;
  const std::stop_callback by_the_end(ending_.get_token(), [&making] { making.request_stop(); });
  const auto made = Transit(lock, Phase::kCreating, Phase::kReady, [&]() -> base::Status {
    // Other callers may wait for the same sandbox: then its making goes on for them.
    const std::stop_callback by_the_caller(stop, [&] {
      const std::scoped_lock relock(mutex_);
      if (to_enter_ == 0) making.request_stop();
    });
    SKERRY_RETURN_IF_ERROR(session_->BeginLife(
        parts_.manager,
        {.sandbox_type = settings_.backend, .max_memory_mb = settings_.limits.memory_mb, .image = settings_.image},
        settings_.limits, parts_.tenant, base::Deadline::After(kMakingPatience), making.get_token()));
    parts_.changed(true);
    return {};
  });
  failure_ = made ? "" : made.error().message;
  return made;
}

base::Status SessionLife::EndLife(Lock& lock) {
  if (phase_ != Phase::kReady) return {};
  base::Status ended;
  (void)Transit(lock, Phase::kStopping, Phase::kResting, [&]() -> base::Status {
    contexts_.RemoveAll();
    ended = session_->EndLife();
    parts_.changed(false);
    return {};
  });
  return ended;
}

void SessionLife::EndOwnContexts(Lock& lock) {
  if (!parts_.own_contexts) return;
  (void)Transit(lock, Phase::kStopping, phase_, [&]() -> base::Status {
    contexts_.RemoveAll();
    return {};
  });
}

base::Result<SessionLife::Use> SessionLife::Enter(Need need, const std::stop_token& stop) {
  Lock lock(mutex_);
  const bool holds_up = need != Need::kReading && need != Need::kApart;
  const auto is_free = [&] { return !alone_ && (apart_to_begin_ == 0 || !holds_up); };
  do {
    SKERRY_RETURN_IF_ERROR(AwaitSettled(lock, stop));
    if (!left_.wait_for(lock, stop, kPatience, [&] { return !IsSettled() || is_free(); }))
      return base::Err(base::Code::kConflict, "session " + Name() + " is busy with a run in a sandbox of its own");
  } while (!IsSettled() || !is_free());
  if (ended_) return std::unexpected(NotThere());
  if (paused_ && need != Need::kReading)
    return base::Err(base::Code::kConflict, "session " + Name() + " is paused; resume it first");
  SKERRY_RETURN_IF_ERROR(OpenSession(lock));
  if (need == Need::kSandbox) SKERRY_RETURN_IF_ERROR(BeginLife(lock, stop));
  if (ended_) return std::unexpected(NotThere());
  ++users_;
  switch (need) {
    case Need::kReading:
      return Use(*this);
    case Need::kFiles:
      ++changers_;
      return Use(*this, Mark::kChanged);
    case Need::kApart:
      ++apart_;
      return Use(*this, Mark::kApart);
    case Need::kSandbox:
      break;
  }
  ++programs_;
  return Use(*this, Mark::kRan);
}

base::Result<SessionLife::Use> SessionLife::EnterAlone() {
  Lock lock(mutex_);
  // Reading and changing files takes only a moment.
  const auto runs = [&] { return programs_ != 0 || apart_ != 0; };
  const bool free = left_.wait_for(lock, kPatience, [&] { return IsSettled() && (runs() || paused_ || users_ == 0); });
  if (ended_) return std::unexpected(NotThere());
  if (!free || runs() || paused_) return std::unexpected(NotAlone());
  alone_ = true;  // keeps others out while the sandbox is ended
  auto prepared = OpenSession(lock);
  if (prepared) prepared = EndLife(lock);
  if (!prepared) {
    alone_ = false;
    left_.notify_all();
    return std::unexpected(prepared.error());
  }
  ++users_;
  ++programs_;
  return Use(*this, Mark::kRan);
}

void SessionLife::Leave(Mark mark) {
  const std::scoped_lock lock(mutex_);
  --users_;
  if (mark == Mark::kRan) {
    --programs_;
    alone_ = false;
  }
  if (mark == Mark::kApart) --apart_;
  if (mark == Mark::kChanged) --changers_;
  if (mark != Mark::kNothing) last_use_ = std::chrono::steady_clock::now();
  left_.notify_all();
}

base::Result<FootingHold> SessionLife::Stand(Footing footing, std::chrono::seconds patience,
                                             const std::stop_token& stop) {
  const bool alone = footing == Footing::kAlone;
  std::unique_lock lock(mutex_);
  if (alone) ++to_be_alone_;
  const bool free =
      left_.wait_for(lock, stop, patience, [&] { return !approved_ && (alone ? beside_ == 0 : to_be_alone_ == 0); });
  if (alone) --to_be_alone_;
  if (alone && !free) left_.notify_all();
  if (!free)
    return base::Err(base::Code::kConflict, approved_ || !alone
                                                ? "session " + workspace_ +
                                                      " belongs to a run that a person approved, until its end; "
                                                      "wait for it, or end it"
                                                : "other programs run in session " + workspace_ +
                                                      " and could exchange what it reads; wait for them, or end "
                                                      "them");
  if (alone)
    approved_ = true;
  else
    ++beside_;
  return FootingHold(this, [this, alone](const void*) {
    const std::scoped_lock relock(mutex_);
    if (alone)
      approved_ = false;
    else
      --beside_;
    left_.notify_all();
  });
}

base::Result<FootingHold> SessionLife::StandApart(Footing footing, const std::stop_token& stop) {
  Lock lock(mutex_);
  const auto is_free = [&] { return IsSettled() && !alone_ && programs_ == 0 && users_ == apart_; };
  const auto is_in_vain = [&] { return ended_ || paused_ || (footing == Footing::kBesideOthers && programs_ != 0); };
  ++apart_to_begin_;
  (void)left_.wait_for(lock, stop, kPatience, [&] { return is_free() || is_in_vain(); });
  --apart_to_begin_;
  left_.notify_all();
  if (ended_) return std::unexpected(NotThere());
  if (!is_free() || paused_) return std::unexpected(NotAlone());
  alone_ = true;
  if (const auto ended = EndLife(lock); !ended) {
    alone_ = false;
    left_.notify_all();
    return std::unexpected(ended.error());
  }
  return FootingHold(this, [this](const void*) {
    const std::scoped_lock relock(mutex_);
    alone_ = false;
    left_.notify_all();
  });
}

base::Result<FootingHold> SessionLife::StandInOrder(const std::stop_token& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  auto order = std::make_shared<std::unique_lock<std::timed_mutex>>(order_, std::defer_lock);
  while (!order->try_lock_for(kBetweenLooks))
    if (stop.stop_requested()) return base::Err(base::Code::kUnavailable, "nobody waits for the run any more");
  return order;
}

base::Result<FootingHold> SessionLife::StandInSandbox(Footing footing, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(FootingHold hold, Stand(footing, kPatience, stop));
  if (footing == Footing::kAlone) SKERRY_RETURN_IF_ERROR(AwaitNobodyElse(stop));
  return hold;
}

// No run can begin now. Processes that earlier commands left could exchange files, change mapped ones without a trace,
// and write to the memory of the program.
base::Status SessionLife::AwaitNobodyElse(const std::stop_token& stop) const {
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto deadline = base::Deadline::After(kEndPatience);
  for (;;) {
    const auto usage = session_->sandbox().Sample(deadline);
    if (usage && usage->pids == 0) return {};
    if (deadline.Expired() || stop.stop_requested())
      return usage ? base::Err(base::Code::kConflict,
                               "other programs live on in session " + workspace_ + " (" + std::to_string(usage->pids) +
                                   " processes and threads) and could exchange what it reads; end them, or run it in "
                                   "a session of its own")
                   : std::unexpected(usage.error());
    std::this_thread::sleep_for(kPause);
  }
}

bool SessionLife::Fits(const core::ExecutionRequest& request) const {
  return request.max_memory_mb == settings_.limits.memory_mb && request.image == settings_.image &&
         (request.sandbox_type == core::kAutoSandbox || request.sandbox_type == settings_.backend);
}

base::Result<core::ExecutionResult> SessionLife::Execute(core::ExecutionRequest request, const RunStreams& streams,
                                                         RunOccasion occasion, const std::stop_token& stop,
                                                         const std::string& execution) {
  const bool cell = !request.context.empty();
  if (cell) SKERRY_RETURN_IF_ERROR(CheckHasContexts());
  if (cell && parts_.own_contexts)
    return ExecuteElsewhere(std::move(request), streams, std::move(occasion), stop, execution);
  // A context has had the variables of the session since its interpreter began.
  if (cell) {
    SKERRY_ASSIGN_OR_RETURN(ResolvedEnvironment of_context, EnvironmentOfContexts());
    occasion.secrets = std::move(of_context.secrets);
  } else {
    AddTo(request);
  }
  const bool dry = request.carry == core::Carry::kShow;
  const bool apart = !cell && !dry && settings_.mode != LifeMode::kDisabled && !Fits(request);
  const auto asked = std::chrono::steady_clock::now();
  const auto use = Enter(apart ? Need::kApart : Need::kSandbox, stop);
  const auto entered = std::chrono::steady_clock::now();
  if (stop.stop_requested()) return core::ExecutionResult{.outcome = core::EndedByStop()};
  if (!use) return std::unexpected(use.error());
  if (!apart && !dry && session_->IsMirrored()) SKERRY_RETURN_IF_ERROR(session_->Refresh());
  FootingHold kept;  // until the end of the run is recorded
  occasion.asker.begin = [&](Footing footing, const std::stop_token& token) -> base::Result<FootingHold> {
    if (apart) {
      SKERRY_ASSIGN_OR_RETURN(kept, StandApart(footing, token));
    } else if (settings_.mode == LifeMode::kDisabled) {
      SKERRY_ASSIGN_OR_RETURN(kept, StandInOrder(token));
    } else {
      // Only commits can change files that are not seen through the live sandbox. The interpreter of a cell lives on
      // with what earlier cells made of it: a cell cannot be alone inside.
      if (dry || cell) return Stand(footing, kPatience, token);
      SKERRY_ASSIGN_OR_RETURN(FootingHold hold, StandInSandbox(footing, token));
      // Changes of programs that work on a copy are seen once they are committed.
      if (footing == Footing::kAlone) SKERRY_RETURN_IF_ERROR(session_->Refresh());
      return hold;
    }
    return kept;
  };
  occasion.contexts = &contexts_;
  auto result = session_->Run(parts_.manager, std::move(request), streams, stop, execution,
                              apart ? Session::In::kItsOwn : Session::In::kThatStays, std::move(occasion));
  if (result) result->timings.obtain += entered - asked;
  return result;
}

base::Result<core::ExecutionResult> SessionLife::ExecuteElsewhere(core::ExecutionRequest request,
                                                                  const RunStreams& streams, RunOccasion occasion,
                                                                  const std::stop_token& stop,
                                                                  const std::string& execution) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(NeedOfContexts(), stop));
  occasion.contexts = &contexts_;
  return session_->RunElsewhere(parts_.manager, std::move(request), streams, stop, execution, occasion);
}

base::Status SessionLife::CheckHasContexts() const {
  if (settings_.mode != LifeMode::kDisabled || parts_.own_contexts) return {};
  return base::Err(base::Code::kDisabled, "contexts need a sandbox, and this session has none");
}

base::Result<ContextSummary> SessionLife::CreateContext(const std::string& name, core::Language language) {
  SKERRY_RETURN_IF_ERROR(CheckHasContexts());
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(NeedOfContexts()));
  SKERRY_ASSIGN_OR_RETURN(const FootingHold footing, Stand(Footing::kBesideOthers, kPatience, {}));
  return contexts_.Create(name, language);
}

base::Status SessionLife::RestartContext(const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(NeedOfContexts()));
  SKERRY_ASSIGN_OR_RETURN(const FootingHold footing, Stand(Footing::kBesideOthers, kPatience, {}));
  return contexts_.Restart(name);
}

base::Result<ForkReport> SessionLife::ForkContext(const std::string& name, const std::string& new_name) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(NeedOfContexts()));
  SKERRY_ASSIGN_OR_RETURN(const FootingHold footing, Stand(Footing::kBesideOthers, kPatience, {}));
  return contexts_.Fork(name, new_name);
}

base::Status SessionLife::Read(const std::function<base::Status(const workspace::AgentWorkspace&)>& look) {
  if (Lock lock(mutex_); !IsSettled() && !ended_) {
    lock.unlock();
    return Look(look);
  }
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(Need::kReading));
  // A sandbox that is being made, as it may be beside readers, has changed nothing yet.
  if (HasSandbox() && session_->IsMirrored()) {
    const std::unique_lock order(order_, kPatience);
    if (order.owns_lock()) SKERRY_RETURN_IF_ERROR(session_->Refresh());
  }
  return look(session_->files());
}

base::Status SessionLife::Look(const std::function<base::Status(const workspace::AgentWorkspace&)>& look) {
  std::optional<Use> use;
  {
    const std::scoped_lock lock(mutex_);
    if (session_ && IsSettled() && !alone_ && !ended_) {
      ++users_;
      use.emplace(*this, Mark::kNothing);
    }
  }
  if (use) return look(session_->files());
  SKERRY_ASSIGN_OR_RETURN(const auto files, parts_.sessions.OpenForReading(workspace_));
  return look(*files);
}

base::Status SessionLife::Change(const std::function<base::Status(Session&)>& act) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Enter(Need::kFiles));
  SKERRY_ASSIGN_OR_RETURN(const FootingHold footing, Stand(Footing::kBesideOthers, kFilePatience, {}));
  const std::unique_lock order(order_, kPatience);
  if (!order.owns_lock())
    return base::Err(base::Code::kConflict, "session " + Name() + " is busy with a run; wait for it, or end it");
  return act(*session_);
}

base::Status SessionLife::ChangeAtRest(const std::function<base::Status(Session&)>& act) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, EnterAlone());
  const std::scoped_lock order(order_);
  return act(*session_);
}

base::Status SessionLife::Bring(Lock& lock, Motion motion) {
  if (phase_ != Phase::kReady) return {};
  return Transit(lock, Phase::kPausing, Phase::kReady, [&]() -> base::Status {
    core::Pausing* pausing = session_->sandbox().pausing();
    if (pausing == nullptr)
      return base::Err(base::Code::kUnavailable,
                       "the " + std::string(session_->backend().Name()) + " sandbox cannot be paused");
    const auto deadline = base::Deadline::After(kMotionPatience);
    return motion == Motion::kStill ? pausing->Freeze(deadline) : pausing->Thaw(deadline);
  });
}

base::Status SessionLife::Pause() {
  Lock lock(mutex_);
  SKERRY_RETURN_IF_ERROR(AwaitSettled(lock, ending_.get_token()));
  if (ended_) return std::unexpected(NotThere());
  if (paused_) return base::Err(base::Code::kConflict, "session " + Name() + " is paused already");
  SKERRY_RETURN_IF_ERROR(Bring(lock, Motion::kStill));
  paused_ = true;
  return {};
}

base::Status SessionLife::Resume() {
  Lock lock(mutex_);
  SKERRY_RETURN_IF_ERROR(AwaitSettled(lock, ending_.get_token()));
  if (!paused_) return base::Err(base::Code::kConflict, "session " + Name() + " is not paused");
  SKERRY_RETURN_IF_ERROR(Bring(lock, Motion::kMoving));
  paused_ = false;
  last_use_ = std::chrono::steady_clock::now();
  return {};
}

base::Status SessionLife::Rest() {
  Lock lock(mutex_);
  (void)left_.wait_for(lock, kPatience, [&] { return IsSettled() && (programs_ != 0 || apart_ != 0 || users_ == 0); });
  if (users_ != 0 || !IsSettled()) return base::Err(base::Code::kConflict, "programs run in session " + Name());
  const auto ended = EndLife(lock);
  EndOwnContexts(lock);
  // A user may have come when the sandbox was gone.
  if (users_ == 0 && IsSettled()) session_.reset();
  paused_ = false;
  return ended;
}

bool SessionLife::IsIdle() {
  {
    const Lock lock(mutex_);
    if (!IsSettled() || users_ != 0 || paused_ || !session_) return false;
    ++users_;
  }
  // The sandbox stays while unused contexts in it are ended.
  const Use use(*this, Mark::kNothing);
  contexts_.Sweep();
  return contexts_.List().empty() && std::chrono::steady_clock::now() - LastUse() >= settings_.idle;
}

void SessionLife::RestIfIdle() {
  if (IsIdle()) (void)Rest();
}

void SessionLife::End() {
  ending_.request_stop();
  Lock lock(mutex_);
  ended_ = true;
  left_.wait(lock, [this] { return IsSettled(); });
  if (paused_) (void)Bring(lock, Motion::kMoving);
  paused_ = false;
  left_.wait(lock, [&] { return users_ == 0 && IsSettled(); });
  (void)EndLife(lock);
  EndOwnContexts(lock);
  session_.reset();
}

LifeState SessionLife::state() const {
  const Lock lock(mutex_);
  if (ended_) return LifeState::kGone;
  switch (phase_) {
    case Phase::kCreating:
      return LifeState::kCreating;
    case Phase::kPausing:
      return LifeState::kPausing;
    case Phase::kStopping:
      return LifeState::kStopping;
    case Phase::kReady:
      if (paused_) return LifeState::kPaused;
      return programs_ != 0 ? LifeState::kRunning : LifeState::kReady;
    case Phase::kResting:
    case Phase::kOpening:
      break;
  }
  if (paused_) return LifeState::kPaused;
  return failure_.empty() ? LifeState::kResting : LifeState::kFailed;
}

std::string SessionLife::failure() const {
  const Lock lock(mutex_);
  return failure_;
}

bool SessionLife::HasSandbox() const {
  const Lock lock(mutex_);
  return phase_ == Phase::kReady || phase_ == Phase::kPausing || phase_ == Phase::kStopping;
}

bool SessionLife::IsPaused() const {
  const Lock lock(mutex_);
  return paused_;
}

std::chrono::steady_clock::time_point SessionLife::LastUse() const {
  const Lock lock(mutex_);
  return last_use_;
}

std::string_view NameOf(LifeState state) {
  switch (state) {
    case LifeState::kResting:
      return "resting";
    case LifeState::kCreating:
      return "creating";
    case LifeState::kReady:
      return "ready";
    case LifeState::kRunning:
      return "running";
    case LifeState::kPausing:
      return "pausing";
    case LifeState::kPaused:
      return "paused";
    case LifeState::kStopping:
      return "stopping";
    case LifeState::kFailed:
      return "failed";
    case LifeState::kGone:
      return "gone";
  }
  return "";
}

}  // namespace skerry::engine
