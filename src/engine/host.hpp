// Host: what a daemon holds together: sessions with their sandboxes, runs, tokens, questions to people. Protocols reach
// it through views (engine/views/access.hpp), which check what a principal may; the host checks whose a thing is, and
// records that sessions and runs begin and end.
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
  std::shared_ptr<core::RecordStore> record;  // the history of sessions; none when the store cannot be used
  SessionsOptions sessions;
  RecorderOptions recorder;
  SessionSettings defaults;                 // for sessions that do not say otherwise
  std::optional<std::chrono::seconds> ttl;  // likewise; none: for ever
  std::size_t max_sessions = 1000;          // of all tenants
  std::chrono::seconds keep_results{3600};  // of runs without a session
  std::size_t keep_results_count = 10'000;
  // For every session: see LifeParts.
  std::optional<std::chrono::seconds> own_contexts;
  std::uint64_t max_output_mb = 10;  // a run's output: the default, and the most for principals that are not admins
  Budgets budgets;
  confirm::ApprovalQueueOptions approvals;
  MonitorOptions monitor;
  ChronicleParts chronicle;
  std::string version;
  std::string configuration;  // as JSON, without secrets; "" for none to record
};

// A run that a principal asks for.
struct Work {
  std::shared_ptr<HostedSession> session;  // none: the run gets a sandbox of its own
  std::string kind = "execute";            // or "command", or "cell" where the request names a context
  core::ExecutionRequest request;
  Creation creation = Creation::kNever;    // of the context that the request names
  std::optional<core::Language> language;  // the context's; a context that is made without it is one for Python
  Consent consent = Consent::kAsk;         // kGiven: the principal may approve, and does
  std::optional<std::string> input_text;
  Input input = Input::kNone;
  std::optional<core::TerminalSize> terminal;
  std::string terminal_type = "xterm-256color";
  std::stop_token gone;    // the client does not wait any more
  std::stop_token cancel;  // the client disconnected and had asked that this ends the run
  std::optional<core::IdempotencyClaim> claim;
};

// Thread-safe. Sessions and runs of other tenants are kNotFound. A session is named by its tenant's name for it; a
// principal that sees all tenants may also use its id, and for it a name that several tenants use is kConflict.
class Host {
 public:
  // Takes over what an earlier daemon left: its runs are lost, its sessions are there. kConflict when another process
  // uses the directory. `manager` and `workers` are borrowed.
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
  // Ends the runs of the session and its sandbox; the next use makes another one.
  base::Status Stop(HostedSession& session);

  base::Result<Begun> Execute(const Principal& principal, Work work, Place place);
  [[nodiscard]] base::Result<std::shared_ptr<Run>> FindRun(const Principal& principal, const std::string& id) const;
  [[nodiscard]] base::Result<std::vector<std::shared_ptr<Run>>> ListRuns(const Principal& principal,
                                                                         core::RunFilter filter) const;
  // For bodies of requests and answers that are under way.
  [[nodiscard]] const std::shared_ptr<base::Budget>& spool() const { return spool_; }
  // Ends all runs; callers that wait for one return. For the end of the daemon.
  void StopRuns();
  [[nodiscard]] std::size_t CountRuns(const std::string& session) const { return runs_->CountOf(session); }

  // Contexts of all sessions.
  [[nodiscard]] std::size_t CountContexts() const;
  // A context of the session began anew or is gone. Approvals that a person gave for its lifetime are forgotten, for
  // all contexts of the session that have a sandbox of their own.
  void ForgetApprovalsOfContexts(const HostedSession& session);

  // For the daemon around the host: whom it lets in, what it tells of requests.
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
  // How many bytes may still be written to a workspace: the daemon's owner may use the reserve.
  [[nodiscard]] std::uint64_t RoomFor(const std::string& workspace) const;
  base::Status Remove(const std::shared_ptr<HostedSession>& session, std::string_view why,
                      const Principal* by = nullptr);
  void Perform(Run& run, Work& work, const Principal& principal);
  template <class Do>
  base::Result<Begun> Launch(Begun begun, Place place, const std::stop_token& gone, const Principal& principal, Do act);
  // While the result lives, this host does not end.
  [[nodiscard]] std::shared_ptr<void> Performing();
  // The run was admitted and begins, when its tenant's turn has come.
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
  // Before a principal changes something that is recorded. kRateLimited, or an error that IsNoRoom recognises.
  [[nodiscard]] base::Status Admit(const Principal& principal) { return keeper_->Admit(principal); }
  // The error as the principal may read it: only the owner learns where the daemon's directories lie.
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
  std::map<std::string, std::string> making_;  // from the id of a session that is being made to its tenant
  std::condition_variable made_;
  int performing_ = 0;  // workers that perform a run of this host
  std::condition_variable performed_;
  std::map<std::string, std::weak_ptr<SessionLife>> shared_;  // by tenant
  confirm::Subscription subscription_;
  std::unique_ptr<Monitor> monitor_;
  std::jthread tender_;  // ends what is expired or idle, and forgets what is old
};

}  // namespace skerry::engine
