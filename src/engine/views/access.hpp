// Access: all that a dialect has of the engine, for one principal. It reaches the engine through views, which check and
// record by themselves: a dialect cannot forget.
#pragma once

#include <stop_token>
#include <utility>

#include "engine/archive_spool.hpp"
#include "engine/principal.hpp"
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

class Host;

// Thread-safe. Its views are values that must not outlive it.
class Access {
 public:
  // `host` is borrowed.
  Access(Host& host, Principal principal) : host_(host), principal_(std::move(principal)) {}

  [[nodiscard]] const Principal& principal() const { return principal_; }
  // Whether the principal's token is still valid. Long activities have to ask now and then.
  [[nodiscard]] bool Holds() const;
  // For a body on its way to the client; counts against the tenant's share of the room for bodies.
  [[nodiscard]] base::Result<ArchiveSpool> MakeSpool(std::stop_token gone) const;

  [[nodiscard]] SessionsView sessions() const { return SessionsView(*this); }
  [[nodiscard]] RunsView runs() const { return RunsView(*this); }
  [[nodiscard]] FilesView files(const SessionHandle& session) const { return {*this, session}; }
  [[nodiscard]] ContextsView contexts(const SessionHandle& session) const { return {*this, session}; }
  [[nodiscard]] HistoryView history() const { return HistoryView(*this); }
  [[nodiscard]] ApprovalsView approvals() const { return ApprovalsView(*this); }
  [[nodiscard]] TokensView tokens() const { return TokensView(*this); }
  [[nodiscard]] EventsView events() const { return EventsView(*this); }
  [[nodiscard]] SystemView system() const { return SystemView(*this); }

 private:
  friend class View;

  Host& host_;
  Principal principal_;
};

}  // namespace skerry::engine
