// Tokens: issuing, listing and revoking them.
#include <algorithm>
#include <utility>

#include "engine/views/tokens_view.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::transport::v1 {
namespace {

Json TokenToJson(const core::TokenRecord& token) {
  Json scopes = Json::array();
  for (const core::TokenScope scope : token.scopes) scopes.push_back(core::NameOf(scope));
  const auto time = [](const std::optional<core::TimePoint>& at) {
    return at ? Json(json::Rfc3339(*at)) : Json(nullptr);
  };
  return {{"id", token.id},
          {"name", token.name},
          {"tenant", token.tenant},
          {"scopes", std::move(scopes)},
          {"limits",
           {{"requests_per_second", token.limits.requests_per_second},
            {"concurrent_runs", token.limits.concurrent_runs},
            {"sessions", token.limits.sessions}}},
          {"created_by", token.created_by},
          {"created_at", json::Rfc3339(token.created_at)},
          {"expires_at", time(token.expires_at)},
          {"revoked_at", time(token.revoked_at)}};
}

std::vector<core::TokenScope> ReadScopes(json::Fields& fields) {
  std::vector<core::TokenScope> scopes;
  for (const std::string& word : fields.Texts("scopes", 8, 32).value_or(std::vector<std::string>{"run"})) {
    const auto scope = core::ParseTokenScope(word);
    if (scope && std::ranges::find(scopes, *scope) != scopes.end()) fields.Fail("scopes", "holds one twice");
    if (scope) scopes.push_back(*scope);
    if (!scope) fields.Fail("scopes", "must be of read, run, approve, metrics and admin");
  }
  if (scopes.empty()) fields.Fail("scopes", "must not be empty");
  return scopes;
}

base::Result<http::Response> Create(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  engine::NewToken wanted{.name = fields.Text("name", 128).value_or("")};
  if (wanted.name.empty()) fields.Fail("name", "is missing");
  const auto tenant = fields.Text("tenant", 64);
  wanted.tenant = tenant.value_or("");
  if (tenant && !workspace::CheckSessionId(*tenant))
    fields.Fail("tenant", "has 1 to 64 letters, digits and ._- of ASCII");
  wanted.scopes = ReadScopes(fields);
  if (const auto ttl = fields.Number("ttl_seconds", 1, 315'360'000)) wanted.ttl = std::chrono::seconds(*ttl);
  if (const nlohmann::json* object = fields.Object("limits")) {
    json::Fields inner(*object, "limits.");
    wanted.limits.requests_per_second = inner.Number("requests_per_second", 0, 1'000'000).value_or(0);
    wanted.limits.concurrent_runs = inner.Number("concurrent_runs", 0, 100'000).value_or(0);
    wanted.limits.sessions = inner.Number("sessions", 0, 100'000).value_or(0);
    fields.Adopt(inner);
  }
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const engine::IssuedToken issued, AccessOf(api, request).tokens().Issue(std::move(wanted)));
  Json object = TokenToJson(issued.record);
  object["token"] = issued.secret;
  return JsonAnswer(201, object);
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  SKERRY_ASSIGN_OR_RETURN(auto tokens, AccessOf(api, request).tokens().List());
  std::ranges::sort(tokens, {}, &core::TokenRecord::id);
  Json items = Json::array();
  std::optional<std::string> next;
  for (const core::TokenRecord& token : tokens) {
    if (token.id <= page.cursor) continue;
    if (items.size() == page.limit) {
      next = items.back()["id"];
      break;
    }
    items.push_back(TokenToJson(token));
  }
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> Revoke(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_RETURN_IF_ERROR(AccessOf(api, request).tokens().Revoke(request.parameters.at("token")));
  return kit::NoContent();
}

}  // namespace

std::vector<http::Route> TokenRoutes(Api& api) {
  return {MakeRoute(api, "POST", "/tokens", engine::kToAdminister, Create, http::BodyRule::kSmall),
          MakeRoute(api, "GET", "/tokens", engine::kToAdminister, List),
          MakeRoute(api, "DELETE", "/tokens/{token}", engine::kToAdminister, Revoke)};
}

}  // namespace skerry::transport::v1
