// What runs and what ran.
#include <array>
#include <charconv>
#include <utility>

#include "json/text.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/output.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/run_stream.hpp"

namespace skerry::transport::v1 {
namespace {

using engine::Run;

base::Result<std::shared_ptr<Run>> RunOf(const Api& api, const http::Request& request) {
  return api.host.FindRun(PrincipalOf(request), request.parameters.at("execution"));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"session_id", "state", "kind", "cursor", "limit"}));
  constexpr std::array<std::string_view, 3> kKinds = {"execute", "command", "cell"};
  core::RunFilter filter;
  if (const auto session = request.head.query.Find("session_id")) {
    const auto found = api.host.Find(PrincipalOf(request), *session);
    if (!found && found.error().code != base::Code::kNotFound) return std::unexpected(found.error());
    if (!found) return JsonAnswer(200, Page(Json::array(), std::nullopt));
    filter.session = (*found)->id();
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string kind, WordOf(request, "kind", kKinds, ""));
  if (!kind.empty()) filter.kind = kind;
  if (const auto state = request.head.query.Find("state")) {
    filter.state = core::ParseRunState(*state);
    if (!filter.state)
      return base::Err(base::Code::kInvalidArgument, "state must be one of waiting, running, done, lost");
  }
  return PageOfRuns(api, request, std::move(filter));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  constexpr std::uint64_t kLongestWait = 300;
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"wait_seconds"}));
  SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t wait, NumberOf(request, "wait_seconds", 0, kLongestWait, 0));
  (void)run->Await(base::Deadline::After(std::chrono::seconds(wait)), request.gone);
  const std::scoped_lock turn(api.large);
  SKERRY_ASSIGN_OR_RETURN(const Json whole, WholeExecution(api, *run));
  return JsonAnswer(200, whole);
}

// What a run without a record did to files, as far as its result names them.
Json FilesOfResult(const Run& run) {
  Json items = Json::array();
  const auto end = run.end();
  const Json result = end ? json::Parse(end->result) : Json();
  if (!result.is_object()) return items;
  constexpr std::array<std::pair<const char*, const char*>, 3> kLists = {
      {{"files_created", "created"}, {"files_changed", "changed"}, {"files_deleted", "removed"}}};
  for (const auto& [list, action] : kLists)
    if (const auto found = result.find(list); found != result.end() && found->is_array())
      for (const Json& path : *found) items.push_back({{"path", path}, {"action", action}});
  return items;
}

base::Result<http::Response> Files(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(api, request));
  core::RecordStore* store = run->record().session.empty() ? nullptr : api.host.record();
  const auto recorded = store == nullptr ? base::Result<core::ExecutionRecord>(base::Err(base::Code::kNotFound, ""))
                                         : store->FindExecution(run->id());
  if (!recorded) {
    Json answer = Page(FilesOfResult(*run), std::nullopt);
    answer["left_out"] = 0;
    return JsonAnswer(200, answer);
  }
  std::uint64_t after = 0;
  const auto [end, error] = std::from_chars(page.cursor.data(), page.cursor.data() + page.cursor.size(), after);
  if (!page.cursor.empty() && (error != std::errc() || end != page.cursor.data() + page.cursor.size()))
    return base::Err(base::Code::kInvalidArgument, "cursor is not one that was given");
  SKERRY_ASSIGN_OR_RETURN(const core::ChangesPage changes, store->PageOfChanges(run->id(), after, page.limit));
  Json answer = Page(ChangesToJson(changes.changes),
                     changes.next == 0 ? std::nullopt : std::optional(std::to_string(changes.next)));
  answer["left_out"] = recorded->left_out;
  return JsonAnswer(200, answer);
}

base::Result<http::Response> Events(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"offset"}));
  SKERRY_ASSIGN_OR_RETURN(auto run, RunOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t offset, OffsetOf(request));
  return EventsOf(api, request, std::move(run), offset);
}

base::Result<http::Response> Cancel(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(api, request));
  run->Cancel();
  (void)run->Await(base::Deadline::After(std::chrono::seconds(10)), request.gone);
  const std::scoped_lock turn(api.large);
  SKERRY_ASSIGN_OR_RETURN(const Json whole, WholeExecution(api, *run));
  return JsonAnswer(200, whole);
}

}  // namespace

std::vector<http::Route> ExecutionRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/executions", kReadScope, kUnrecorded, List),
          MakeRoute(api, "GET", "/executions/{execution}", kReadScope, kUnrecorded, Get),
          MakeRoute(api, "GET", "/executions/{execution}/output", kReadScope, kUnrecorded,
                    [](Api& all, const http::Request& request) -> base::Result<http::Response> {
                      SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(all, request));
                      return OutputAnswer(request, *run);
                    }),
          MakeRoute(api, "GET", "/executions/{execution}/events", kReadScope, kUnrecorded, Events),
          MakeRoute(api, "GET", "/executions/{execution}/files", kReadScope, kUnrecorded, Files),
          MakeRoute(api, "POST", "/executions/{execution}/cancel", kRunScope,
                    {.how = Audited::How::kAnyway, .event = "run.cancelled"}, Cancel)};
}

}  // namespace skerry::transport::v1
