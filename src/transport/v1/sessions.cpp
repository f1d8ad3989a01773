// Sessions: making, finding, ending them.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/views/sessions_view.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/session_json.hpp"
#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

using engine::SessionHandle;
using engine::SessionsView;

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

void ReadMode(json::Fields& fields, engine::SessionSettings& settings) {
  constexpr std::array<std::string_view, 3> kModes = {"per-session", "shared", "disabled"};
  if (const auto word = fields.Word("mode", kModes)) settings.mode = *engine::ParseLifeMode(*word);
}

base::Status ReadSession(const http::Request& request, engine::NewSession& wanted) {
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  engine::SessionSettings& settings = wanted.settings;
  wanted.name = fields.Text("id", kLongestName);
  ReadMode(fields, settings);
  if (auto backend = fields.Text("backend", kLongestName)) settings.backend = *std::move(backend);
  if (auto image = fields.Text("image", kLongestName)) settings.image = *std::move(image);
  ReadLimits(fields, settings);
  ReadNetwork(fields);
  if (const auto ttl = fields.Number("ttl_seconds", 1, kLongestLife)) wanted.ttl = std::chrono::seconds(*ttl);
  if (const auto idle = fields.Number("idle_seconds", 1, 86'400)) settings.idle = std::chrono::seconds(*idle);
  ReadEnvironment(fields, settings.environment, settings.secrets);
  if (auto metadata = ReadMetadata(fields)) settings.metadata = *std::move(metadata);
  return fields.Finish();
}

base::Result<http::Response> Create(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(engine::NewSession wanted, access.sessions().Draft());
  SKERRY_RETURN_IF_ERROR(ReadSession(request, wanted));
  SKERRY_ASSIGN_OR_RETURN(wanted.claim, ClaimOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto made, access.sessions().Create(std::move(wanted)));
  SKERRY_ASSIGN_OR_RETURN(const engine::ShownSession shown, access.sessions().Show(made.session));
  http::Response response = JsonAnswer(made.replayed ? 200 : 201, SessionToJson(shown));
  response.headers.Add("Location", "/v1/sessions/" + shown.name);
  if (made.replayed) response.headers.Add("Idempotent-Replayed", "true");
  return response;
}

// Sorts as the list does: names have no space, which sorts before all their characters.
std::string PlaceOf(const SessionHandle& session) {
  return session.name() + " " + session.id();
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 8> kStates = {"active", "idle",     "creating", "pausing",
                                                       "paused", "stopping", "failed",   "crashed"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit", "state"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string state, WordOf(request, "state", kStates, ""));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto sessions, access.sessions().List());
  Json items = Json::array();
  std::optional<std::string> next;
  std::string last;
  for (const SessionHandle& session : sessions) {
    const std::string place = PlaceOf(session);
    if (place <= page.cursor && !page.cursor.empty()) continue;
    if (!state.empty() && engine::NameOf(session.condition()) != state) continue;
    if (items.size() == page.limit) {
      next = last;
      break;
    }
    SKERRY_ASSIGN_OR_RETURN(const engine::ShownSession shown, access.sessions().Show(session));
    items.push_back(SessionToJson(shown));
    last = place;
  }
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> Show(const engine::Access& access, const SessionHandle& session) {
  SKERRY_ASSIGN_OR_RETURN(const engine::ShownSession shown, access.sessions().Show(session));
  return JsonAnswer(200, SessionToJson(shown));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const engine::ShownSession shown, access.sessions().Show(session));
  SKERRY_ASSIGN_OR_RETURN(const engine::WorkspaceUsage usage, access.sessions().Usage(session));
  Json object = SessionToJson(shown);
  object["usage"] = UsageToJson(usage);
  return JsonAnswer(200, object);
}

base::Result<http::Response> Delete(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_RETURN_IF_ERROR(access.sessions().Delete(session));
  return kit::NoContent();
}

base::Result<http::Response> Extend(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto ttl = fields.Number("ttl_seconds", 1, kLongestLife);
  if (!ttl) fields.Fail("ttl_seconds", "is missing");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(access.sessions().Extend(session, std::chrono::seconds(*ttl)));
  return Show(access, session);
}

// Calls a method of the view and answers with the session.
auto Doing(base::Status (SessionsView::*act)(const SessionHandle&) const) {
  return [act](Api& api, const http::Request& request) -> base::Result<http::Response> {
    SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
    const engine::Access access = AccessOf(api, request);
    SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
    SKERRY_RETURN_IF_ERROR((access.sessions().*act)(session));
    return Show(access, session);
  };
}

base::Result<http::Response> Diff(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(std::string diff, access.sessions().Diff(session));
  return TextAnswer(200, std::move(diff), "text/plain; charset=utf-8");
}

base::Result<http::Response> Check(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(engine::SessionDifferences found, access.sessions().Check(session, request.gone));
  const std::size_t total = found.files.size();
  found.files.resize(std::min(total, kMostNamed));
  return JsonAnswer(
      200,
      {{"matches", total == 0}, {"files", ChangesToJson(found.files)}, {"total", total}, {"left_out", found.left_out}});
}

base::Result<http::Response> Undo(Api& api, const http::Request& request) {
  using workspace::LaterWork;
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const SessionHandle session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  std::optional<LaterWork> later;
  if (const auto force = fields.Flag("force")) later = *force ? LaterWork::kGoes : LaterWork::kStays;
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const auto changes, access.sessions().Undo(session, later));
  Json answer;
  AddFirstChanges(answer, "files", changes);
  return JsonAnswer(200, answer);
}

}  // namespace

std::vector<http::Route> SessionRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, engine::Need need, ApiHandler handler,
                            http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions" + pattern, need, std::move(handler), body);
  };
  return {route("POST", "", engine::kToRun, Create, http::BodyRule::kSmall),
          route("GET", "", engine::kToRead, List),
          route("GET", "/{session}", engine::kToRead, Get),
          route("DELETE", "/{session}", engine::kToRun, Delete),
          route("POST", "/{session}/extend", engine::kToRun, Extend, http::BodyRule::kSmall),
          route("POST", "/{session}/pause", engine::kToRun, Doing(&SessionsView::Pause)),
          route("POST", "/{session}/resume", engine::kToRun, Doing(&SessionsView::Resume)),
          route("POST", "/{session}/stop", engine::kToRun, Doing(&SessionsView::Stop)),
          route("GET", "/{session}/diff", engine::kToRead, Diff),
          route("GET", "/{session}/check", engine::kToRead, Check),
          route("POST", "/{session}/undo", engine::kToRun, Undo, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
