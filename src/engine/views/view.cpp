#include "engine/views/view.hpp"

#include "base/utf8.hpp"
#include "engine/disk_room.hpp"
#include "engine/host.hpp"
#include "engine/views/access.hpp"

namespace skerry::engine {

const std::string& SessionHandle::id() const {
  return hosted_->id();
}

std::string SessionHandle::name() const {
  return hosted_->name();
}

const std::string& SessionHandle::tenant() const {
  return hosted_->tenant();
}

Condition SessionHandle::condition() const {
  return hosted_->condition();
}

const Principal& View::principal() const {
  return access_.principal();
}

base::Status View::Record(const Deed& deed, const Details& details) const {
  return chronicle().Does(deed, principal(), details);
}

// The audit has the HTTP status of the error.
void View::RecordFailure(const Deed& deed, const base::Error& error) const {
  constexpr int kInsufficientStorage = 507;
  RecordFailure(deed, IsNoRoom(error) ? kInsufficientStorage : base::RowOf(error.code).http_status);
}

void View::RecordFailure(const Deed& deed, int status) const {
  chronicle().Failed(deed, principal(), status);
}

base::Status View::RecordExport(const HostedSession& session, const std::string& what, std::uint64_t bytes) const {
  return chronicle().FilesExported(session.id(), principal(), what, bytes);
}

std::string View::ForAudit(std::string_view text) {
  constexpr std::size_t kLongest = 4096;
  return base::ToValidUtf8(text.substr(0, kLongest));
}

base::Status View::May(Need need) const {
  if (principal().scopes.May(need)) return {};
  return base::Err(base::Code::kPermissionDenied, "this needs a token with the scope " + NamesOf(need));
}

base::Status View::CheckOwned(const SessionHandle& session) const {
  if (principal().Sees(session.tenant())) return {};
  return base::Err(base::Code::kNotFound, "there is no session " + session.name());
}

base::Status View::CheckOwned(const Run& run) const {
  if (principal().Sees(run.record().tenant)) return {};
  return base::Err(base::Code::kNotFound, "there is no execution " + run.id());
}

base::Status View::Admit() const {
  return host().Admit(principal());
}

base::Error View::Told(base::Error error) const {
  return host().Told(principal(), std::move(error));
}

Host& View::host() const {
  return access_.host_;
}

const HostOptions& View::options() const {
  return host().options_;
}

Chronicle& View::chronicle() const {
  return *host().chronicle_;
}

SandboxManager& View::manager() const {
  return host().manager_;
}

const Gate& View::gate() const {
  return host().manager_.gate();
}

Tokens& View::tokens() const {
  return *host().tokens_;
}

confirm::ApprovalQueue& View::approvals() const {
  return host().approvals_;
}

const Monitor& View::monitor() const {
  return *host().monitor_;
}

core::ServiceStore& View::store() const {
  return *options().store;
}

core::RecordStore* View::record() const {
  return options().record.get();
}

ViewTurns& View::turns() const {
  return host().turns_;
}

base::Status View::Remove(const std::shared_ptr<HostedSession>& session) const {
  return host().Remove(session, "deleted", &principal());
}

}  // namespace skerry::engine
