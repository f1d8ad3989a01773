// Running code: on its own, or in a session.
#include <optional>
#include <utility>

#include "engine/views/runs_view.hpp"
#include "engine/views/sessions_view.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/work.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::transport::v1 {
namespace {

base::Result<http::Response> Execute(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  std::optional<engine::SessionHandle> session;
  const bool named = request.parameters.contains("session");
  if (named) {
    SKERRY_ASSIGN_OR_RETURN(session, SessionOf(access, request));
  }
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  if (!named)
    if (const auto id = fields.Text("session_id", 100)) {
      SKERRY_RETURN_IF_ERROR(workspace::CheckSessionReference(*id));
      SKERRY_ASSIGN_OR_RETURN(session, access.sessions().Find(*id));
    }
  SKERRY_ASSIGN_OR_RETURN(engine::NewRun run, access.runs().Draft(engine::RunKind::kCode, std::move(session)));
  ReadCode(fields, run);
  ReadConsent(fields, run);
  ReadOnDisconnect(fields, run);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(run.claim, ClaimOf(request));
  return Answer(api, access, request, std::move(run));
}

}  // namespace

std::vector<http::Route> ExecuteRoutes(Api& api) {
  return {MakeRoute(api, "POST", "/execute", engine::kToRun, Execute, http::BodyRule::kSmall),
          MakeRoute(api, "POST", "/sessions/{session}/execute", engine::kToRun, Execute, http::BodyRule::kSmall)};
}

}  // namespace skerry::transport::v1
