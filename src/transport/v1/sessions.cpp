// Sessions: making, finding, ending them.
#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/variables.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::transport::v1 {
namespace {

using engine::HostedSession;

constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostDomains = 1024;
constexpr std::uint64_t kLongestLife = 31'536'000;  // a year

void ReadLimits(json::Fields& fields, engine::SessionSettings& settings) {
  const nlohmann::json* object = fields.Object("limits");
  if (object == nullptr) return;
  json::Fields inner(*object, "limits.");
  core::SandboxLimits& limits = settings.limits;
  limits.memory_mb = inner.Number("memory_mb", 16, 1U << 20U).value_or(limits.memory_mb);
  limits.pids = inner.Number("pids", 1, 32'768).value_or(limits.pids);
  limits.cpu_percent = inner.Number("cpu_percent", 0, 10'000).value_or(limits.cpu_percent);
  limits.disk_mb = inner.Number("disk_mb", 1, 1U << 20U).value_or(limits.disk_mb);
  if (const auto seconds = inner.Number("timeout_seconds", 1, 300)) settings.timeout = std::chrono::seconds(*seconds);
  fields.Adopt(inner);
}

void ReadNetwork(json::Fields& fields) {
  const nlohmann::json* object = fields.Object("network");
  if (object == nullptr) return;
  json::Fields inner(*object, "network.");
  const auto allowed = inner.Texts("allowed_domains", kMostDomains, 253);
  (void)inner.Texts("denied_domains", kMostDomains, 253);
  if (allowed && !allowed->empty())
    inner.Fail("allowed_domains", "must be empty: this version has no egress proxy, a sandbox has no network at all");
  fields.Adopt(inner);
}

base::Status ReadMode(const Api& api, json::Fields& fields, engine::SessionSettings& settings) {
  constexpr std::array<std::string_view, 3> kModes = {"per-session", "shared", "disabled"};
  const auto word = fields.Word("mode", kModes);
  if (!word) return {};
  const auto mode = engine::ParseLifeMode(*word);
  if (mode == engine::LifeMode::kDisabled && api.host.options().defaults.mode != engine::LifeMode::kDisabled)
    return base::Err(base::Code::kRejected, "sessions without a sandbox are not allowed by the configuration");
  settings.mode = *mode;
  return {};
}

// What the configuration gives is the most that a token may ask for; who may do everything may ask for more.
base::Status CheckLimits(const Api& api, const http::Request& request, const core::SandboxLimits& wanted) {
  if (HasScope(request, core::TokenScope::kAdmin)) return {};
  const core::SandboxLimits& most = api.host.options().defaults.limits;
  const auto check = [](const char* name, std::uint64_t value, std::uint64_t high) -> base::Status {
    if (value <= high) return {};
    return base::Err(base::Code::kInvalidArgument,
                     std::string("limits.") + name + " is at most " + std::to_string(high) + " for this token");
  };
  SKERRY_RETURN_IF_ERROR(check("memory_mb", wanted.memory_mb, most.memory_mb));
  SKERRY_RETURN_IF_ERROR(check("pids", wanted.pids, most.pids));
  SKERRY_RETURN_IF_ERROR(check("disk_mb", wanted.disk_mb, most.disk_mb));
  const bool unlimited = most.cpu_percent == 0;
  if (!unlimited && wanted.cpu_percent == 0)
    return base::Err(base::Code::kInvalidArgument, "limits.cpu_percent must not be 0 for this token");
  return unlimited ? base::Status{} : check("cpu_percent", wanted.cpu_percent, most.cpu_percent);
}

base::Result<engine::NewSession> ReadSession(const Api& api, const http::Request& request, const nlohmann::json& body) {
  json::Fields fields(body);
  engine::NewSession wanted{.settings = api.host.options().defaults, .ttl = api.host.options().ttl};
  engine::SessionSettings& settings = wanted.settings;
  wanted.id = fields.Text("id", kLongestName);
  SKERRY_RETURN_IF_ERROR(ReadMode(api, fields, settings));
  if (auto backend = fields.Text("backend", kLongestName)) settings.backend = *std::move(backend);
  if (auto image = fields.Text("image", kLongestName)) settings.image = *std::move(image);
  ReadLimits(fields, settings);
  ReadNetwork(fields);
  if (const auto ttl = fields.Number("ttl_seconds", 1, kLongestLife)) wanted.ttl = std::chrono::seconds(*ttl);
  if (const auto idle = fields.Number("idle_seconds", 1, 86'400)) settings.idle = std::chrono::seconds(*idle);
  if (auto variables = ReadVariables(fields)) settings.environment = *std::move(variables);
  if (auto metadata = ReadMetadata(fields)) settings.metadata = *std::move(metadata);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(CheckLimits(api, request, settings.limits));
  // The same rules as for a run.
  SKERRY_RETURN_IF_ERROR(core::Validate({.code = "-", .environment = settings.environment}));
  SKERRY_RETURN_IF_ERROR(api.host.manager().Choose(settings.backend));
  if (settings.image) {
    const auto& acquire = api.host.manager().options().acquire_root;
    if (!acquire) return base::Err(base::Code::kUnavailable, "this daemon has no images");
    SKERRY_RETURN_IF_ERROR(acquire(*settings.image));
  }
  return wanted;
}

base::Result<http::Response> Create(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  SKERRY_ASSIGN_OR_RETURN(engine::NewSession wanted, ReadSession(api, request, body));
  SKERRY_ASSIGN_OR_RETURN(wanted.claim, ClaimOf(request));
  SKERRY_ASSIGN_OR_RETURN(const engine::Host::Made made, api.host.Create(PrincipalOf(request), std::move(wanted)));
  http::Response response = JsonAnswer(made.replayed ? 200 : 201, SessionToJson(api, request, *made.session));
  response.headers.Add("Location", "/v1/sessions/" + made.session->name());
  if (made.replayed) response.headers.Add("Idempotent-Replayed", "true");
  return response;
}

// In the order of the list. A name has no space, which is before everything that a name has.
std::string PlaceOf(const HostedSession& session) {
  return session.name() + " " + session.id();
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 8> kStates = {"active", "idle",     "creating", "pausing",
                                                       "paused", "stopping", "failed",   "crashed"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit", "state"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string state, WordOf(request, "state", kStates, ""));
  Json items = Json::array();
  std::optional<std::string> next;
  std::string last;
  for (const auto& session : api.host.List(PrincipalOf(request))) {
    const std::string place = PlaceOf(*session);
    if (place <= page.cursor && !page.cursor.empty()) continue;
    if (!state.empty() && engine::NameOf(session->condition()) != state) continue;
    if (items.size() == page.limit) {
      next = last;
      break;
    }
    items.push_back(SessionToJson(api, request, *session));
    last = place;
  }
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  Json object = SessionToJson(api, request, *session);
  SKERRY_RETURN_IF_ERROR(session->life().Look([&](const workspace::AgentWorkspace& files) -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, workspace::CountUsage(files.root()));
    object["usage"] = {{"bytes", usage.bytes}, {"entries", usage.entries}, {"max_bytes", files.options().max_bytes}};
    return {};
  }));
  return JsonAnswer(200, object);
}

base::Result<http::Response> Delete(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_RETURN_IF_ERROR(api.host.Delete(PrincipalOf(request), request.parameters.at("session")));
  return kit::NoContent();
}

base::Result<http::Response> Extend(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto ttl = fields.Number("ttl_seconds", 1, kLongestLife);
  if (!ttl) fields.Fail("ttl_seconds", "is missing");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(api.host.Extend(*session, std::chrono::seconds(*ttl)));
  return JsonAnswer(200, SessionToJson(api, request, *session));
}

// Does it to the session's life, tells of it, and shows the session.
auto Doing(base::Status (engine::SessionLife::*act)()) {
  return [act](Api& api, const http::Request& request) -> base::Result<http::Response> {
    SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
    SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
    SKERRY_RETURN_IF_ERROR((session->life().*act)());
    api.host.chronicle().SessionState(session->name(), session->tenant(), engine::NameOf(session->condition()));
    return JsonAnswer(200, SessionToJson(api, request, *session));
  };
}

base::Result<http::Response> Stop(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_RETURN_IF_ERROR(api.host.Stop(*session));
  return JsonAnswer(200, SessionToJson(api, request, *session));
}

base::Result<http::Response> Diff(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  std::string diff;
  SKERRY_RETURN_IF_ERROR(session->life().Change([&](engine::Session& open) -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(diff, open.Diff());
    return {};
  }));
  SKERRY_RETURN_IF_ERROR(api.host.NoteExport(PrincipalOf(request), *session, "diff of the last run", diff.size()));
  return TextAnswer(200, std::move(diff), "text/plain; charset=utf-8");
}

base::Result<http::Response> Check(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  engine::Session::Changes different;
  std::uint64_t left_out = 0;
  SKERRY_RETURN_IF_ERROR(session->life().Change([&](engine::Session& open) -> base::Status {
    // Every file of the session is in memory meanwhile.
    SKERRY_ASSIGN_OR_RETURN(const auto turn, api.comparing.Take(request.caller.tenant, request.gone));
    SKERRY_ASSIGN_OR_RETURN(different, open.Unrecorded());
    SKERRY_ASSIGN_OR_RETURN(left_out, api.host.record()->LeftOut(open.id()));
    return {};
  }));
  const std::size_t total = different.size();
  different.resize(std::min(total, kMostNamed));
  return JsonAnswer(
      200, {{"matches", total == 0}, {"files", ChangesToJson(different)}, {"total", total}, {"left_out", left_out}});
}

base::Result<http::Response> Undo(Api& api, const http::Request& request) {
  using workspace::LaterWork;
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto later = fields.Flag("force").value_or(false) ? LaterWork::kGoes : LaterWork::kStays;
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  engine::Session::Changes changes;
  SKERRY_RETURN_IF_ERROR(session->life().ChangeAtRest([&](engine::Session& open) -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(changes, open.Undo(later));
    return {};
  }));
  Json answer;
  AddFirstChanges(answer, "files", changes);
  return JsonAnswer(200, answer);
}

}  // namespace

std::vector<http::Route> SessionRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, std::uint32_t scopes,
                            const Audited& audited, ApiHandler handler, http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions" + pattern, scopes, audited, std::move(handler), body);
  };
  using engine::SessionLife;
  using enum Audited::How;
  return {
      route("POST", "", kRunScope, {.how = kWithin, .event = "session.created"}, Create, http::BodyRule::kSmall),
      route("GET", "", kReadScope, kUnrecorded, List),
      route("GET", "/{session}", kReadScope, kUnrecorded, Get),
      route("DELETE", "/{session}", kRunScope, {.how = kWithin, .event = "session.deleted"}, Delete),
      route("POST", "/{session}/extend", kRunScope,
            {.how = kFirst, .event = "session.extended", .fields = {"ttl_seconds"}}, Extend, http::BodyRule::kSmall),
      route("POST", "/{session}/pause", kRunScope, {.how = kFirst, .event = "session.paused"},
            Doing(&SessionLife::Pause)),
      route("POST", "/{session}/resume", kRunScope, {.how = kFirst, .event = "session.resumed"},
            Doing(&SessionLife::Resume)),
      route("POST", "/{session}/stop", kRunScope, {.how = kAnyway, .event = "session.stopped"}, Stop),
      route("GET", "/{session}/diff", kReadScope, kExport, Diff),
      route("GET", "/{session}/check", kReadScope, kUnrecorded, Check),
      route("POST", "/{session}/undo", kRunScope, {.how = kFirst, .event = "files.undone", .fields = {"force"}}, Undo,
            http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
