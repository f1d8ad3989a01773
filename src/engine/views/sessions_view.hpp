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
  SessionSettings settings;                                       // without its variables
  std::map<std::string, std::optional<std::string>> environment;  // values are for those who may run something
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
  std::vector<core::FileChange> files;  // that are not as the record says
  std::uint64_t left_out = 0;           // changes that the record counts and does not name
};

// The variables of a session as the principal may see them.
std::map<std::string, std::optional<std::string>> ShownVariables(const std::map<std::string, std::string>& variables,
                                                                 const Principal& principal);

class SessionsView : public View {
 public:
  explicit SessionsView(const Access& access) : View(access) {}

  // What a session is that says nothing of its own: to be changed and given to Create.
  [[nodiscard]] base::Result<NewSession> Draft() const;
  struct Made {
    SessionHandle session;
    bool replayed = false;  // it was there already: the claim is one of before
  };
  base::Result<Made> Create(NewSession wanted) const;

  // By its tenant's name for it; for those who may administer also by its id, and a name that several tenants use is
  // kConflict then.
  [[nodiscard]] base::Result<SessionHandle> Find(const std::string& name) const;
  [[nodiscard]] base::Result<std::vector<SessionHandle>> List() const;  // by name
  [[nodiscard]] base::Result<ShownSession> Show(const SessionHandle& session) const;
  // What its files take. Not a use of the session.
  [[nodiscard]] base::Result<WorkspaceUsage> Usage(const SessionHandle& session) const;

  base::Status Delete(const SessionHandle& session) const;
  // It expires so long from now.
  base::Status Extend(const SessionHandle& session, std::chrono::seconds ttl) const;
  base::Status Pause(const SessionHandle& session) const;
  base::Status Resume(const SessionHandle& session) const;
  // Ends what runs in it, and its sandbox; the next use makes another one.
  base::Status Stop(const SessionHandle& session) const;

  // What the last run that changed something did; "" for nothing.
  [[nodiscard]] base::Result<std::string> Diff(const SessionHandle& session) const;
  [[nodiscard]] base::Result<SessionDifferences> Check(const SessionHandle& session, const std::stop_token& stop) const;
  // Takes the last run back. Later work stays where nothing else is said.
  base::Result<std::vector<core::FileChange>> Undo(const SessionHandle& session,
                                                   std::optional<workspace::LaterWork> later) const;

 private:
  [[nodiscard]] base::Status CheckSettings(const SessionSettings& settings) const;
  // Something that a session's life does, in the audit and told to those who follow.
  template <class Act>
  base::Status Change(const SessionHandle& session, const char* event, const Act& act) const;
};

}  // namespace skerry::engine
