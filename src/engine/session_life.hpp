// SessionLife: a session's workspace, and the sandbox that it has while it is in use. Of a daemon; several of its
// sessions may share one.
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

// All of them outlive it.
struct LifeParts {
  const Sessions& sessions;
  SandboxManager& manager;
  std::function<void(bool has)> changed = [](bool) {};  // it got a sandbox, or gave it back; called without a lock
  std::string tenant;
  // Each context has a sandbox and files of its own until nobody has used it for this long. Without: contexts live in
  // the session's sandbox and work on its files.
  std::optional<std::chrono::seconds> own_contexts = {};
};

enum class LifeState {
  kResting,   // without a sandbox; the next use makes one
  kCreating,  // the sandbox is being made
  kReady,     // it is there, and nothing runs that somebody waits for
  kRunning,
  kPausing,  // on its way to standing still, or from it
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

  // Makes the sandbox when there is none. What a person said yes to as it was shown is alone while it runs: others and
  // changes of files wait for it, and it is rejected where other programs of the session live on. What a request wants
  // other than the session has (memory, image, sandbox) it gets in a sandbox of its own, when nothing else runs:
  // kConflict otherwise. That is seen to when it begins, and until then the session is as it was. kConflict when it is
  // paused. A request that names a context is a cell of it.
  base::Result<core::ExecutionResult> Execute(core::ExecutionRequest request, const RunStreams& streams,
                                              RunOccasion occasion, std::stop_token stop, const std::string& execution);

  base::Result<ContextSummary> CreateContext(const std::string& name, core::Language language);
  // What needs no sandbox to be made: names, interrupts, removal.
  [[nodiscard]] ContextManager& contexts() { return contexts_; }
  base::Status RestartContext(const std::string& name);
  base::Result<ForkReport> ForkContext(const std::string& name, const std::string& new_name);

  // Files as programs see them now; as the last commit left them while the sandbox is being made or ended.
  base::Status Read(const std::function<base::Status(const workspace::AgentWorkspace&)>& look);
  // The same without being a use: as the last commit left them where there is no sandbox.
  base::Status Look(const std::function<base::Status(const workspace::AgentWorkspace&)>& look);
  base::Status Change(const std::function<base::Status(Session&)>& act);
  // When nothing runs, and without a sandbox: kConflict otherwise.
  base::Status ChangeAtRest(const std::function<base::Status(Session&)>& act);

  base::Status Pause();
  base::Status Resume();
  // Ends the sandbox; kConflict while something runs in it. Contexts that wait are ended.
  base::Status Rest();
  // Whether nobody has used the session for so long that its sandbox is to be ended.
  [[nodiscard]] bool IsIdle();
  void RestIfIdle();
  // For good; waits for those who use it. Nothing may follow.
  void End();
  // Asked for at its end: who reads files for long gives up then.
  [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }

  [[nodiscard]] LifeState state() const;
  // Why the sandbox could not be made the last time; "" when it could.
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] bool HasSandbox() const;
  [[nodiscard]] bool IsPaused() const;
  [[nodiscard]] std::chrono::steady_clock::time_point LastUse() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Waits for what does not go together with it; kConflict after `patience`. While somebody waits to be alone nobody
  // else gets a footing.
  base::Result<FootingHold> Stand(Footing footing, std::chrono::seconds patience, const std::stop_token& stop);
  // The same for a run, which is not alone either beside what others left running in the sandbox.
  base::Result<FootingHold> StandInSandbox(Footing footing, const std::stop_token& stop);
  [[nodiscard]] base::Status AwaitNobodyElse(const std::stop_token& stop) const;
  // For a run in a sandbox of its own, beside one that lives: ends that one when nobody uses it. What a person approved
  // waits for those who do.
  base::Result<FootingHold> StandApart(Footing footing, const std::stop_token& stop);
  // For a run of a session that has no sandbox: one after the other.
  base::Result<FootingHold> StandInOrder(const std::stop_token& stop);

  enum class Need { kReading, kFiles, kSandbox, kApart };
  class Use;
  base::Result<Use> Enter(Need need, const std::stop_token& stop = {});
  // Alone, and without a sandbox.
  base::Result<Use> EnterAlone();
  enum class Mark { kRan, kApart, kChanged, kUsed, kNothing };
  void Leave(Mark mark);
  [[nodiscard]] std::string Name() const;  // for people
  [[nodiscard]] base::Error NotAlone() const;
  [[nodiscard]] base::Error NotThere() const;

  // What the sandbox is in for: everything but resting and ready is a transition.
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
                                                       RunOccasion occasion, std::stop_token stop,
                                                       const std::string& execution);
  // What somebody needs who uses a context.
  [[nodiscard]] Need NeedOfContexts() const { return parts_.own_contexts ? Need::kReading : Need::kSandbox; }

  const std::string workspace_;
  const SessionSettings settings_;
  LifeParts parts_;
  mutable std::mutex mutex_;
  std::condition_variable_any left_;
  Phase phase_ = Phase::kResting;
  std::string failure_;
  std::timed_mutex order_;            // of those who change files, and of everything that is done without a sandbox
  std::unique_ptr<Session> session_;  // open while in use
  ContextManager contexts_;
  std::size_t users_ = 0;
  std::size_t programs_ = 0;        // of them those who run something
  std::size_t changers_ = 0;        // of them those who change files
  std::size_t apart_ = 0;           // of them those who will run something in a sandbox of its own
  std::size_t apart_to_begin_ = 0;  // of these those who wait until nobody uses the sandbox
  std::size_t to_enter_ = 0;        // those who wait for the end of a transition
  bool alone_ = false;
  std::size_t beside_ = 0;       // those who run something or change files beside others
  std::size_t to_be_alone_ = 0;  // those who wait for that
  bool approved_ = false;        // something runs as it was shown to a person: nobody else does anything
  bool paused_ = false;
  bool ended_ = false;
  std::stop_source ending_;
  std::chrono::steady_clock::time_point last_use_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::engine
