// Runs, present and past.
#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.hpp"
#include "engine/views/runs_view.hpp"
#include "engine/views/sessions_view.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/output.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/run_stream.hpp"
#include "transport/v1/work.hpp"

namespace skerry::transport::v1 {
namespace {

using engine::Run;

base::Result<std::shared_ptr<const Run>> RunOf(const engine::Access& access, const http::Request& request) {
  return access.runs().Find(request.parameters.at("execution"));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"session_id", "state", "kind", "cursor", "limit"}));
  constexpr std::array<std::string_view, 3> kKinds = {"execute", "command", "cell"};
  const engine::Access access = AccessOf(api, request);
  core::RunFilter filter;
  if (const auto session = request.head.query.Find("session_id")) {
    const auto found = access.sessions().Find(*session);
    if (!found && found.error().code != base::Code::kNotFound) return std::unexpected(found.error());
    if (!found) return JsonAnswer(200, Page(Json::array(), std::nullopt));
    filter.session = found->id();
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string kind, WordOf(request, "kind", kKinds, ""));
  if (!kind.empty()) filter.kind = kind;
  if (const auto state = request.head.query.Find("state")) {
    filter.state = core::ParseRunState(*state);
    if (!filter.state)
      return base::Err(base::Code::kInvalidArgument, "state must be one of waiting, running, done, lost");
  }
  return PageOfRuns(access, request, std::move(filter));
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  constexpr std::uint64_t kLongestWait = 300;
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"wait_seconds"}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t wait, NumberOf(request, "wait_seconds", 0, kLongestWait, 0));
  (void)run->Await(base::Deadline::After(std::chrono::seconds(wait)), request.gone);
  return WholeAnswer(api, access, request, *run);
}

Json FilesAnswer(Json items, std::uint64_t next, std::uint64_t left_out) {
  Json answer = Page(std::move(items), next == 0 ? std::nullopt : std::optional(std::to_string(next)));
  answer["left_out"] = left_out;
  return answer;
}

// Changes of a run without a record, as far as its result names them.
Json FilesOfResult(const Run& run, const std::string& kind) {
  Json items = Json::array();
  const auto end = run.end();
  if (!end) return FilesAnswer(std::move(items), 0, 0);
  const core::ExecutionResult& result = end->result;
  const core::FileTotals total = result.files_total.value_or(core::FileTotals{});
  std::uint64_t left_out = 0;
  const auto count = [&](std::size_t listed, std::size_t all) { left_out += all > listed ? all - listed : 0; };
  const auto add_changes = [&](const std::vector<std::string>& files, core::FileAction action, std::size_t all) {
    for (const std::string& path : files)
      items.push_back({{"path", base::ToValidUtf8(path)}, {"action", core::NameOf(action)}});
    count(files.size(), all);
  };
  const auto add_withheld = [&](const std::vector<core::WithheldFile>& files, std::size_t all) {
    for (const core::WithheldFile& file : files)
      items.push_back({{"path", base::ToValidUtf8(file.path)}, {"reason", base::ToValidUtf8(file.reason)}});
    count(files.size(), all);
  };
  if (kind == "changes") {
    add_changes(result.files_created, core::FileAction::kCreated, total.created);
    add_changes(result.files_changed, core::FileAction::kChanged, total.changed);
    add_changes(result.files_deleted, core::FileAction::kRemoved, total.deleted);
  }
  if (kind == "withheld") add_withheld(result.files_withheld, total.withheld);
  if (kind == "to_review") add_withheld(result.files_to_review, total.to_review);
  return FilesAnswer(std::move(items), 0, left_out);
}

base::Result<std::uint64_t> AfterOf(const PageOptions& page) {
  std::uint64_t after = 0;
  const char* const last = page.cursor.data() + page.cursor.size();
  const auto [end, error] = std::from_chars(page.cursor.data(), last, after);
  if (!page.cursor.empty() && (error != std::errc() || end != last))
    return base::Err(base::Code::kInvalidArgument, "cursor is not one that was given");
  return after;
}

base::Result<http::Response> Files(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 3> kKinds = {"changes", "withheld", "to_review"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"kind", "cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string kind, WordOf(request, "kind", kKinds, "changes"));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t after, AfterOf(page));
  if (const auto about = core::ParseAbout(kind)) {
    SKERRY_ASSIGN_OR_RETURN(const auto notices, access.runs().Notices(*run, *about, after, page.limit));
    if (!notices) return JsonAnswer(200, FilesOfResult(*run, kind));
    Json items = Json::array();
    for (const core::FileNotice& notice : notices->page.notices) items.push_back(NoticeToJson(notice));
    return JsonAnswer(200, FilesAnswer(std::move(items), notices->page.next, notices->left_out));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto changes, access.runs().Changes(*run, after, page.limit));
  if (!changes) return JsonAnswer(200, FilesOfResult(*run, kind));
  return JsonAnswer(200, FilesAnswer(ChangesToJson(changes->page.changes), changes->page.next, changes->left_out));
}

base::Result<http::Response> Events(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"offset"}));
  SKERRY_ASSIGN_OR_RETURN(auto run, RunOf(AccessOf(api, request), request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t offset, OffsetOf(request));
  return EventsOf(api, request, std::move(run), offset);
}

base::Result<http::Response> Cancel(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, access.runs().Cancel(request.parameters.at("execution")));
  (void)run->Await(base::Deadline::After(std::chrono::seconds(10)), request.gone);
  return WholeAnswer(api, access, request, *run);
}

}  // namespace

std::vector<http::Route> ExecutionRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/executions", engine::kToRead, List),
          MakeRoute(api, "GET", "/executions/{execution}", engine::kToRead, Get),
          MakeRoute(api, "GET", "/executions/{execution}/output", engine::kToRead,
                    [](Api& all, const http::Request& request) -> base::Result<http::Response> {
                      SKERRY_ASSIGN_OR_RETURN(const auto run, RunOf(AccessOf(all, request), request));
                      return OutputAnswer(all, request, *run);
                    }),
          MakeRoute(api, "GET", "/executions/{execution}/events", engine::kToRead, Events),
          MakeRoute(api, "GET", "/executions/{execution}/files", engine::kToRead, Files),
          MakeRoute(api, "POST", "/executions/{execution}/cancel", engine::kToRun, Cancel)};
}

}  // namespace skerry::transport::v1
