// Questions that wait for a person, and their answers.
#include <array>
#include <utility>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "json/history_json.hpp"
#include "json/risk_json.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/approver.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostListedCode = std::size_t{16} << 10U;  // for each of a list; one by its id has all

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

// Of a session, as its tenant calls it.
Json NameOrNull(const std::string& session) {
  return TextOrNull(std::string(core::NameOfSession(session)));
}

bool IsCalled(const std::string& session, const std::string& name) {
  return session == name || core::NameOfSession(session) == name;
}

// For how long it may be approved.
Json ScopesOf(const confirm::Question& question) {
  Json scopes = {"once"};
  if (question.once_only) return scopes;
  if (!question.session.empty()) scopes.push_back("session");
  if (!question.content.empty()) scopes.push_back("content");
  return scopes;
}

// Of the code as much as is wanted.
Json WaitingToJson(const confirm::Approval& approval, std::size_t most_code = SIZE_MAX) {
  const confirm::Question& question = approval.question;
  Json conditions = Json::array();
  for (const auto& [name, value] : question.conditions)
    conditions.push_back(Json::array({base::ToValidUtf8(name), base::ToValidUtf8(value)}));
  return {{"id", approval.id},
          {"state", "waiting"},
          {"session_id", NameOrNull(question.session)},
          {"execution_id", question.execution},
          {"digest", question.digest},
          {"created_at", json::Rfc3339(approval.created)},
          {"expires_at", json::Rfc3339(approval.expires)},
          {"remaining_seconds", RemainingSeconds(approval.expires)},
          {"content_type", question.content_type},
          {"code", base::ToValidUtf8(question.code.substr(0, most_code))},
          {"code_bytes", question.code.size()},
          {"risk", json::RiskToJson(question.risk)},
          {"conditions", std::move(conditions)},
          {"scopes", ScopesOf(question)}};
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

Json Waiting(Api& api, const http::Request& request, const std::optional<std::string>& session) {
  const Approver approver(api, request);
  Json items = Json::array();
  for (const auto& approval : api.host.approvals().List())
    if (approver.Sees(*approval) && (!session || IsCalled(approval->question.session, *session)))
      items.push_back(WaitingToJson(*approval, kMostListedCode));
  return items;
}

// Those that wait come first, all of them, with the beginning of what would run; pages are of those that are decided.
base::Result<http::Response> List(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 3> kStates = {"waiting", "decided", "all"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"state", "session", "cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string state, WordOf(request, "state", kStates, "waiting"));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  const auto session = request.head.query.Find("session");
  Json items = Json::array();
  if (state != "decided" && page.cursor.empty()) items = Waiting(api, request, session);
  if (state == "waiting") return JsonAnswer(200, Page(std::move(items), std::nullopt));
  SKERRY_ASSIGN_OR_RETURN(
      const auto records,
      api.host.PastApprovals(PrincipalOf(request), {.session = session, .before = page.cursor, .limit = page.limit}));
  for (const core::ApprovalRecord& record : records)
    if (!record.decision.empty()) items.push_back(DecidedToJson(record));
  const auto next = records.size() == page.limit ? std::optional(records.back().id) : std::nullopt;
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const std::string& id = request.parameters.at("approval");
  if (const auto approval = Approver(api, request).Find(id)) return JsonAnswer(200, WaitingToJson(**approval));
  SKERRY_ASSIGN_OR_RETURN(const core::ApprovalRecord record, api.host.FindApproval(PrincipalOf(request), id));
  if (record.decision.empty())
    return base::Err(base::Code::kUnavailable, "the approval is being decided just now; ask again");
  return JsonAnswer(200, DecidedToJson(record));
}

base::Result<http::Response> Decide(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  PersonsDecision decision = ReadDecision(fields);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  decision.approval = request.parameters.at("approval");
  if (const auto refusal = Approver(api, request).Decide(decision)) return ErrorAnswer(*refusal, request.id);
  return JsonAnswer(200, {{"decision", decision.verdict.approve ? "approve" : "reject"}});
}

}  // namespace

std::vector<http::Route> ApprovalRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/approvals", kApproveScope, kUnrecorded, List),
          MakeRoute(api, "GET", "/approvals/{approval}", kApproveScope, kUnrecorded, Get),
          MakeRoute(api, "POST", "/approvals/{approval}", kApproveScope,
                    {.how = Audited::How::kWithin, .event = "approval.decided"}, Decide, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
