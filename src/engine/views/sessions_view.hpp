// SessionsView: the sessions of a principal.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/session_settings.hpp"
#include "engine/views/view.hpp"
#include "workspace/change_journal.hpp"

namespace skerry::engine {

// A session as a principal may see it, at one moment.
struct ShownSession {
  std::string id;    // unique for ever
  std::string name;  // as its tenant calls it
  std::string tenant;
  Condition condition = Condition::kIdle;
  SessionSettings settings;                                       // without the session's variables
  std::map<std::string, std::optional<std::string>> environment;  // values only for principals that may run something
  core::TimePoint created_at;
  core::TimePoint used_at;
  std::optional<core::TimePoint> expires_at;
  std::size_t running = 0;  // runs that have not ended
};

struct WorkspaceUsage {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t max_bytes = 0;
};

struct SessionDifferences {
  std::vector<core::FileChange> files;  // that differ from the record
  std::uint64_t left_out = 0;           // changes that the record counts and does not name
};

// The variables of a session as the principal may see them. Nobody may see the values of secrets.
std::map<std::string, std::optional<std::string>> ShownVariables(const SessionSettings& settings,
                                                                 const Principal& principal);

class SessionsView : public View {
 public:
  explicit SessionsView(const Access& access) : View(access) {}

  // A session with the values of the configuration: to be changed and given to Create.
  [[nodiscard]] base::Result<NewSession> Draft() const;
  struct Made {
    SessionHandle session;
    bool replayed = false;  // the session was there already: the claim's key was used before
  };
  // kConflict when the tenant has a session of that name, which Find then finds.
  base::Result<Made> Create(NewSession wanted) const;
  // The session of the principal's own tenant with the name of `wanted`, or a new one. For any number of callers at
  // once: one of them makes it. `replayed` says that it was there.
  base::Result<Made> FindOrCreate(NewSession wanted) const;

  // By its tenant's name for it; an admin may also use its id, and for an admin a name that several tenants use is
  // kConflict.
  [[nodiscard]] base::Result<SessionHandle> Find(const std::string& name) const;
  [[nodiscard]] base::Result<std::vector<SessionHandle>> List() const;  // by name
  [[nodiscard]] base::Result<ShownSession> Show(const SessionHandle& session) const;
  // How much its files take. Does not count as a use of the session.
  [[nodiscard]] base::Result<WorkspaceUsage> Usage(const SessionHandle& session) const;

  base::Status Delete(const SessionHandle& session) const;
  // The session expires so long from now.
  base::Status Extend(const SessionHandle& session, std::chrono::seconds ttl) const;
  base::Status Pause(const SessionHandle& session) const;
  base::Status Resume(const SessionHandle& session) const;
  // Ends the runs of the session and its sandbox; the next use makes another one.
  base::Status Stop(const SessionHandle& session) const;

  // The diff of the last run that changed something; "" for none.
  [[nodiscard]] base::Result<std::string> Diff(const SessionHandle& session) const;
  [[nodiscard]] base::Result<SessionDifferences> Check(const SessionHandle& session, const std::stop_token& stop) const;
  // Takes the last run back. Without `later` later work stays.
  base::Result<std::vector<core::FileChange>> Undo(const SessionHandle& session,
                                                   std::optional<workspace::LaterWork> later) const;

 private:
  [[nodiscard]] base::Status CheckSettings(const SessionSettings& settings) const;
  // A change of the session's state, in the audit and published as an event.
  template <class Act>
  base::Status Change(const SessionHandle& session, const char* event, const Act& act) const;
};

}  // namespace skerry::engine
