// Chronicle: everything that is told of what happens in a host: events, audit, metrics, traces, the log. The one place
// where those are made.
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
  std::shared_ptr<watch::SpanExporter> spans;   // none: nobody traces
  std::shared_ptr<watch::Announcer> announcer;  // none: no webhook
  CodeBodies code = CodeBodies::kLeftOut;       // in the audit
  Budgets::Share audit;                         // what tenants may fill of it; `each` is for a day
};

// Thread-safe. What returns a Status must be heeded: what cannot be recorded must not happen.
class Chronicle {
 public:
  Chronicle(watch::AuditLog audit, ChronicleParts parts);

  void DaemonBegan(const std::string& version);
  void DaemonEnds();
  // In the audit when it is another than the last one that was recorded. `text` has no secrets.
  base::Status Configured(const std::string& text);

  base::Status SessionMade(const core::HostedSessionRecord& session, const Principal& by);
  // `why`: "deleted", "expired", "unused"; nobody for what the daemon does by itself.
  void SessionEnded(const std::string& id, const std::string& tenant, std::string_view why, const Principal* by);
  void SessionState(const std::string& id, const std::string& tenant, std::string_view state);

  // `input`: what is known of it by then.
  base::Status RunBegins(const Run& run, const Principal& by, std::string_view code,
                         const std::optional<std::string>& input);
  void RunStarts(const Run& run);
  // What it was fed until now.
  void RunFed(const Run& run, const FedInput& input);
  void RunEnds(const Run& run, const RunEnd& end);
  // When whoever asks is told the same.
  void RunEnded(const Run& run, const RunEnd& end, const watch::TraceContext& trace);
  // Those of a daemon that was ended before them.
  void RunLost(const core::RunRecord& run);

  // Before anybody can answer.
  base::Status Asks(const confirm::Approval& approval);
  // For whoever follows along.
  void Asked(const confirm::Approval& approval, const std::string& tenant);
  void Answered(const confirm::Event& event, const std::string& tenant);
  // Before what was approved runs.
  base::Status Decided(const Run& run, const confirm::Question& question, const confirm::Answer& answer);

  void FilesChanged(const std::string& session, const std::string& tenant, const std::string& execution,
                    const std::vector<core::FileChange>& changes);
  // `session` is its id, `bytes` what is handed out.
  base::Status FilesExported(const std::string& session, const Principal& by, const std::string& what,
                             std::uint64_t bytes);
  // Before it is done. `details` are names, sizes and hashes.
  base::Status Does(const Deed& deed, const Principal& by, const nlohmann::ordered_json& details);
  // It was not done, or not all of it; the answer had this status.
  void Failed(const Deed& deed, const Principal& by, int status);
  base::Status TokenMade(const core::TokenRecord& token, const Principal& by);
  base::Status TokenRevoked(const std::string& id, const Principal& by);
  // Requests without a proper token.
  void LoginsRefused(const watch::LoginReport& report);
  void Alert(const std::string& session, const std::string& tenant, const std::string& execution,
             const watch::AlertChange& change);

  [[nodiscard]] watch::EventLog& events() { return events_; }
  [[nodiscard]] watch::Metrics& metrics() { return metrics_; }
  [[nodiscard]] const std::shared_ptr<watch::SpanExporter>& spans() const { return parts_.spans; }
  // Somebody may have moved files of the audit away.
  void CountAudit() { audit_.CountBytes(); }
  void Log(watch::LogLevel level, std::string_view message, const watch::LogFields& fields = {}) const;

 private:
  // Says what could not be written; for what has happened already.
  void Note(const std::string& event, const nlohmann::ordered_json& details);
  base::Status Record(const std::string& event, const nlohmann::ordered_json& details);
  // Before a tenant does something that is recorded. kRateLimited: it has filled its share of a day. NoRoom: the audit
  // is as large as it may be.
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
