#include "transport/v1/api.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "engine/views/sessions_view.hpp"

namespace skerry::transport::v1 {

http::Route MakeRoute(Api& api, std::string method, const std::string& pattern, engine::Need need, ApiHandler handler,
                      http::BodyRule body) {
  const auto of_request = [&api, handler = std::move(handler)](const http::Request& request) {
    return handler(api, request);
  };
  return {.method = std::move(method),
          .pattern = "/v1" + pattern,
          .scopes = need.any_of,
          .handler = kit::Answering(of_request, ErrorAnswer),
          .body = body,
          .media = body == http::BodyRule::kSmall ? "application/json" : "",
          .watch = http::Watch::kDisconnect};
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the route owns its handler
}

http::Response ErrorAnswer(const http::Refusal& refusal, const std::string& request_id) {
  http::Response response =
      JsonAnswer(refusal.status, {{"code", refusal.code},
                                  {"message", base::ToValidUtf8(refusal.message)},
                                  {"detail", refusal.detail.empty() ? Json(nullptr) : Json(refusal.detail)},
                                  {"request_id", request_id}});
  for (const auto& [name, value] : refusal.headers.fields()) response.headers.Add(name, value);
  return response;
}

engine::Access AccessOf(const Api& api, const http::Request& request) {
  return {api.host, PrincipalOf(request)};
}

base::Result<engine::SessionHandle> SessionOf(const engine::Access& access, const http::Request& request) {
  return access.sessions().Find(request.parameters.at("session"));
}

base::Result<PageOptions> PageOf(const http::Request& request) {
  constexpr std::uint64_t kMost = 1000;
  PageOptions page{.cursor = request.head.query.Find("cursor").value_or("")};
  SKERRY_ASSIGN_OR_RETURN(page.limit, NumberOf(request, "limit", 1, kMost, page.limit));
  return page;
}

Json Page(Json items, const std::optional<std::string>& next_cursor) {
  return {{"items", std::move(items)}, {"next_cursor", next_cursor ? Json(*next_cursor) : Json(nullptr)}};
}

base::Result<std::optional<core::IdempotencyClaim>> ClaimOf(const http::Request& request) {
  constexpr std::size_t kLongest = 255;
  const auto key = request.head.headers.Find("Idempotency-Key");
  if (!key) return std::optional<core::IdempotencyClaim>();
  const bool plain =
      !key->empty() && key->size() <= kLongest && std::ranges::all_of(*key, [](char c) { return c >= ' ' && c < 127; });
  if (!plain || request.head.headers.Count("Idempotency-Key") != 1)
    return base::Err(base::Code::kInvalidArgument, "an Idempotency-Key has 1 to 255 printable characters of ASCII");
  base::Sha256 hash;
  hash.Update(request.head.method + " " + request.head.target + "\n");
  hash.Update(request.body.bytes);
  return std::optional(core::IdempotencyClaim{request.caller.tenant, std::string(*key), hash.FinishHex()});
}

http::Dialect MakeDialect(Api& api) {
  http::Dialect dialect{.name = "v1",
                        // The second is where Prometheus looks.
                        .mounts = {{.prefix = "/v1"}, {.prefix = "/metrics"}},
                        .credential = http::BearerCredential,
                        .refuse = ErrorAnswer};
  for (auto make : {SystemRoutes, SessionRoutes, ExecuteRoutes, ExecutionRoutes, CommandRoutes, ContextRoutes,
                    FileRoutes, ArchiveRoutes, HistoryRoutes, ApprovalRoutes, TokenRoutes, EventRoutes, MonitorRoutes})
    std::ranges::move(make(api), std::back_inserter(dialect.routes));
  return dialect;
}

}  // namespace skerry::transport::v1
