// Host: what a daemon holds together: sessions with their sandboxes, runs, tokens, questions to people. Protocols reach
// it through views (engine/views/access.hpp), which check what a principal may and write the audit; nothing here does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "base/worker_pool.hpp"
#include "confirm/approval_queue.hpp"
#include "confirm/session_approvals.hpp"
#include "core/service_store.hpp"
#include "engine/budgets.hpp"
#include "engine/chronicle.hpp"
#include "engine/consent.hpp"
#include "engine/disk_room.hpp"
#include "engine/hosted_session.hpp"
#include "engine/monitor.hpp"
#include "engine/outputs.hpp"
#include "engine/principal.hpp"
#include "engine/record_keeper.hpp"
#include "engine/run_shares.hpp"
#include "engine/runs.hpp"
#include "engine/sandbox_manager.hpp"
#include "engine/session_life.hpp"
#include "engine/sessions.hpp"
#include "engine/tokens.hpp"
#include "engine/views/turns.hpp"

namespace skerry::engine {

struct HostOptions {
  std::string state_directory;  // absolute, the user's own: outputs, the lock
  std::shared_ptr<core::ServiceStore> store;
  std::shared_ptr<core::RecordStore> record;  // the history of sessions; none when it cannot be had
  SessionsOptions sessions;
  RecorderOptions recorder;
  SessionSettings defaults;                 // of sessions that say nothing
  std::optional<std::chrono::seconds> ttl;  // of those; none: for ever
  std::size_t max_sessions = 1000;          // of everybody
  std::chrono::seconds keep_results{3600};  // of runs without a session
  std::size_t keep_results_count = 10'000;
  // Of every session: see LifeParts.
  std::optional<std::chrono::seconds> own_contexts;
  std::uint64_t max_output_mb = 10;  // that a run keeps: of one that names none, and the most for who may not do all
  Budgets budgets;
  confirm::ApprovalQueueOptions approvals;
  MonitorOptions monitor;
  ChronicleParts chronicle;
  std::string version;
  std::string configuration;  // as JSON, without secrets; "" when nobody needs to know
};

// Something to be run.
struct Work {
  std::shared_ptr<HostedSession> session;  // none: in a sandbox of its own
  std::string kind = "execute";            // or "command", or "cell" where the request names a context
  core::ExecutionRequest request;
  Creation creation = Creation::kNever;    // of the context that the request names
  std::optional<core::Language> language;  // that the context must have; one that is made without it speaks Python
  Consent consent = Consent::kAsk;         // kGiven: whoever asks may say yes, and does
  std::optional<std::string> input_text;
  Input input = Input::kNone;
  std::optional<core::TerminalSize> terminal;
  std::string terminal_type = "xterm-256color";
  std::stop_token gone;    // whoever asked waits no longer
  std::stop_token cancel;  // ends it; whoever asked has gone, and said that this shall be
  std::optional<core::IdempotencyClaim> claim;
};

// Thread-safe. What is not the principal's is kNotFound. A session is named by its tenant's name for it; for those who
// may see everybody's also by its id, and a name that several tenants use is kConflict then.
class Host {
 public:
  // Takes over what an earlier one left: its runs are lost, its sessions are there. kConflict when another process is
  // at it. `manager` and `workers` are borrowed.
  static base::Result<std::unique_ptr<Host>> Start(HostOptions options, SandboxManager& manager,
                                                   base::WorkerPool& workers);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  // Ends every run and every sandbox. Files and settings stay.
  ~Host();

  struct Made {
    std::shared_ptr<HostedSession> session;
    bool replayed = false;
  };
  base::Result<Made> Create(const Principal& principal, NewSession wanted);
  [[nodiscard]] base::Result<std::shared_ptr<HostedSession>> Find(const Principal& principal,
                                                                  const std::string& name) const;
  [[nodiscard]] std::vector<std::shared_ptr<HostedSession>> List(const Principal& principal) const;  // by name
  base::Status Delete(const Principal& principal, const std::string& id);
  base::Status Extend(HostedSession& session, std::chrono::seconds ttl);
  // Ends what runs in it, and its sandbox; the next use makes another one.
  base::Status Stop(HostedSession& session);

  base::Result<Begun> Execute(const Principal& principal, Work work, Place place);
  [[nodiscard]] base::Result<std::shared_ptr<Run>> FindRun(const Principal& principal, const std::string& id) const;
  [[nodiscard]] base::Result<std::vector<std::shared_ptr<Run>>> ListRuns(const Principal& principal,
                                                                         core::RunFilter filter) const;
  // For bodies on their way, in and out.
  [[nodiscard]] const std::shared_ptr<base::Budget>& spool() const { return spool_; }
  // Ends all of them; whoever waits for one is told. For the end of the daemon.
  void StopRuns();
  [[nodiscard]] std::size_t CountRuns(const std::string& session) const { return runs_->CountOf(session); }

  // Contexts of all sessions.
  [[nodiscard]] std::size_t CountContexts() const;
  // A context of the session began anew or is gone. What a person approved for as long as it lives is asked about
  // again, for all contexts that have a sandbox of their own.
  void ForgetApprovalsOfContexts(const HostedSession& session);

  // For the daemon around it: who is let in, what is told of requests.
  [[nodiscard]] const Tokens& tokens() const { return *tokens_; }
  [[nodiscard]] Chronicle& chronicle() { return *chronicle_; }
  [[nodiscard]] confirm::ApprovalQueue& approvals() { return approvals_; }
  [[nodiscard]] const HostOptions& options() const { return options_; }

 private:
  // Everything else that a principal may do is in views, which check and record it.
  friend class Access;
  friend class View;
  Host(HostOptions options, SandboxManager& manager, base::WorkerPool& workers);
  class Making;
  base::Status Open();
  base::Status Recover();
  base::Status Adopt();
  base::Result<std::string> Reserve(const Principal& principal, const std::string& name);
  [[nodiscard]] std::optional<std::string> Holder(const std::string& tenant, const std::string& name) const;
  [[nodiscard]] std::vector<std::shared_ptr<HostedSession>> All() const;
  void AwaitMade(const std::string& id);
  void AwaitMade(const std::string& tenant, const std::string& name);
  [[nodiscard]] std::shared_ptr<HostedSession> Get(const std::string& id) const;
  base::Result<Made> Replay(const Principal& principal, const core::IdempotencyClaim& claim);
  [[nodiscard]] std::shared_ptr<SessionLife> LifeFor(const std::string& tenant, const std::string& id,
                                                     const SessionSettings& settings);
  void Add(core::HostedSessionRecord record, const SessionSettings& settings, Condition condition);
  [[nodiscard]] std::vector<std::shared_ptr<HostedSession>> ThoseAt(const std::string& workspace) const;
  void NoteSandbox(const std::string& workspace, bool has);
  void NoteFiles(const std::string& workspace, const std::string& execution,
                 const std::vector<core::FileChange>& changes);
  void NoteAlert(const std::string& workspace, const std::string& execution, const watch::AlertChange& change);
  base::Status NoteConfiguration();
  void OfferFigures();
  void OpenBudgets();
  // What may still be written to a workspace: whoever runs the daemon may use the reserve.
  [[nodiscard]] std::uint64_t RoomFor(const std::string& workspace) const;
  base::Status Remove(const std::shared_ptr<HostedSession>& session, std::string_view why,
                      const Principal* by = nullptr);
  void Perform(Run& run, Work& work, const Principal& principal);
  template <class Do>
  base::Result<Begun> Launch(Begun begun, Place place, const std::stop_token& gone, const Principal& principal, Do act);
  // While it lives, this host does not end.
  [[nodiscard]] std::shared_ptr<void> Performing();
  // When its turn has come.
  void Admitted(Run& run, RunShares::Turn& turn);
  base::Status NoteBegin(const Begun& begun, const Principal& principal, std::string_view code,
                         const std::optional<std::string>& input = std::nullopt);
  void NoteInputs();
  void EndRun(Run& run, RunEnd end, const Principal& principal);
  [[nodiscard]] Asker AskerFor(Run& run, Consent consent, const Principal& principal);
  confirm::ApprovalQueueOptions Recorded(confirm::ApprovalQueueOptions options);
  void RecordApproval(const confirm::Event& event);
  void Tend(const std::stop_token& stop);
  void RemoveBeside(const std::shared_ptr<HostedSession>& session, const char* why);
  void RemoveUnused();
  void Warn(const std::string& text) const;
  // Before something is changed that is recorded. kRateLimited, or an error that IsNoRoom knows.
  [[nodiscard]] base::Status Admit(const Principal& principal) { return keeper_->Admit(principal); }
  // What the principal may read of an error: where the daemon's directories lie is its owner's business.
  [[nodiscard]] base::Error Told(const Principal& principal, base::Error error) const;

  HostOptions options_;
  SandboxManager& manager_;
  base::WorkerPool& workers_;
  base::UniqueFd directory_;
  base::UniqueFd output_directory_;
  base::UniqueFd lock_;
  std::unique_ptr<DiskRoom> room_;            // where the record, outputs and the spool are
  std::unique_ptr<DiskRoom> workspace_room_;  // where the workspaces are
  std::unique_ptr<Outputs> outputs_;
  std::shared_ptr<base::Budget> spool_;
  std::unique_ptr<RecordKeeper> keeper_;
  confirm::ApprovalQueue approvals_;
  confirm::SessionApprovals remembered_;
  std::unique_ptr<Chronicle> chronicle_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<Tokens> tokens_;
  std::unique_ptr<Runs> runs_;
  RunShares shares_;
  ViewTurns turns_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HostedSession>> hosted_;
  std::map<std::string, std::string> making_;  // ids of sessions that are on their way, with their tenants
  std::condition_variable made_;
  int performing_ = 0;  // workers that have a run of ours
  std::condition_variable performed_;
  std::map<std::string, std::weak_ptr<SessionLife>> shared_;  // by tenant
  confirm::Subscription subscription_;
  std::unique_ptr<Monitor> monitor_;
  std::jthread tender_;  // of expiry, idleness and what is old
};

}  // namespace skerry::engine
