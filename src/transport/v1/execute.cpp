// Running code: on its own, or in a session.
#include <algorithm>
#include <utility>

#include "transport/v1/api.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/run_stream.hpp"
#include "transport/v1/work.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::transport::v1 {
namespace {

base::Result<engine::Work> WorkOf(Api& api, const http::Request& request,
                                  std::shared_ptr<engine::HostedSession> session, OnDisconnect& on_disconnect) {
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  if (!session && !request.parameters.contains("session"))
    if (const auto id = fields.Text("session_id", 100)) {
      SKERRY_RETURN_IF_ERROR(workspace::CheckSessionReference(*id));
      SKERRY_ASSIGN_OR_RETURN(session, api.host.Find(PrincipalOf(request), *id));
    }
  engine::Work work{.session = std::move(session)};
  const engine::SessionSettings& settings = work.session ? work.session->settings() : api.host.options().defaults;
  SKERRY_RETURN_IF_ERROR(ReadCode(api, request, fields, settings, work));
  if (const std::uint64_t most = std::max(settings.limits.memory_mb, api.host.options().defaults.limits.memory_mb);
      work.request.max_memory_mb > most && !HasScope(request, core::TokenScope::kAdmin))
    fields.Fail("max_memory_mb", "is at most " + std::to_string(most) + " for this token");
  SKERRY_RETURN_IF_ERROR(api.host.manager().Choose(work.request.sandbox_type));
  SKERRY_RETURN_IF_ERROR(ReadConsent(fields, request, work.consent));
  on_disconnect = ReadOnDisconnect(fields);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(work.claim, ClaimOf(request));
  return work;
}

base::Result<http::Response> Execute(Api& api, const http::Request& request,
                                     std::shared_ptr<engine::HostedSession> session) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  auto on_disconnect = OnDisconnect::kContinue;
  SKERRY_ASSIGN_OR_RETURN(engine::Work work, WorkOf(api, request, std::move(session), on_disconnect));
  return Answer(api, request, std::move(work), on_disconnect);
}

}  // namespace

std::vector<http::Route> ExecuteRoutes(Api& api) {
  return {MakeRoute(
              api, "POST", "/execute", kRunScope, kRunBegins,
              [](Api& all, const http::Request& request) { return Execute(all, request, nullptr); },
              http::BodyRule::kSmall),
          MakeRoute(
              api, "POST", "/sessions/{session}/execute", kRunScope, kRunBegins,
              [](Api& all, const http::Request& request) -> base::Result<http::Response> {
                SKERRY_ASSIGN_OR_RETURN(auto session, SessionOf(all, request));
                return Execute(all, request, std::move(session));
              },
              http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
