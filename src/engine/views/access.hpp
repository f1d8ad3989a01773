// Access: all that a dialect has of the engine, for one principal. It reaches the engine through views, which check and
// record by themselves: a dialect cannot forget.
#pragma once

#include <stop_token>
#include <utility>

#include "base/result.hpp"
#include "engine/archive_spool.hpp"
#include "engine/principal.hpp"

namespace skerry::engine {

class ApprovalsView;
class ContextsView;
class EventsView;
class FilesView;
class HistoryView;
class Host;
class RunsView;
class SessionHandle;
class SessionsView;
class SystemView;
class TokensView;

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

  // Whoever calls one of these includes the header of that view.
  [[nodiscard]] SessionsView sessions() const;
  [[nodiscard]] RunsView runs() const;
  [[nodiscard]] FilesView files(const SessionHandle& session) const;
  [[nodiscard]] ContextsView contexts(const SessionHandle& session) const;
  [[nodiscard]] HistoryView history() const;
  [[nodiscard]] ApprovalsView approvals() const;
  [[nodiscard]] TokensView tokens() const;
  [[nodiscard]] EventsView events() const;
  [[nodiscard]] SystemView system() const;

 private:
  friend class View;

  Host& host_;
  Principal principal_;
};

}  // namespace skerry::engine
