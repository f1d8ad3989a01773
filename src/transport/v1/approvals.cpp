// Questions that wait for a person, and their answers.
#include <array>
#include <utility>
#include <variant>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "engine/views/approvals_view.hpp"
#include "json/history_json.hpp"
#include "json/risk_json.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/decision.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostListedCode = std::size_t{16}
                                        << 10U;  // for each item of a list; a single approval has all its code

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

// The tenant's name for a session.
Json NameOrNull(const std::string& session) {
  return TextOrNull(std::string(core::NameOfSession(session)));
}

Json WaitingToJson(const engine::WaitingApproval& approval) {
  Json conditions = Json::array();
  for (const auto& [name, value] : approval.conditions)
    conditions.push_back(Json::array({base::ToValidUtf8(name), base::ToValidUtf8(value)}));
  Json scopes = Json::array();
  for (const engine::ApprovalScope scope : approval.scopes) scopes.push_back(NameOf(scope));
  return {{"id", approval.id},
          {"state", "waiting"},
          {"session_id", NameOrNull(approval.session)},
          {"execution_id", approval.execution},
          {"digest", approval.digest},
          {"created_at", json::Rfc3339(approval.created)},
          {"expires_at", json::Rfc3339(approval.expires)},
          {"remaining_seconds", RemainingSeconds(approval.expires)},
          {"content_type", approval.content_type},
          {"code", base::ToValidUtf8(approval.code)},
          {"code_bytes", approval.code_bytes},
          {"risk", json::RiskToJson(approval.risk)},
          {"conditions", std::move(conditions)},
          {"scopes", std::move(scopes)}};
}

Json DecidedToJson(const core::ApprovalRecord& record) {
  return {{"id", record.id},
          {"state", record.decision},
          {"session_id", NameOrNull(record.session)},
          {"execution_id", record.execution},
          {"digest", record.digest},
          {"created_at", json::Rfc3339(record.asked_at)},
          {"decided_at", record.decided_at ? Json(json::Rfc3339(*record.decided_at)) : Json(nullptr)},
          {"decided_by", TextOrNull(record.decided_by)},
          {"decided_from", TextOrNull(record.decided_from)},
          {"scope", TextOrNull(record.scope)},
          {"reason", TextOrNull(record.reason)}};
}

// Waiting approvals come first, all of them, with the beginning of their code; only decided ones are paged.
base::Result<http::Response> List(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 3> kStates = {"waiting", "decided", "all"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"state", "session", "cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string state, WordOf(request, "state", kStates, "waiting"));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  const auto session = request.head.query.Find("session");
  const engine::Access access = AccessOf(api, request);
  Json items = Json::array();
  if (state != "decided" && page.cursor.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const auto waiting, access.approvals().Waiting(session, kMostListedCode));
    for (const engine::WaitingApproval& approval : waiting) items.push_back(WaitingToJson(approval));
  }
  if (state == "waiting") return JsonAnswer(200, Page(std::move(items), std::nullopt));
  SKERRY_ASSIGN_OR_RETURN(const auto records,
                          access.approvals().Past({.session = session, .before = page.cursor, .limit = page.limit}));
  for (const core::ApprovalRecord& record : records)
    if (!record.decision.empty()) items.push_back(DecidedToJson(record));
  const auto next = records.size() == page.limit ? std::optional(records.back().id) : std::nullopt;
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto found, AccessOf(api, request).approvals().Find(request.parameters.at("approval")));
  if (const auto* waiting = std::get_if<engine::WaitingApproval>(&found))
    return JsonAnswer(200, WaitingToJson(*waiting));
  return JsonAnswer(200, DecidedToJson(std::get<core::ApprovalRecord>(found)));
}

base::Result<http::Response> DecideOne(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  engine::ApprovalDecision decision = ReadDecision(fields);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  decision.approval = request.parameters.at("approval");
  if (const auto refusal = Decide(AccessOf(api, request), decision)) return ErrorAnswer(*refusal, request.id);
  return JsonAnswer(200, {{"decision", WordOf(decision.verdict)}});
}

}  // namespace

engine::ApprovalDecision ReadDecision(json::Fields& fields) {
  using Verdict = engine::ApprovalDecision::Verdict;
  constexpr std::array<std::string_view, 2> kDecisions = {"approve", "reject"};
  constexpr std::array<std::string_view, 3> kScopes = {"once", "session", "content"};
  const auto decision = fields.Word("decision", kDecisions);
  const auto digest = fields.Text("digest", 64);
  if (!decision || !digest) fields.Fail("decision", "and digest are needed");
  if (digest && (digest->size() != 64 || digest->find_first_not_of("0123456789abcdef") != std::string::npos))
    fields.Fail("digest", "has 64 hexadecimal digits");
  const auto scope = engine::ParseApprovalScope(fields.Word("scope", kScopes).value_or("once"));
  return {.approval = "",
          .digest = digest.value_or(""),
          .verdict = decision == "approve" ? Verdict::kApprove : Verdict::kReject,
          .scope = scope.value_or(engine::ApprovalScope::kOnce),
          .reason = fields.Text("reason", 1000).value_or("")};
}

// An approval that has expired, or whose run does not wait any more, is gone: another status than a refusal.
std::optional<http::Refusal> Decide(const engine::Access& access, const engine::ApprovalDecision& decision) {
  const auto decided = access.approvals().Decide(decision);
  if (decided) return std::nullopt;
  if (decided.error().code != base::Code::kRejected) return http::RefusalOf(decided.error());
  return http::Refusal{.status = 410, .code = "gone", .message = decided.error().message};
}

std::string_view WordOf(engine::ApprovalDecision::Verdict verdict) {
  return verdict == engine::ApprovalDecision::Verdict::kApprove ? "approve" : "reject";
}

std::vector<http::Route> ApprovalRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/approvals", engine::kToApprove, List),
          MakeRoute(api, "GET", "/approvals/{approval}", engine::kToApprove, Get),
          MakeRoute(api, "POST", "/approvals/{approval}", engine::kToApprove, DecideOne, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
