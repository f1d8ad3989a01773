// SessionLife: a session's workspace, and the sandbox that it has while it is in use. For daemons; several sessions of
// a tenant may share one.
//
//   resting ──► creating ──► ready ◄──► (pausing) ◄──► paused
//      ▲            │          │                          │
//      │            ▼          ▼                          │
//      └──────── failed     stopping ◄────────────────────┘     gone: from anywhere, for good
//
// A transition is made by the thread that wants it, and no lock is held meanwhile: the state can be seen at any time,
// and others who want the session wait for the end of the transition. A creation is cancelled by the end of the session
// and when nobody waits for it any more.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "engine/context_manager.hpp"
#include "engine/sandbox_manager.hpp"
#include "engine/session_settings.hpp"
#include "engine/sessions.hpp"

namespace skerry::engine {

// All of these outlive the life.
struct LifeParts {
  const Sessions& sessions;
  SandboxManager& manager;
  std::function<void(bool has)> changed = [](bool) {};  // it has a sandbox, or none any more; called without a lock
  std::string tenant;
  // Each context has a sandbox and files of its own, until it was not used for this long. Without: contexts live in the
  // session's sandbox and work on its files.
  std::optional<std::chrono::seconds> own_contexts = {};
};

enum class LifeState {
  kResting,   // without a sandbox; the next use makes one
  kCreating,  // the sandbox is being made
  kReady,     // the sandbox is there, and no run uses it
  kRunning,
  kPausing,  // being paused or resumed
  kPaused,
  kStopping,
  kFailed,  // the sandbox could not be made; the next use tries again
  kGone,
};
std::string_view NameOf(LifeState state);

// Thread-safe.
class SessionLife {
 public:
  SessionLife(std::string workspace, SessionSettings settings, LifeParts parts);
  SessionLife(const SessionLife&) = delete;
  SessionLife& operator=(const SessionLife&) = delete;
  ~SessionLife();

  [[nodiscard]] const std::string& workspace() const { return workspace_; }
  [[nodiscard]] const SessionSettings& settings() const { return settings_; }

  // Runs a program; makes the sandbox when there is none. A run that a person approved as shown is alone: other runs
  // and changes of files wait for it, and it is rejected where other programs of the session live on. A request that
  // differs from the session (memory, image, sandbox) runs in a sandbox of its own, when nothing else runs: kConflict
  // otherwise. That is checked when it begins, and until then the session stays as it was. kConflict when the session
  // is paused. A request that names a context is a cell of it.
  base::Result<core::ExecutionResult> Execute(core::ExecutionRequest request, const RunStreams& streams,
                                              RunOccasion occasion, const std::stop_token& stop,
                                              const std::string& execution);

  base::Result<ContextSummary> CreateContext(const std::string& name, core::Language language);
  // For calls that need no sandbox: names, interrupts, removal.
  [[nodiscard]] ContextManager& contexts() { return contexts_; }
  base::Status RestartContext(const std::string& name);
  base::Result<ForkReport> ForkContext(const std::string& name, const std::string& new_name);

  // Gives the files as programs see them now; as the last commit left them while the sandbox is being made or ended.
  base::Status Read(const std::function<base::Status(const workspace::AgentWorkspace&)>& look);
  // The same, but does not count as a use: as the last commit left them where there is no sandbox.
  base::Status Look(const std::function<base::Status(const workspace::AgentWorkspace&)>& look);
  base::Status Change(const std::function<base::Status(Session&)>& act);
  // Changes files without a sandbox, when nothing runs: kConflict otherwise.
  base::Status ChangeAtRest(const std::function<base::Status(Session&)>& act);

  base::Status Pause();
  base::Status Resume();
  // Ends the sandbox; kConflict while a program runs in it. Contexts that wait are ended.
  base::Status Rest();
  // Whether the session was not used for so long that its sandbox is to be ended.
  [[nodiscard]] bool IsIdle();
  void RestIfIdle();
  // Ends the life for good; waits for its present users. No call may follow.
  void End();
  // Asked for when the life ends: long reads of files give up then.
  [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }

  [[nodiscard]] LifeState state() const;
  // Why the sandbox could not be made the last time; "" when it could.
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] bool HasSandbox() const;
  [[nodiscard]] bool IsPaused() const;
  [[nodiscard]] std::chrono::steady_clock::time_point LastUse() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Adds what the session and the configuration say of the environment.
  void AddTo(core::ExecutionRequest& request) const;
  [[nodiscard]] base::Result<ResolvedEnvironment> EnvironmentOfContexts() const;

  // Waits for holders of a footing that excludes this one; kConflict after `patience`. While a caller waits for kAlone
  // no other gets a footing.
  base::Result<FootingHold> Stand(Footing footing, std::chrono::seconds patience, const std::stop_token& stop);
  // The same for a run, which is also not alone while processes that others left run in the sandbox.
  base::Result<FootingHold> StandInSandbox(Footing footing, const std::stop_token& stop);
  [[nodiscard]] base::Status AwaitNobodyElse(const std::stop_token& stop) const;
  // For a run in a sandbox of its own, beside one that lives: ends the latter when it is not in use. An approved run
  // waits for its users.
  base::Result<FootingHold> StandApart(Footing footing, const std::stop_token& stop);
  // For runs of a session that has no sandbox: one after the other.
  base::Result<FootingHold> StandInOrder(const std::stop_token& stop);

  enum class Need { kReading, kFiles, kSandbox, kApart };
  class Use;
  base::Result<Use> Enter(Need need, const std::stop_token& stop = {});
  // Enters alone, and without a sandbox.
  base::Result<Use> EnterAlone();
  enum class Mark { kRan, kApart, kChanged, kUsed, kNothing };
  void Leave(Mark mark);
  [[nodiscard]] std::string Name() const;  // for people
  [[nodiscard]] base::Error NotAlone() const;
  [[nodiscard]] base::Error NotThere() const;

  // What happens to the sandbox: every phase but resting and ready is a transition.
  enum class Phase { kResting, kOpening, kCreating, kReady, kPausing, kStopping };
  [[nodiscard]] bool IsSettled() const { return phase_ == Phase::kResting || phase_ == Phase::kReady; }
  // These need the lock, and give it up while they wait or work.
  base::Status AwaitSettled(Lock& lock, const std::stop_token& stop);
  template <class Act>
  base::Status Transit(Lock& lock, Phase during, Phase after, const Act& act);
  base::Status OpenSession(Lock& lock);
  base::Status BeginLife(Lock& lock, const std::stop_token& stop);
  base::Status EndLife(Lock& lock);
  void EndOwnContexts(Lock& lock);
  enum class Motion { kStill, kMoving };
  base::Status Bring(Lock& lock, Motion motion);
  [[nodiscard]] bool Fits(const core::ExecutionRequest& request) const;
  [[nodiscard]] ContextOptions OptionsOfContexts();
  [[nodiscard]] base::Status CheckHasContexts() const;
  // A cell of a context that has a sandbox of its own.
  base::Result<core::ExecutionResult> ExecuteElsewhere(core::ExecutionRequest request, const RunStreams& streams,
                                                       RunOccasion occasion, const std::stop_token& stop,
                                                       const std::string& execution);
  // What a user of a context needs.
  [[nodiscard]] Need NeedOfContexts() const { return parts_.own_contexts ? Need::kReading : Need::kSandbox; }

  const std::string workspace_;
  const SessionSettings settings_;
  LifeParts parts_;
  mutable std::mutex mutex_;
  std::condition_variable_any left_;
  Phase phase_ = Phase::kResting;
  std::string failure_;
  std::timed_mutex order_;            // of changes of files, and of everything that is done without a sandbox
  std::unique_ptr<Session> session_;  // open while in use
  ContextManager contexts_;
  std::size_t users_ = 0;
  std::size_t programs_ = 0;        // of the users: those that run a program or are alone
  std::size_t changers_ = 0;        // of the users: those that change files
  std::size_t apart_ = 0;           // of the users: runs that get a sandbox of their own
  std::size_t apart_to_begin_ = 0;  // of `apart_`: runs that wait until the session's sandbox is not in use
  std::size_t to_enter_ = 0;        // callers that wait for the end of a transition
  bool alone_ = false;
  std::size_t beside_ = 0;       // holders of Footing::kBesideOthers
  std::size_t to_be_alone_ = 0;  // runs that wait for Footing::kAlone
  bool approved_ = false;        // a run holds Footing::kAlone: a person approved it as shown
  bool paused_ = false;
  bool ended_ = false;
  std::stop_source ending_;
  std::chrono::steady_clock::time_point last_use_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::engine
