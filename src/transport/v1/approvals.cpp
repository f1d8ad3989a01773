// Questions that wait for a person, and their answers.
#include <array>
#include <utility>

#include "base/utf8.hpp"
#include "json/history_json.hpp"
#include "json/risk_json.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {
namespace {

Json ApprovalToJson(const confirm::Approval& approval) {
  const confirm::Question& question = approval.question;
  Json conditions = Json::array();
  for (const auto& [name, value] : question.conditions)
    conditions.push_back(Json::array({base::ToValidUtf8(name), base::ToValidUtf8(value)}));
  return {{"id", approval.id},
          {"session_id", question.session.empty() ? Json(nullptr) : Json(question.session)},
          {"execution_id", question.execution},
          {"content_type", question.content_type},
          {"code", base::ToValidUtf8(question.code)},
          {"digest", question.digest},
          {"risk", json::RiskToJson(question.risk)},
          {"conditions", std::move(conditions)},
          {"created_at", json::Rfc3339(approval.created)},
          {"expires_at", json::Rfc3339(approval.expires)}};
}

// Whether it belongs to somebody whose things the caller may touch.
bool IsTheirs(const Api& api, const http::Request& request, const confirm::Approval& approval) {
  return api.host.FindRun(PrincipalOf(request), approval.question.execution).has_value();
}

base::Result<std::shared_ptr<const confirm::Approval>> ApprovalOf(const Api& api, const http::Request& request) {
  const std::string& id = request.parameters.at("approval");
  SKERRY_ASSIGN_OR_RETURN(auto approval, api.host.approvals().Find(id));
  if (IsTheirs(api, request, *approval)) return approval;
  return api.host.approvals().Find("");  // in the same words as for one that never was
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  Json items = Json::array();
  for (const auto& approval : api.host.approvals().List())
    if (IsTheirs(api, request, *approval)) items.push_back(ApprovalToJson(*approval));
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto approval, ApprovalOf(api, request));
  return JsonAnswer(200, ApprovalToJson(*approval));
}

// What has expired, or whose asker went away, is gone: another status than a no.
http::Response Gone(const base::Error& error, const http::Request& request) {
  http::Refusal refusal = http::RefusalOf(error);
  if (error.code == base::Code::kRejected) refusal = {.status = 410, .code = "gone", .message = error.message};
  return ErrorAnswer(refusal, request.id);
}

base::Result<http::Response> Decide(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 2> kDecisions = {"approve", "reject"};
  constexpr std::array<std::string_view, 2> kScopes = {"once", "session"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, BodyOf(request));
  json::Fields fields(body);
  const auto decision = fields.Word("decision", kDecisions);
  const auto digest = fields.Text("digest", 64);
  if (!decision || !digest) fields.Fail("decision", "and digest are needed");
  if (digest && (digest->size() != 64 || digest->find_first_not_of("0123456789abcdef") != std::string::npos))
    fields.Fail("digest", "has 64 hexadecimal digits");
  const auto scope = fields.Word("scope", kScopes).value_or("once");
  const auto reason = fields.Text("reason", 1000).value_or("");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  if (const auto approval = ApprovalOf(api, request); !approval) return Gone(approval.error(), request);
  const auto decided =
      api.host.approvals().Decide(request.parameters.at("approval"), *digest,
                                  {.approve = *decision == "approve",
                                   .scope = scope == "session" ? confirm::Scope::kSession : confirm::Scope::kOnce,
                                   .by = request.caller.id,
                                   .reason = reason});
  if (!decided) return Gone(decided.error(), request);
  return JsonAnswer(200, {{"decision", *decision}});
}

}  // namespace

std::vector<http::Route> ApprovalRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/approvals", kApproveScope, List),
          MakeRoute(api, "GET", "/approvals/{approval}", kApproveScope, Get),
          MakeRoute(api, "POST", "/approvals/{approval}", kApproveScope, Decide, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
