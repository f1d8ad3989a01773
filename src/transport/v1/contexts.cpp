// Contexts: interpreters of a session that keep their variables.
#include <optional>
#include <utility>

#include "base/utf8.hpp"
#include "engine/views/contexts_view.hpp"
#include "engine/views/runs_view.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/variables.hpp"
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

// The name of the context in the path.
const std::string& NameOf(const http::Request& request) {
  return request.parameters.at("context");
}

base::Result<http::Response> Create(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto name = fields.Text("name", 64);
  if (!name) fields.Fail("name", "is missing");
  std::optional<core::Language> language;
  if (const auto word = fields.Text("language", 64)) {
    const auto known = core::ParseLanguage(*word);
    if (known) language = *known;
    if (!known) fields.Fail("language", "is not known; use python, javascript or shell");
  }
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const auto context, access.contexts(session).Create(*name, language));
  return JsonAnswer(201, ContextToJson(context));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const auto contexts, access.contexts(session).List());
  Json items = Json::array();
  for (const engine::ContextSummary& context : contexts) items.push_back(ContextToJson(context));
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

base::Result<http::Response> Delete(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_RETURN_IF_ERROR(access.contexts(session).Remove(NameOf(request)));
  return kit::NoContent();
}

// Calls a method of the view and answers with the context.
auto Doing(base::Result<engine::ContextSummary> (engine::ContextsView::*act)(const std::string&) const) {
  return [act](Api& api, const http::Request& request) -> base::Result<http::Response> {
    SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
    const engine::Access access = AccessOf(api, request);
    SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
    SKERRY_ASSIGN_OR_RETURN(const auto context, (access.contexts(session).*act)(NameOf(request)));
    return JsonAnswer(200, ContextToJson(context));
  };
}

Json ValidTexts(const std::vector<std::string>& texts) {
  Json valid = Json::array();
  for (const std::string& text : texts) valid.push_back(base::ToValidUtf8(text));
  return valid;
}

base::Result<http::Response> Fork(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto name = fields.Text("name", 64);
  if (!name) fields.Fail("name", "is missing");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(const engine::ForkedContext forked, access.contexts(session).Fork(NameOf(request), *name));
  return JsonAnswer(201, {{"context", ContextToJson(forked.context)},
                          {"variables_left_out", ValidTexts(forked.left_out.variables)},
                          {"files_left_out", ValidTexts(forked.left_out.files)}});
}

base::Result<http::Response> Execute(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  SKERRY_ASSIGN_OR_RETURN(engine::NewRun run, access.runs().Draft(engine::RunKind::kCell, std::move(session)));
  run.request.context = NameOf(request);
  auto code = fields.Text("code", std::size_t{4} << 20U);
  if (!code) fields.Fail("code", "is missing");
  if (fields.Flag("create").value_or(false)) run.creation = engine::Creation::kIfMissing;
  if (const auto name = fields.Text("language", 64)) {
    const auto language = core::ParseLanguage(*name);
    if (language) run.language = *language;
    if (!language) fields.Fail("language", "is not known; use python, javascript or shell");
  }
  if (const auto timeout = fields.Number("timeout", 1, 300)) run.request.timeout = std::chrono::seconds(*timeout);
  ReadEnvironment(fields, run.request.environment, run.request.secrets);
  ReadMaxOutput(fields, run);
  ReadOnDisconnect(fields, run);
  ReadConsent(fields, run);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  run.request.code = *std::move(code);
  return Answer(api, access, request, std::move(run));
}

}  // namespace

std::vector<http::Route> ContextRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, engine::Need need, ApiHandler handler,
                            http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions/{session}/contexts" + pattern, need, std::move(handler), body);
  };
  using engine::ContextsView;
  return {route("POST", "", engine::kToRun, Create, http::BodyRule::kSmall),
          route("GET", "", engine::kToRead, List),
          route("GET", "/{context}", engine::kToRead, Doing(&ContextsView::Find)),
          route("DELETE", "/{context}", engine::kToRun, Delete),
          route("POST", "/{context}/restart", engine::kToRun, Doing(&ContextsView::Restart)),
          route("POST", "/{context}/fork", engine::kToRun, Fork, http::BodyRule::kSmall),
          route("POST", "/{context}/interrupt", engine::kToRun, Doing(&ContextsView::Interrupt)),
          route("POST", "/{context}/execute", engine::kToRun, Execute, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
