#include "engine/views/access.hpp"

#include "engine/host.hpp"
#include "engine/views/approvals_view.hpp"
#include "engine/views/contexts_view.hpp"
#include "engine/views/events_view.hpp"
#include "engine/views/files_view.hpp"
#include "engine/views/history_view.hpp"
#include "engine/views/runs_view.hpp"
#include "engine/views/sessions_view.hpp"
#include "engine/views/system_view.hpp"
#include "engine/views/tokens_view.hpp"

namespace skerry::engine {

bool Access::Holds() const {
  return principal_.owner || host_.tokens().Holds(principal_.id);
}

base::Result<ArchiveSpool> Access::MakeSpool(std::stop_token gone) const {
  const auto reach = principal_.owner ? base::Reach::kReserve : base::Reach::kTenant;
  auto spool =
      ArchiveSpool::Make(host_.options().state_directory, std::move(gone), {host_.spool(), principal_.tenant, reach});
  if (!spool) return std::unexpected(host_.Told(principal_, std::move(spool).error()));
  return spool;
}

SessionsView Access::sessions() const {
  return SessionsView(*this);
}

RunsView Access::runs() const {
  return RunsView(*this);
}

FilesView Access::files(const SessionHandle& session) const {
  return {*this, session};
}

ContextsView Access::contexts(const SessionHandle& session) const {
  return {*this, session};
}

HistoryView Access::history() const {
  return HistoryView(*this);
}

ApprovalsView Access::approvals() const {
  return ApprovalsView(*this);
}

TokensView Access::tokens() const {
  return TokensView(*this);
}

EventsView Access::events() const {
  return EventsView(*this);
}

SystemView Access::system() const {
  return SystemView(*this);
}

}  // namespace skerry::engine
