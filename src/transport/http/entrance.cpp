#include "transport/http/entrance.hpp"

#include <limits>
#include <utility>

#include "base/ids.hpp"
#include "core/service_store.hpp"
#include "transport/http/answer_text.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr int kScopes = 4;
constexpr std::uint64_t kRateOfAnybody = 100;  // from one address

std::string NamesOf(std::uint32_t scopes) {
  std::string names;
  for (int scope = 0; scope < kScopes; ++scope) {
    if ((scopes >> static_cast<unsigned>(scope) & 1U) == 0) continue;
    names += names.empty() ? "" : " or ";
    names += core::NameOf(static_cast<core::TokenScope>(scope));
  }
  return names;
}

std::optional<Refusal> CheckScopes(const Exchange& exchange) {
  const std::uint32_t needed = exchange.route->scopes;
  if (needed == 0 || (needed & exchange.request.caller.scopes) != 0) return std::nullopt;
  return Refusal{
      .status = 403, .code = "permission_denied", .message = "this needs a token with the scope " + NamesOf(needed)};
}

Refusal TooOften(std::chrono::seconds wait) {
  return {.status = 429,
          .code = "rate_limited",
          .message = "too many requests; wait and try again",
          .headers = {{"Retry-After", std::to_string(wait.count())}}};
}

Refusal NotAllowed(const std::vector<std::string>& methods) {
  std::string allowed;
  for (const std::string& method : methods) allowed += (allowed.empty() ? "" : ", ") + method;
  return {.status = 405,
          .code = "method_not_allowed",
          .message = "this path has the methods " + allowed,
          .headers = {{"Allow", allowed}}};
}

// A request continues the trace that it comes with, or begins one.
void TakeTrace(const Headers& headers, Exchange& exchange) {
  Request& request = exchange.request;
  const auto parent = watch::ParseTraceparent(headers.Find("traceparent").value_or(""));
  request.trace = parent ? watch::ChildOf(*parent) : watch::NewTrace();
  exchange.traceparent = watch::FormatTraceparent(request.trace);
  if (!parent) return;
  request.trace_parent = parent->span_id;
  request.trace.state = watch::CleanTracestate(headers.Find("tracestate").value_or(""));
}

Refusal NoSuchPath() {
  return {.status = 404, .code = "not_found", .message = "there is no such path"};
}

// Says where the dialect expects a credential, to those who sent none.
Refusal Unauthenticated(const base::Error& error, const Dialect& dialect, bool sent) {
  Refusal refusal = RefusalOf(error);
  if (refusal.status != 401) return refusal;
  const auto& headers = dialect.credential_headers;
  const bool bearer = headers.empty() || headers.front() == "Authorization";
  if (bearer) refusal.headers.Add("WWW-Authenticate", "Bearer");
  if (!sent)
    refusal.message += "; send it as " + (bearer ? std::string("Authorization: Bearer …") : headers.front() + ": …");
  return refusal;
}

}  // namespace

Entrance::Entrance(const ServerOptions& options, MountTable mounts) : options_(options), mounts_(std::move(mounts)) {
  for (const std::string& host : options.hosts) rules_.hosts.push_back(Lower(host));
  for (const std::string& origin : options.origins) rules_.origins.push_back(Lower(origin));
  for (const Dialect& dialect : options.dialects) routers_.emplace_back(dialect.routes);
}

std::optional<Refusal> Entrance::FindDialect(Exchange& exchange) const {
  auto found = mounts_.Find(exchange.request.head, exchange.path);
  if (!found) return std::move(found).error();
  exchange.mount = std::move(*found);
  if (exchange.mount.dialect) exchange.dialect = &options_.dialects[*exchange.mount.dialect];
  return std::nullopt;
}

std::optional<Refusal> Entrance::Read(std::string_view text, Exchange& exchange) const {
  auto wire = ParseHead(text);
  if (!wire) return std::move(wire).error();
  Request& request = exchange.request;
  if (const auto id = wire->headers.Find("X-Request-Id"); id && IsRequestId(*id)) request.id = *id;
  TakeTrace(wire->headers, exchange);
  exchange.version = wire->version;
  auto framing = FramingOf(*wire);
  request.head.method = std::move(wire->method);
  request.head.target = std::move(wire->target);
  request.head.headers = std::move(wire->headers);
  auto target = ParseTarget(request.head.target);
  if (target) exchange.path = target->path;
  if (!framing) return std::move(framing).error();
  if (!target) return std::move(target).error();
  exchange.framing = *framing;
  request.head.upgrade = framing->upgrade;
  if (auto path = SplitPath(target->path)) request.head.path = std::move(*path);
  if (auto refusal = FindDialect(exchange)) return refusal;
  auto query = Query::Parse(target->query);
  if (!query) exchange.bad_query = RefusalOf(query.error());
  if (query) request.head.query = std::move(*query);
  return std::nullopt;
}

std::optional<Refusal> Entrance::Admit(Exchange& exchange, std::span<const std::string> local) {
  const MountRules mounted{.by_host = exchange.mount.by_host,
                           .origins = exchange.dialect == nullptr ? Origins::kListed : exchange.dialect->origins};
  if (auto refusal = CheckHead(exchange.request.head, exchange.version, rules_, local, mounted)) return refusal;
  if (exchange.dialect == nullptr) return NoSuchPath();
  Router::Match match = FindRoute(exchange);
  const bool for_a_program = match.route != nullptr && match.route->body == BodyRule::kTunnel;
  if (exchange.bad_query && !for_a_program) return exchange.bad_query;
  if (auto refusal = Authenticate(exchange, match.route)) return refusal;
  if (auto refusal = TakeRoute(exchange, std::move(match))) return refusal;
  if (auto refusal = CheckScopes(exchange)) return refusal;
  const Caller& caller = exchange.request.caller;
  if (const auto wait = limiter_.Take(caller.id, caller.requests_per_second, std::chrono::steady_clock::now()))
    return TooOften(*wait);
  if (auto refusal = CheckMedia(exchange)) return refusal;
  return CheckLength(exchange);
}

std::optional<Refusal> Entrance::Authenticate(Exchange& exchange, const Route* route) const {
  std::optional<std::string> credential;
  if (exchange.dialect->credential) {
    auto found = exchange.dialect->credential(exchange.request.head);
    if (!found) return Unauthenticated(found.error(), *exchange.dialect, true);
    credential = std::move(*found);
  }
  if (!credential && !exchange.request.head.peer.uid && route != nullptr && route->entry == Entry::kAnybody) {
    const std::string& address = exchange.request.head.peer.address;
    exchange.request.caller = {.id = "anybody at " + address.substr(0, address.rfind(':')),
                               .requests_per_second = kRateOfAnybody};
    return std::nullopt;
  }
  auto caller = AuthenticatorOf(options_, *exchange.dialect).Authenticate(exchange.request.head.peer, credential);
  if (!caller) return Unauthenticated(caller.error(), *exchange.dialect, credential.has_value());
  exchange.request.caller = std::move(*caller);
  return std::nullopt;
}

Router::Match Entrance::FindRoute(const Exchange& exchange) const {
  const RequestHead& head = exchange.request.head;
  const Router& router = routers_[static_cast<std::size_t>(exchange.dialect - options_.dialects.data())];
  // A path that could not be split has no segments, as "/" has, but is another path.
  if (!head.path.empty() || exchange.path == "/") return router.Find(head.method, head.path);
  return router.FindTunnel(head.method, SplitAnyPath(exchange.path));
}

std::optional<Refusal> Entrance::TakeRoute(Exchange& exchange, Router::Match match) {
  if (match.route == nullptr && !match.allowed.empty()) return NotAllowed(match.allowed);
  if (match.route == nullptr) return NoSuchPath();
  exchange.route = match.route;
  exchange.request.parameters = std::move(match.parameters);
  exchange.request.parameters.merge(exchange.mount.parts);
  return std::nullopt;
}

// A web page can send anything but JSON to any server without asking it first.
std::optional<Refusal> Entrance::CheckMedia(const Exchange& exchange) {
  const std::string& media = exchange.route->media;
  const bool has_body = exchange.framing.chunked || exchange.framing.content_length.value_or(0) > 0;
  if (media.empty() || !has_body) return std::nullopt;
  const auto type = exchange.request.head.headers.Find("Content-Type").value_or("");
  if (EqualsIgnoringCase(Trim(type.substr(0, type.find(';'))), media)) return std::nullopt;
  return Refusal{
      .status = 415, .code = "unsupported_media_type", .message = "the request needs Content-Type: " + media};
}

// A body that is passed on is not kept, and may have any size.
std::uint64_t Entrance::MostOf(BodyRule rule) const {
  if (rule == BodyRule::kTunnel) return std::numeric_limits<std::uint64_t>::max();
  return rule == BodyRule::kSmall ? options_.limits.small_body : options_.limits.large_body;
}

std::optional<Refusal> Entrance::CheckLength(Exchange& exchange) const {
  const Route& route = *exchange.route;
  if (route.body == BodyRule::kNone && exchange.framing.content_length.value_or(0) > 0)
    return Refusal{.status = 400, .code = "invalid_argument", .message = "this request has no body"};
  if (route.body != BodyRule::kNone) exchange.max_body = route.max_body != 0 ? route.max_body : MostOf(route.body);
  if (exchange.framing.content_length.value_or(0) > exchange.max_body)
    return Refusal{.status = 413, .code = "too_large", .message = "the body is too large"};
  return std::nullopt;
}

}  // namespace skerry::transport::http
