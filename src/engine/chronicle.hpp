// Chronicle: tells what happens in a host, as events, audit, metrics, traces and log. The one place where these are
// made.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "confirm/approval_events.hpp"
#include "core/execution.hpp"
#include "core/record.hpp"
#include "core/service_store.hpp"
#include "engine/audit_shares.hpp"
#include "engine/budgets.hpp"
#include "engine/deed.hpp"
#include "engine/monitor.hpp"
#include "engine/principal.hpp"
#include "engine/run.hpp"
#include "watch/announcer.hpp"
#include "watch/audit_log.hpp"
#include "watch/event_log.hpp"
#include "watch/logger.hpp"
#include "watch/login_tally.hpp"
#include "watch/metrics.hpp"
#include "watch/span_exporter.hpp"

namespace skerry::engine {

enum class CodeBodies { kLeftOut, kIncluded };

struct ChronicleParts {
  std::shared_ptr<watch::Logger> log;           // none: nothing is logged
  std::shared_ptr<watch::SpanExporter> spans;   // none: no traces
  std::shared_ptr<watch::Announcer> announcer;  // none: no webhook
  CodeBodies code = CodeBodies::kLeftOut;       // in the audit
  Budgets::Share audit;                         // what tenants may fill of it; `each` is for a day
};

// Thread-safe. A caller must heed a Status: what cannot be recorded must not happen.
class Chronicle {
 public:
  Chronicle(watch::AuditLog audit, ChronicleParts parts);

  void DaemonBegan(const std::string& version);
  void DaemonEnds();
  // A configuration that differs from the last recorded one; the caller compares. `text` has no secrets.
  base::Status Configured(const std::string& text);

  base::Status SessionMade(const core::HostedSessionRecord& session, const Principal& by);
  // `why`: "deleted", "expired", "unused"; `by` is null when the daemon did it by itself.
  void SessionEnded(const std::string& id, const std::string& tenant, std::string_view why, const Principal* by);
  void SessionState(const std::string& id, const std::string& tenant, std::string_view state);

  // `input`: the text that is known when the run begins; none where input is fed later.
  base::Status RunBegins(const Run& run, const Principal& by, std::string_view code,
                         const std::optional<std::string>& input);
  void RunStarts(const Run& run);
  // What the run was fed until now.
  void RunFed(const Run& run, const FedInput& input);
  void RunEnds(const Run& run, const RunEnd& end);
  // The event, metrics, log and trace of the end, once the run itself tells its end; RunEnds is for the audit.
  void RunEnded(const Run& run, const RunEnd& end, const watch::TraceContext& trace);
  // A run that was under way when an earlier daemon was killed.
  void RunLost(const core::RunRecord& run);

  // Into the audit, before a person can answer.
  base::Status Asks(const confirm::Approval& approval);
  // As an event and to the webhook.
  void Asked(const confirm::Approval& approval, const std::string& tenant);
  void Answered(const confirm::Event& event, const std::string& tenant);
  // Into the audit, before the approved run goes on.
  base::Status Decided(const Run& run, const confirm::Question& question, const confirm::Answer& answer);

  void FilesChanged(const std::string& session, const std::string& tenant, const std::string& execution,
                    const std::vector<core::FileChange>& changes);
  // `session` is the session's id, `bytes` the size of what the client gets.
  base::Status FilesExported(const std::string& session, const Principal& by, const std::string& what,
                             std::uint64_t bytes);
  // Before the deed is done.
  base::Status Does(const Deed& deed, const Principal& by, const Details& details);
  // The deed was not done, or not all of it; the answer had this status.
  void Failed(const Deed& deed, const Principal& by, int status);
  base::Status TokenMade(const core::TokenRecord& token, const Principal& by);
  base::Status TokenRevoked(const std::string& id, const Principal& by);
  // Requests without a valid token.
  void LoginsRefused(const watch::LoginReport& report);
  void Alert(const std::string& session, const std::string& tenant, const std::string& execution,
             const watch::AlertChange& change);

  [[nodiscard]] watch::EventLog& events() { return events_; }
  [[nodiscard]] watch::Metrics& metrics() { return metrics_; }
  [[nodiscard]] const std::shared_ptr<watch::SpanExporter>& spans() const { return parts_.spans; }
  // For files of the audit that were moved away meanwhile.
  void CountAudit() { audit_.CountBytes(); }
  void Log(watch::LogLevel level, std::string_view message, const watch::LogFields& fields = {}) const;

 private:
  // For what has happened already: a failure is only logged.
  void Note(const std::string& event, const nlohmann::ordered_json& details);
  base::Status Record(const std::string& event, const nlohmann::ordered_json& details);
  // Before a tenant's deed is recorded. kRateLimited: the tenant has filled its share of a day. NoRoom: the audit is as
  // large as it may be.
  base::Status Afford(const std::string& tenant, Deed::Weight weight);
  base::Status Afford(const Principal& by, Deed::Weight weight = Deed::Weight::kUsual) {
    return by.owner ? base::Status{} : Afford(by.tenant, weight);
  }
  void Trace(const Run& run, const RunEnd& end, const watch::TraceContext& trace);

  watch::EventLog events_;
  watch::Metrics metrics_;
  watch::AuditLog audit_;
  ChronicleParts parts_;
  AuditShares shares_;
};

}  // namespace skerry::engine
