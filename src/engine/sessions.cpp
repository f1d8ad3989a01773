#include "engine/sessions.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ids.hpp"
#include "engine/bootstrap.hpp"
#include "os/errno_error.hpp"

namespace skerry::engine {

using workspace::SessionDirectory;

base::Result<Session> Sessions::Begin(const std::string& id) const {
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Create(options_.base_dir, id));
  const auto now = std::chrono::system_clock::now();
  const auto store = recorder_->Store();
  if (store && *store != nullptr) {
    // When the session was deleted without Skerry the record may still say that it lives.
    (void)(*store)->EndSession(id, now);
    const auto added =
        (*store)->AddSession({.id = id, .created_by = recorder_->by(), .created_at = now, .used_at = now});
    if (const auto told = recorder_->Tell(added); !told) {
      (void)directory.Remove();
      return std::unexpected(told.error());
    }
  } else if (!store) {
    (void)directory.Remove();
    return std::unexpected(store.error());
  }
  auto session = Session::Make(std::move(directory), options_.limits, recorder_);
  if (!session)
    (void)Delete(id, base::Deadline::After(std::chrono::seconds(1)));  // nobody would find the unfinished session
  return session;
}

base::Status Sessions::Furnish(Session& session) const {
  const auto made = session.Record("bootstrap", "a new workspace", [&]() -> base::Result<Session::Changes> {
    SKERRY_ASSIGN_OR_RETURN(Session::Changes changes, MakeLayout(session.files()));
    if (options_.source.empty()) return changes;
    SKERRY_ASSIGN_OR_RETURN(Session::Changes copied,
                            CopySource(options_.source, options_.bootstrap_files, session.files()));
    // The source's files win, also over the notes.
    std::erase_if(changes, [&](const core::FileChange& change) {
      return std::ranges::find(copied, change.path, &core::FileChange::path) != copied.end();
    });
    std::ranges::move(copied, std::back_inserter(changes));
    return changes;
  });
  return made ? base::Status{} : std::unexpected(made.error());
}

base::Result<Session> Sessions::Create(const std::optional<std::string>& id) const {
  SKERRY_ASSIGN_OR_RETURN(Session session, Begin(id ? *id : base::RandomId("s")));
  if (const auto furnished = Furnish(session); !furnished) {
    (void)session.Remove();
    return std::unexpected(furnished.error());
  }
  return session;
}

base::Result<Session> Sessions::Open(const std::string& id, base::Deadline deadline) const {
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Open(options_.base_dir, id, deadline));
  return Session::Make(std::move(directory), options_.limits, recorder_);
}

base::Result<std::unique_ptr<const workspace::AgentWorkspace>> Sessions::OpenForReading(const std::string& id) const {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd root, SessionDirectory::OpenRoot(options_.base_dir, id));
  return std::make_unique<const workspace::AgentWorkspace>(
      std::move(root), base::UniqueFd(), workspace::WorkspaceOptions{.max_bytes = options_.limits.max_bytes});
}

base::Result<std::vector<SessionSummary>> Sessions::List() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> ids, SessionDirectory::List(options_.base_dir));
  std::vector<SessionSummary> sessions;
  for (const std::string& id : ids) {
    const auto facts = SessionDirectory::UseOf(options_.base_dir, id);
    if (facts) sessions.push_back({.id = id, .used_at = facts->used_at, .busy = facts->busy});
  }
  return sessions;
}

base::Status Sessions::Delete(const std::string& id, base::Deadline deadline) const {
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::OpenToRemove(options_.base_dir, id, deadline));
  SKERRY_RETURN_IF_ERROR(directory.Remove());
  const auto store = recorder_->Store();
  if (!store || *store == nullptr) return {};
  const auto ended = (*store)->EndSession(id, std::chrono::system_clock::now());
  return !ended && ended.error().code == base::Code::kNotFound ? base::Status{} : recorder_->Tell(ended);
}

base::Result<std::vector<std::string>> Sessions::Sweep() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<SessionSummary> sessions, List());
  const auto oldest = std::chrono::system_clock::now() - options_.cleanup_after;
  std::vector<std::string> swept;
  for (const SessionSummary& session : sessions) {
    if (session.busy || session.used_at > oldest) continue;
    // Checked again with the lock held: the session may have been used meanwhile.
    auto directory = SessionDirectory::OpenIdle(options_.base_dir, session.id, oldest);
    if (!directory || !directory->Remove()) continue;
    const auto store = recorder_->Store();
    if (store && *store != nullptr) (void)(*store)->EndSession(session.id, std::chrono::system_clock::now());
    swept.push_back(session.id);
  }
  return swept;
}

}  // namespace skerry::engine
