// Contexts: interpreters of a session that keep their variables.
#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "json/history_json.hpp"
#include "transport/kit/event_stream.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/work.hpp"

namespace skerry::transport::v1 {
namespace {

Json ContextToJson(const engine::ContextSummary& context) {
  return {{"name", context.name},
          {"language", core::NameOf(context.language)},
          {"state", engine::NameOf(context.condition)},
          {"cells", context.cells},
          {"created_at", json::Rfc3339(context.created)},
          {"used_at", json::Rfc3339(context.last_used)},
          {"start", core::NameOf(context.start)},
          {"degraded", context.degraded}};
}

base::Result<http::Response> Show(engine::ContextManager& contexts, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const auto context, contexts.Find(request.parameters.at("context")));
  return JsonAnswer(200, ContextToJson(context));
}

base::Result<http::Response> Create(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto name = fields.Text("name", 64);
  if (!name) fields.Fail("name", "is missing");
  const auto language = core::ParseLanguage(fields.Text("language", 64).value_or("python"));
  if (!language) fields.Fail("language", "is not known; use python, javascript or shell");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const auto context, session->life().CreateContext(*name, *language));
  session->Used();
  return JsonAnswer(201, ContextToJson(context));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  Json items = Json::array();
  for (const auto& context : session->life().contexts().List()) items.push_back(ContextToJson(context));
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  return Show(session->life().contexts(), request);
}

base::Result<http::Response> Delete(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  api.host.ForgetApprovalsOfContexts(*session);
  SKERRY_RETURN_IF_ERROR(session->life().contexts().Remove(request.parameters.at("context")));
  return kit::NoContent();
}

base::Result<http::Response> Restart(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  api.host.ForgetApprovalsOfContexts(*session);
  SKERRY_RETURN_IF_ERROR(session->life().RestartContext(request.parameters.at("context")));
  return Show(session->life().contexts(), request);
}

Json ValidTexts(const std::vector<std::string>& texts) {
  Json valid = Json::array();
  for (const std::string& text : texts) valid.push_back(base::ToValidUtf8(text));
  return valid;
}

base::Result<http::Response> Fork(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto name = fields.Text("name", 64);
  if (!name) fields.Fail("name", "is missing");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const auto report, session->life().ForkContext(request.parameters.at("context"), *name));
  session->Used();
  SKERRY_ASSIGN_OR_RETURN(const auto context, session->life().contexts().Find(*name));
  return JsonAnswer(201, {{"context", ContextToJson(context)},
                          {"variables_left_out", ValidTexts(report.variables)},
                          {"files_left_out", ValidTexts(report.files)}});
}

base::Result<http::Response> Interrupt(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  engine::ContextManager& contexts = session->life().contexts();
  // As it was: who interrupts wants to know whether there was something to interrupt.
  auto before = Show(contexts, request);
  SKERRY_RETURN_IF_ERROR(contexts.Interrupt(request.parameters.at("context")));
  return before;
}

base::Result<http::Response> Execute(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  engine::Work work{.session = std::move(session), .kind = "cell"};
  core::ExecutionRequest& cell = work.request;
  cell.context = request.parameters.at("context");
  auto code = fields.Text("code", std::size_t{4} << 20U);
  if (!code) fields.Fail("code", "is missing");
  const engine::SessionSettings& settings = work.session->settings();
  const auto timeout = fields.Number("timeout", 1, 300);
  cell.timeout = timeout ? std::chrono::seconds(*timeout) : settings.timeout;
  cell.max_memory_mb = settings.limits.memory_mb;
  cell.max_output_mb = ReadMaxOutput(api, request, fields);
  if (fields.Flag("create").value_or(false)) work.creation = engine::Creation::kIfMissing;
  if (const auto name = fields.Text("language", 64)) {
    const auto language = core::ParseLanguage(*name);
    if (language) work.language = *language;
    if (!language) fields.Fail("language", "is not known; use python, javascript or shell");
  }
  const OnDisconnect on_disconnect = ReadOnDisconnect(fields);
  if (on_disconnect == OnDisconnect::kCancel) work.cancel = request.gone;
  SKERRY_RETURN_IF_ERROR(ReadConsent(fields, request, work.consent));
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  cell.code = *std::move(code);
  const auto place = kit::WantsEvents(request) ? engine::Place::kBeside : engine::Place::kHere;
  SKERRY_ASSIGN_OR_RETURN(const engine::Begun begun, api.host.Execute(PrincipalOf(request), std::move(work), place));
  return AnswerBegun(api, request, begun, on_disconnect);
}

}  // namespace

std::vector<http::Route> ContextRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, std::uint32_t scopes,
                            const Audited& audited, ApiHandler handler, http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions/{session}/contexts" + pattern, scopes, audited, std::move(handler), body);
  };
  using enum Audited::How;
  return {route("POST", "", kRunScope, {.how = kFirst, .event = "context.created", .fields = {"name", "language"}},
                Create, http::BodyRule::kSmall),
          route("GET", "", kReadScope, kUnrecorded, List),
          route("GET", "/{context}", kReadScope, kUnrecorded, Get),
          route("DELETE", "/{context}", kRunScope, {.how = kAnyway, .event = "context.deleted"}, Delete),
          route("POST", "/{context}/restart", kRunScope, {.how = kAnyway, .event = "context.restarted"}, Restart),
          route("POST", "/{context}/fork", kRunScope, {.how = kFirst, .event = "context.forked", .fields = {"name"}},
                Fork, http::BodyRule::kSmall),
          route("POST", "/{context}/interrupt", kRunScope, {.how = kAnyway, .event = "context.interrupted"}, Interrupt),
          route("POST", "/{context}/execute", kRunScope, kRunBegins, Execute, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
