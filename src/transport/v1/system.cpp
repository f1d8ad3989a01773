// The daemon itself: health, its contract, its pool; and the risk of code.
#include <utility>

#include "base/sha256.hpp"
#include "engine/views/system_view.hpp"
#include "json/risk_json.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {
namespace {

base::Result<http::Response> Health(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  // A probe without a token learns no more than that somebody is there.
  if (request.caller.scopes == 0) return JsonAnswer(200, {{"status", "ok"}});
  const auto up = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - api.started);
  return JsonAnswer(200, {{"status", "ok"}, {"version", api.version}, {"uptime_seconds", up.count()}});
}

base::Result<http::Response> Ready(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const bool draining = api.draining();
  return JsonAnswer(draining ? 503 : 200, {{"status", draining ? "draining" : "ready"}});
}

base::Result<http::Response> Contract(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  return TextAnswer(200, api.contract, "application/yaml");
}

base::Result<http::Response> Pool(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto statistics, AccessOf(api, request).system().Pool());
  Json kinds = Json::array();
  for (const auto& [kind, pool] : statistics)
    kinds.push_back({{"kind", core::NameOf(kind)},
                     {"total", pool.total},
                     {"busy", pool.busy},
                     {"idle", pool.idle},
                     {"max", pool.max},
                     {"acquiring", pool.acquiring},
                     {"ending", pool.ending},
                     {"warm", pool.warm},
                     {"created", pool.created},
                     {"destroyed", pool.destroyed},
                     {"warm_hits", pool.warm_hits},
                     {"misses", pool.misses},
                     {"failures", pool.failures}});
  return JsonAnswer(200, {{"kinds", std::move(kinds)}});
}

base::Result<http::Response> RefuseToAssess(const engine::Access& access, const http::Request& request,
                                            const base::Error& error) {
  http::Refusal refusal = http::RefusalOf(error);
  if (error.code == base::Code::kRateLimited) {
    SKERRY_ASSIGN_OR_RETURN(const std::chrono::seconds wait, access.system().AssessAgainIn());
    refusal.headers.Add("Retry-After", std::to_string(wait.count()));
  }
  return ErrorAnswer(refusal, request.id);
}

base::Result<http::Response> Risk(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto code = fields.Text("code", std::size_t{4} << 20U);
  if (!code) fields.Fail("code", "is missing");
  const auto language = core::ParseLanguage(fields.Text("language", 64).value_or("python"));
  if (!language) fields.Fail("language", "is not known; use python, javascript or shell");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  const engine::Access access = AccessOf(api, request);
  const auto risk = access.system().Assess(*language, *code, request.gone);
  if (!risk) return RefuseToAssess(access, request, risk.error());
  Json object = json::RiskToJson(*risk);
  object["language"] = core::NameOf(*language);
  object["sha256"] = base::Sha256Hex(*code);
  return JsonAnswer(200, object);
}

}  // namespace

std::vector<http::Route> SystemRoutes(Api& api) {
  const auto route = [&api](const char* method, const char* pattern, ApiHandler handler, http::BodyRule body,
                            http::Where where, http::Watch watch = http::Watch::kNo) {
    http::Route made = MakeRoute(api, method, pattern, engine::kToRead, std::move(handler), body);
    made.where = where;
    made.watch = watch;
    return made;
  };
  using http::BodyRule;
  using http::Where;
  http::Route health = route("GET", "/health", Health, BodyRule::kNone, Where::kSocketThread);
  health.scopes = 0;
  health.entry = http::Entry::kAnybody;
  return {std::move(health), route("GET", "/ready", Ready, BodyRule::kNone, Where::kSocketThread),
          route("GET", "/openapi.yaml", Contract, BodyRule::kNone, Where::kSocketThread),
          route("GET", "/pool", Pool, BodyRule::kNone, Where::kWorker),
          route("POST", "/risk", Risk, BodyRule::kSmall, Where::kWorker, http::Watch::kDisconnect)};
}

}  // namespace skerry::transport::v1
