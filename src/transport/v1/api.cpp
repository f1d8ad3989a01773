#include "transport/v1/api.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "json/text.hpp"
#include "transport/v1/recorded.hpp"

namespace skerry::transport::v1 {

http::Handler Answering(Api& api, ApiHandler handler) {
  return [&api, handler = std::move(handler)](const http::Request& request) {
    auto response = handler(api, request);
    if (response) return std::move(*response);
    const base::Error error = api.host.Told(PrincipalOf(request), std::move(response).error());
    http::Refusal refusal = http::RefusalOf(error);
    if (error.code == base::Code::kRateLimited) refusal.headers.Add("Retry-After", "1");
    constexpr int kInsufficientStorage = 507;
    if (engine::IsNoRoom(error)) refusal.status = kInsufficientStorage;
    return ErrorAnswer(refusal, request.id);
  };
}

http::Route MakeRoute(Api& api, std::string method, const std::string& pattern, std::uint32_t scopes,
                      const Audited& audited, ApiHandler handler, http::BodyRule body) {
  http::Handler whole = Answering(api, std::move(handler));
  if (audited.how == Audited::How::kFirst || audited.how == Audited::How::kAnyway)
    whole = Answering(api, Recorded(audited, std::move(whole)));
  return {.method = std::move(method),
          .pattern = "/v1" + pattern,
          .scopes = scopes,
          .handler = std::move(whole),
          .body = body,
          .media = body == http::BodyRule::kSmall ? "application/json" : "",
          .watch = http::Watch::kDisconnect};
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the route owns its handler
}

http::Response JsonAnswer(int status, const Json& body) {
  return TextAnswer(status, json::Text(body) + "\n", "application/json");
}

http::Response TextAnswer(int status, std::string text, const std::string& type) {
  http::Response response{.status = status, .headers = {{"Content-Type", type}}};
  response.body = std::move(text);
  return response;
}

http::Response Empty() {
  return {.status = 204};
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

bool HasScope(const http::Request& request, core::TokenScope scope) {
  const std::uint32_t bits = (1U << static_cast<unsigned>(scope)) | kAdminScope;
  return (request.caller.scopes & bits) != 0;
}

engine::Principal PrincipalOf(const http::Request& request) {
  return {.id = request.caller.id,
          .tenant = request.caller.tenant,
          .everybody = (request.caller.scopes & kAdminScope) != 0,
          .owner = request.caller.owner,
          .most_runs = request.caller.concurrent_runs,
          .most_sessions = request.caller.sessions,
          .from = request.head.peer.address,
          .trace = request.trace};
}

base::BudgetShare ShareOf(const Api& api, const http::Request& request) {
  return {api.host.spool(), request.caller.tenant, request.caller.owner ? base::Reach::kReserve : base::Reach::kTenant};
}

base::Result<std::shared_ptr<engine::HostedSession>> SessionOf(const Api& api, const http::Request& request) {
  return api.host.Find(PrincipalOf(request), request.parameters.at("session"));
}

base::Result<nlohmann::json> BodyOf(const http::Request& request) {
  if (request.body.size == 0) return nlohmann::json::object();
  return json::ParseStrict(request.body.bytes);
}

base::Status OnlyQuery(const http::Request& request, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : request.head.query.fields())
    if (std::ranges::find(names, name) == names.end())
      return base::Err(base::Code::kInvalidArgument,
                       "there is no query parameter " + base::Printable(base::Excerpt(name)) + " here");
  return {};
}

base::Result<std::uint64_t> NumberOf(const http::Request& request, std::string_view name, std::uint64_t low,
                                     std::uint64_t high, std::uint64_t otherwise) {
  const auto text = request.head.query.Find(name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= low && value <= high) return value;
  return base::Err(base::Code::kInvalidArgument, std::string(name) + " must be a whole number from " +
                                                     std::to_string(low) + " to " + std::to_string(high));
}

base::Result<std::string> WordOf(const http::Request& request, std::string_view name,
                                 std::span<const std::string_view> words, std::string_view otherwise) {
  const auto text = request.head.query.Find(name);
  if (!text) return std::string(otherwise);
  if (std::ranges::find(words, *text) != words.end()) return *text;
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return base::Err(base::Code::kInvalidArgument, std::string(name) + " must be one of " + all);
}

base::Result<std::string> TextOf(const http::Request& request, std::string_view name) {
  auto text = request.head.query.Find(name);
  if (text) return *std::move(text);
  return base::Err(base::Code::kInvalidArgument, "the query parameter " + std::string(name) + " is missing");
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
  http::Dialect dialect{
      .name = "v1",
      .accepts = [](const http::RequestHead& head) { return !head.path.empty() && head.path.front() == "v1"; },
      .credential = http::BearerCredential,
      .refuse = ErrorAnswer};
  for (auto make : {SystemRoutes, SessionRoutes, ExecuteRoutes, ExecutionRoutes, CommandRoutes, ContextRoutes,
                    FileRoutes, ArchiveRoutes, HistoryRoutes, ApprovalRoutes, TokenRoutes, EventRoutes, MonitorRoutes})
    std::ranges::move(make(api), std::back_inserter(dialect.routes));
  return dialect;
}

}  // namespace skerry::transport::v1
