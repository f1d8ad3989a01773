#include "engine/chronicle.hpp"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "engine/disk_room.hpp"
#include "json/history_json.hpp"
#include "json/text.hpp"

namespace skerry::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostChanges = 100;                          // that an event names
constexpr std::size_t kMostChangedBytes = std::size_t{16} << 10U;  // of their paths: all events share one log

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

// A client's text can be as long as a request: keeps its beginning, and a hash to identify it.
std::string ForRecord(const std::string& text) {
  constexpr std::size_t kLongest = 1024;
  if (text.size() <= kLongest) return base::ToValidUtf8(text);
  return base::ToValidUtf8(text.substr(0, kLongest)) + "… (" + std::to_string(text.size()) + " bytes, sha256 " +
         base::Sha256Hex(text) + ")";
}

// The tenant's name for a session.
std::string NameOf(const std::string& session) {
  return std::string(core::NameOfSession(session));
}

Json NameOrNull(const std::string& session) {
  return TextOrNull(NameOf(session));
}

Json ByToJson(const Principal& by) {
  return {{"by", by.id}, {"tenant", by.tenant}, {"from", TextOrNull(by.from)}};
}

// Adds the X-Request-Id of the answer, for what came over a protocol.
void AddRequest(Json& details, const Principal& by) {
  if (!by.request.empty()) details["request_id"] = by.request;
}

// The risk level; "" when the run ended before its assessment.
std::string RiskOf(const RunEnd& end) {
  const core::RiskSummary& risk = end.result.risk;
  return risk.assessed ? std::string(core::NameOf(risk.level)) : "";
}

// How the interpreter came to be; "" when nothing ran.
std::string StartOf(const RunEnd& end) {
  return end.result.timings.run.count() != 0 ? std::string(core::NameOf(end.result.start)) : "";
}

// Values of variables may be secrets; their names stay.
Json SettingsWithoutValues(const std::string& text) {
  Json settings = json::Parse(text);
  if (!settings.is_object()) return nullptr;
  if (const auto found = settings.find("environment"); found != settings.end() && found->is_object())
    for (auto& [name, value] : found->items()) value = "not kept";
  return settings;
}

std::string_view InputKind(const Run& run, const std::optional<std::string>& input) {
  if (run.HasTerminal()) return "terminal";
  if (run.fed()) return "pipe";
  return input ? "text" : "none";
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Chronicle::Chronicle(watch::AuditLog audit, ChronicleParts parts)
    : audit_(std::move(audit)), parts_(std::move(parts)), shares_(parts_.audit.each) {}

void Chronicle::Log(watch::LogLevel level, std::string_view message, const watch::LogFields& fields) const {
  if (parts_.log) parts_.log->Write(level, message, fields);
}

base::Status Chronicle::Afford(const std::string& tenant, Deed::Weight weight) {
  if (weight != Deed::Weight::kEnding && parts_.audit.all != 0 && audit_.bytes() >= parts_.audit.all)
    return NoRoom("the audit is as large as it may be (sandbox.budgets.auditMb); its owner has to move old files away");
  const auto wait = shares_.Wait(tenant, weight);
  if (wait.count() == 0) return {};
  return base::Err(base::Code::kRateLimited,
                   "this tenant has filled its share of the audit for a day (sandbox.budgets.auditPerTenantMb), which "
                   "comes back bit by bit; try again in " +
                       std::to_string(wait.count()) + " s");
}

base::Status Chronicle::Record(const std::string& event, const Json& details) {
  const auto written = audit_.Append(event, details);
  if (written) {
    const auto tenant = details.find("tenant");
    if (tenant == details.end() || !tenant->is_string()) return {};
    shares_.Fill(tenant->get<std::string>(), *written);
    return {};
  }
  metrics_.CounterOf("skerry_audit_failures_total", "Records that could not be written to the audit.").Add();
  Log(watch::LogLevel::kError, "the audit cannot be written: " + written.error().message, {{"event", event}});
  // Only the owner may know where the audit lies.
  return base::Err(base::Code::kUnavailable, "cannot be recorded in the audit; the log of the daemon says why");
}

void Chronicle::Note(const std::string& event, const Json& details) {
  (void)Record(event, details);
}

void Chronicle::DaemonBegan(const std::string& version) {
  Note("daemon.began", {{"version", version}});
}

void Chronicle::DaemonEnds() {
  Note("daemon.ends", Json::object());
}

base::Status Chronicle::Configured(const std::string& text) {
  const Json settings = json::Parse(text);
  return Record("configuration.changed", {{"sha256", base::Sha256Hex(text)}, {"configuration", settings}});
}

base::Status Chronicle::SessionMade(const core::HostedSessionRecord& session, const Principal& by) {
  SKERRY_RETURN_IF_ERROR(Afford(by));
  Json details = ByToJson(by);
  AddRequest(details, by);
  details["session_id"] = NameOf(session.id);
  details["unique_id"] = session.id;
  details["settings"] = SettingsWithoutValues(session.settings);
  SKERRY_RETURN_IF_ERROR(Record("session.created", details));
  events_.Publish({"session.created", session.tenant, NameOf(session.id)},
                  {{"expires_at", session.expires_at ? Json(json::Rfc3339(*session.expires_at)) : Json(nullptr)}});
  metrics_.CounterOf("skerry_sessions_created_total", "Sessions that were made.").Add();
  return {};
}

void Chronicle::SessionEnded(const std::string& id, const std::string& tenant, std::string_view why,
                             const Principal* by) {
  Json details = {{"session_id", NameOf(id)}, {"unique_id", id}, {"tenant", tenant}, {"reason", why}};
  if (by != nullptr) details.update({{"by", by->id}, {"from", TextOrNull(by->from)}});
  Note("session.deleted", details);
  events_.Publish({"session.deleted", tenant, NameOf(id)}, {{"reason", why}});
}

void Chronicle::SessionState(const std::string& id, const std::string& tenant, std::string_view state) {
  events_.Publish({"session.state", tenant, id}, {{"state", state}});
}

base::Status Chronicle::RunBegins(const Run& run, const Principal& by, std::string_view code,
                                  const std::optional<std::string>& input) {
  SKERRY_RETURN_IF_ERROR(Afford(by));
  const core::RunRecord& record = run.record();
  Json details = ByToJson(by);
  AddRequest(details, by);
  details["execution_id"] = record.id;
  details["session_id"] = NameOrNull(record.session);
  details["kind"] = record.kind;
  details["language"] = TextOrNull(record.language);
  details["code_sha256"] = base::Sha256Hex(code);
  details["code_bytes"] = code.size();
  details["input"] = InputKind(run, input);
  if (input) details.update({{"input_bytes", input->size()}, {"input_sha256", base::Sha256Hex(*input)}});
  if (parts_.code == CodeBodies::kIncluded) details["code"] = base::ToValidUtf8(code);
  SKERRY_RETURN_IF_ERROR(Record("run.began", details));
  events_.Publish({"execution.began", record.tenant, NameOf(record.session)},
                  {{"execution_id", record.id}, {"kind", record.kind}, {"language", TextOrNull(record.language)}});
  return {};
}

void Chronicle::RunStarts(const Run& run) {
  const core::RunRecord& record = run.record();
  events_.Publish({"execution.started", record.tenant, NameOf(record.session)}, {{"execution_id", record.id}});
}

void Chronicle::RunFed(const Run& run, const FedInput& input) {
  Note("run.input", {{"execution_id", run.id()},
                     {"session_id", NameOrNull(run.record().session)},
                     {"tenant", run.record().tenant},
                     {"input_bytes", input.bytes},
                     {"input_sha256", input.sha256}});
}

void Chronicle::RunEnds(const Run& run, const RunEnd& end) {
  const core::RunRecord& record = run.record();
  Json details = {{"execution_id", record.id},
                  {"session_id", NameOrNull(record.session)},
                  {"tenant", record.tenant},
                  {"state", core::NameOf(end.state)},
                  {"outcome", end.Outcome()},
                  {"exit_code", end.ExitCode()},
                  {"risk", TextOrNull(RiskOf(end))},
                  {"approved_by", TextOrNull(end.result.approved_by)},
                  {"digest", TextOrNull(end.result.digest)},
                  {"sandbox", TextOrNull(end.result.sandbox_type)},
                  {"output_bytes", run.output_bytes()}};
  if (const auto input = run.fed()) details.update({{"input_bytes", input->bytes}, {"input_sha256", input->sha256}});
  Note("run.ended", details);
}

void Chronicle::RunEnded(const Run& run, const RunEnd& end, const watch::TraceContext& trace) {
  const core::RunRecord& record = run.record();
  const std::string risk = RiskOf(end);
  const std::string start = StartOf(end);
  events_.Publish({"execution.ended", record.tenant, NameOf(record.session)},
                  {{"execution_id", record.id},
                   {"kind", record.kind},
                   {"state", core::NameOf(end.state)},
                   {"outcome", end.Outcome()},
                   {"exit_code", end.ExitCode()},
                   {"duration_ms", end.result.execution_time.count()},
                   {"risk", TextOrNull(risk)},
                   {"start", TextOrNull(start)}});
  metrics_.CounterOf("skerry_runs_total", "Runs that have ended.", {{"kind", record.kind}, {"outcome", end.Outcome()}})
      .Add();
  if (!risk.empty())
    metrics_.CounterOf("skerry_risk_total", "Runs by the risk of their code.", {{"level", risk}}).Add();
  if (!start.empty()) {
    const watch::Labels labels = {{"start", start}};
    metrics_
        .HistogramOf("skerry_run_seconds", "How long programs ran, by how their interpreter came to be.",
                     watch::LatencyBounds(), labels)
        .Observe(Seconds(end.result.timings.run));
    metrics_
        .HistogramOf("skerry_start_seconds", "How long it took until a sandbox was there.", watch::LatencyBounds(),
                     labels)
        .Observe(Seconds(end.result.timings.obtain));
  }
  Log(watch::LogLevel::kInfo, "run ended",
      {{"execution_id", record.id},
       {"session_id", NameOf(record.session)},
       {"tenant", record.tenant},
       {"kind", record.kind},
       {"outcome", end.Outcome()},
       {"exit_code", std::to_string(end.ExitCode())},
       {"risk", risk},
       {"duration_ms", std::to_string(end.result.execution_time.count())},
       {"trace_id", trace.trace_id}});
  Trace(run, end, trace);
}

void Chronicle::RunLost(const core::RunRecord& run) {
  Note("run.ended", {{"execution_id", run.id},
                     {"session_id", NameOrNull(run.session)},
                     {"tenant", run.tenant},
                     {"state", "lost"},
                     {"outcome", "lost"}});
}

// The phases follow each other: policy, the person, the sandbox, the program, what is carried over.
void Chronicle::Trace(const Run& run, const RunEnd& end, const watch::TraceContext& trace) {
  if (!parts_.spans || !trace.valid()) return;
  const core::RunRecord& record = run.record();
  const watch::TraceContext whole = watch::ChildOf(trace);
  parts_.spans->Add({.name = "skerry.execution",
                     .context = whole,
                     .parent_id = trace.span_id,
                     .begin = record.created_at,
                     .end = std::chrono::system_clock::now(),
                     .attributes = {{"skerry.execution_id", record.id},
                                    {"skerry.session_id", NameOf(record.session)},
                                    {"skerry.kind", record.kind},
                                    {"skerry.language", record.language},
                                    {"skerry.outcome", end.Outcome()},
                                    {"skerry.risk", RiskOf(end)}},
                     .error = end.error ? end.error->message : ""});
  auto at = record.created_at;
  const auto phase = [&](const char* name, std::chrono::nanoseconds took) {
    if (took.count() <= 0) return;
    const auto begin = at;
    at += std::chrono::duration_cast<std::chrono::system_clock::duration>(took);
    parts_.spans->Add(
        {.name = name, .context = watch::ChildOf(whole), .parent_id = whole.span_id, .begin = begin, .end = at});
  };
  // A session's sandbox is obtained before the run in it is assessed and asked about.
  const bool claimed_first = !record.session.empty();
  if (claimed_first) phase("skerry.claim", end.result.timings.obtain);
  phase("skerry.policy", end.result.timings.policy);
  phase("skerry.approval_wait", end.result.timings.approval);
  if (!claimed_first) phase("skerry.claim", end.result.timings.obtain);
  phase("skerry.run", end.result.timings.run);
  phase("skerry.commit", end.result.timings.finish);
}

void Chronicle::Asked(const confirm::Approval& approval, const std::string& tenant) {
  const confirm::Question& question = approval.question;
  const Json details = {{"approval_id", approval.id},
                        {"execution_id", question.execution},
                        {"level", core::NameOf(question.risk.level)},
                        {"reason", base::ToValidUtf8(question.risk.reason)},
                        {"language", question.content_type},
                        {"digest", question.digest},
                        {"expires_at", json::Rfc3339(approval.expires)}};
  events_.Publish({"approval.requested", tenant, NameOf(question.session)}, details);
  metrics_.CounterOf("skerry_approvals_requested_total", "Questions that were put to a person.").Add();
  if (!parts_.announcer) return;
  Json body = details;
  body["type"] = "approval.requested";
  body["session_id"] = NameOrNull(question.session);
  body["tenant"] = tenant;
  parts_.announcer->Announce({.id = approval.id, .body = json::Text(body), .until = approval.expires});
}

base::Status Chronicle::Asks(const confirm::Approval& approval) {
  const confirm::Question& question = approval.question;
  return Record("approval.requested", {{"approval_id", approval.id},
                                       {"execution_id", question.execution},
                                       {"session_id", NameOrNull(question.session)},
                                       {"tenant", question.tenant},
                                       {"level", core::NameOf(question.risk.level)},
                                       {"digest", question.digest}});
}

void Chronicle::Answered(const confirm::Event& event, const std::string& tenant) {
  const confirm::Question& question = event.approval->question;
  const std::string decision(confirm::NameOf(event.answer.decision));
  events_.Publish({"approval.decided", tenant, NameOf(question.session)},
                  {{"approval_id", event.approval->id},
                   {"execution_id", question.execution},
                   {"decision", decision},
                   {"by", TextOrNull(event.answer.by)},
                   {"scope", confirm::NameOf(event.answer.scope)},
                   {"reason", TextOrNull(event.answer.reason)}});
  metrics_.CounterOf("skerry_approvals_total", "Answers to questions.", {{"decision", decision}}).Add();
  metrics_
      .HistogramOf("skerry_approval_wait_seconds", "How long questions waited for their answer.",
                   watch::LatencyBounds())
      .Observe(Seconds(std::chrono::system_clock::now() - event.approval->created));
  if (parts_.announcer) parts_.announcer->Withdraw(event.approval->id);
}

base::Status Chronicle::Decided(const Run& run, const confirm::Question& question, const confirm::Answer& answer) {
  return Record("approval.decided", {{"approval_id", TextOrNull(answer.approval)},
                                     {"execution_id", run.id()},
                                     {"session_id", NameOrNull(question.session)},
                                     {"tenant", run.record().tenant},
                                     {"decision", confirm::NameOf(answer.decision)},
                                     {"scope", confirm::NameOf(answer.scope)},
                                     {"by", TextOrNull(answer.by)},
                                     {"from", TextOrNull(answer.from)},
                                     {"reason", TextOrNull(answer.reason)},
                                     {"digest", question.digest},
                                     {"code_sha256", base::Sha256Hex(question.code)}});
}

void Chronicle::FilesChanged(const std::string& session, const std::string& tenant, const std::string& execution,
                             const std::vector<core::FileChange>& changes) {
  if (changes.empty()) return;
  Json named = Json::array();
  std::size_t bytes = 0;
  for (const core::FileChange& change : changes) {
    if (named.size() == kMostChanges || bytes > kMostChangedBytes) break;
    bytes += change.path.size();
    named.push_back({{"path", base::ToValidUtf8(change.path)}, {"action", core::NameOf(change.action)}});
  }
  events_.Publish({"files.changed", tenant, session},
                  {{"execution_id", TextOrNull(execution)}, {"changes", std::move(named)}, {"total", changes.size()}});
}

base::Status Chronicle::FilesExported(const std::string& session, const Principal& by, const std::string& what,
                                      std::uint64_t bytes) {
  SKERRY_RETURN_IF_ERROR(Afford(by, Deed::Weight::kReading));
  Json details = ByToJson(by);
  details["session_id"] = NameOf(session);
  details["unique_id"] = session;
  details["what"] = ForRecord(what);
  details["bytes"] = bytes;
  return Record("files.exported", details);
}

base::Status Chronicle::Does(const Deed& deed, const Principal& by, const Details& details) {
  SKERRY_RETURN_IF_ERROR(Afford(by, deed.weight));
  Json all = ByToJson(by);
  all["request_id"] = by.request;
  all["session_id"] = NameOrNull(deed.session);
  all["unique_id"] = TextOrNull(deed.session);
  for (const Detail& detail : details)
    all[detail.name] = std::visit([](const auto& value) { return Json(value); }, detail.value);
  const auto recorded = Record(deed.event, all);
  return deed.weight == Deed::Weight::kEnding ? base::Status{} : recorded;
}

void Chronicle::Failed(const Deed& deed, const Principal& by, int status) {
  Note("request.failed", {{"tenant", by.tenant},
                          {"request_id", by.request},
                          {"session_id", NameOrNull(deed.session)},
                          {"what", deed.event},
                          {"status", status}});
}

base::Status Chronicle::TokenMade(const core::TokenRecord& token, const Principal& by) {
  Json scopes = Json::array();
  for (const core::TokenScope scope : token.scopes) scopes.push_back(core::NameOf(scope));
  return Record("token.created", {{"token_id", token.id},
                                  {"name", base::ToValidUtf8(token.name)},
                                  {"tenant", token.tenant},
                                  {"scopes", std::move(scopes)},
                                  {"by", by.id},
                                  {"from", TextOrNull(by.from)}});
}

base::Status Chronicle::TokenRevoked(const std::string& id, const Principal& by) {
  Json details = ByToJson(by);
  details["token_id"] = base::ToValidUtf8(id);
  return Record("token.revoked", details);
}

void Chronicle::LoginsRefused(const watch::LoginReport& report) {
  Note("login.refused",
       {{"address", TextOrNull(report.address)}, {"times", report.times}, {"throttled", report.throttled}});
  Log(watch::LogLevel::kWarning, "requests without a proper token",
      {{"address", report.address.empty() ? "several" : report.address},
       {"times", std::to_string(report.times)},
       {"throttled", std::to_string(report.throttled)}});
}

void Chronicle::Alert(const std::string& session, const std::string& tenant, const std::string& execution,
                      const watch::AlertChange& change) {
  const std::string type = change.raised ? "alert.raised" : "alert.cleared";
  events_.Publish({type, tenant, session}, {{"execution_id", TextOrNull(execution)},
                                            {"kind", watch::NameOf(change.kind)},
                                            {"percent", change.percent},
                                            {"threshold", change.threshold}});
  if (!change.raised) return;
  metrics_
      .CounterOf("skerry_alerts_total", "Alerts that were raised.", {{"kind", std::string(watch::NameOf(change.kind))}})
      .Add();
  Log(watch::LogLevel::kWarning, "a sandbox uses much " + std::string(watch::NameOf(change.kind)),
      {{"session_id", session}, {"execution_id", execution}, {"percent", std::to_string(std::lround(change.percent))}});
}

}  // namespace skerry::engine
