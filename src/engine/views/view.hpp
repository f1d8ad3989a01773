// View: what every view has: its principal, and the host behind it.
//
// A method of a view checks the scope, finds only the principal's things (all others are kNotFound), keeps to the
// ceilings and writes the audit by itself: before the deed, which does not happen without its record unless it ends or
// frees something; a failure is noted after it. Only the daemon's owner gets errors that name its directories.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "core/record.hpp"
#include "core/service_store.hpp"
#include "engine/deed.hpp"
#include "engine/principal.hpp"
#include "engine/views/session_handle.hpp"

namespace skerry::confirm {
class ApprovalQueue;
}

namespace skerry::engine {

class Access;
class Chronicle;
class Gate;
class Host;
struct HostOptions;
class Monitor;
class Run;
class SandboxManager;
class Tokens;
struct ViewTurns;

// Thread-safe, as all views are. The access that made it outlives it.
class View {
 protected:
  explicit View(const Access& access) : access_(access) {}

  [[nodiscard]] const Access& access() const { return access_; }
  [[nodiscard]] const Principal& principal() const;

  // What `act` gives, if the principal has the scope.
  template <class Act>
  auto Allowed(Need need, const Act& act) const -> std::invoke_result_t<const Act&> {
    if (auto may = May(need); !may) return std::unexpected(std::move(may).error());
    return Told(act());
  }
  // The same, if the session is also the principal's.
  template <class Act>
  auto Allowed(Need need, const SessionHandle& session, const Act& act) const
      -> std::invoke_result_t<const Act&, HostedSession&> {
    if (auto may = May(need); !may) return std::unexpected(std::move(may).error());
    if (auto owned = CheckOwned(session); !owned) return std::unexpected(std::move(owned).error());
    return Told(act(*session.hosted_));
  }
  // Writes the audit before `act` is done, and after it when it failed.
  template <class Act>
  auto Recorded(const Deed& deed, const Details& details, const Act& act) const -> std::invoke_result_t<const Act&> {
    if (auto begun = Record(deed, details); !begun) return std::unexpected(std::move(begun).error());
    auto done = act();
    if (!done) RecordFailure(deed, done.error());
    return done;
  }
  [[nodiscard]] base::Status Record(const Deed& deed, const Details& details) const;
  void RecordFailure(const Deed& deed, const base::Error& error) const;
  void RecordFailure(const Deed& deed, int status) const;
  // Before contents of files leave the session.
  [[nodiscard]] base::Status RecordExport(const HostedSession& session, const std::string& what,
                                          std::uint64_t bytes) const;
  // A text of the client as the audit has it: valid UTF-8, and cut when it is long.
  static std::string ForAudit(std::string_view text);

  // kPermissionDenied, with the scopes that would suffice.
  [[nodiscard]] base::Status May(Need need) const;
  // kNotFound for a session of another tenant.
  [[nodiscard]] base::Status CheckOwned(const SessionHandle& session) const;
  // The same for a run that any view has found.
  [[nodiscard]] base::Status CheckOwned(const Run& run) const;
  // Before something recorded is made. kRateLimited, or an error that IsNoRoom recognises.
  [[nodiscard]] base::Status Admit() const;
  template <class T>
  [[nodiscard]] base::Result<T> Told(base::Result<T> result) const {
    if (!result) return std::unexpected(Told(std::move(result).error()));
    return result;
  }
  [[nodiscard]] base::Error Told(base::Error error) const;

  static SessionHandle HandleOf(std::shared_ptr<HostedSession> hosted) { return SessionHandle(std::move(hosted)); }
  static const std::shared_ptr<HostedSession>& HostedOf(const SessionHandle& session) { return session.hosted_; }

  // Parts of the host: no view hands any of them out.
  [[nodiscard]] Host& host() const;
  [[nodiscard]] const HostOptions& options() const;
  [[nodiscard]] Chronicle& chronicle() const;
  [[nodiscard]] SandboxManager& manager() const;
  [[nodiscard]] const Gate& gate() const;
  [[nodiscard]] Tokens& tokens() const;
  [[nodiscard]] confirm::ApprovalQueue& approvals() const;
  [[nodiscard]] const Monitor& monitor() const;
  [[nodiscard]] core::ServiceStore& store() const;
  [[nodiscard]] core::RecordStore* record() const;  // none when the store cannot be used
  [[nodiscard]] ViewTurns& turns() const;
  [[nodiscard]] base::Status Remove(const std::shared_ptr<HostedSession>& session) const;

 private:
  const Access& access_;
};

}  // namespace skerry::engine
