// The record of a session: what was done in it, and where its files come from.
#include "core/history.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "core/history_graph.hpp"
#include "core/session_name.hpp"
#include "engine/views/history_view.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_routes.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::uint64_t kMostEntries = 1000;  // in a page

base::Result<std::uint64_t> AfterOf(const http::Request& request) {
  const std::string text = request.head.query.Find("after").value_or("0");
  std::uint64_t after = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), after);
  // The store's numbers are signed.
  if (error == std::errc() && end == text.data() + text.size() && after <= INT64_MAX) return after;
  return base::Err(base::Code::kInvalidArgument, "after must be the next_cursor of an earlier answer, as it was");
}

base::Result<http::Response> TellHistory(Api& api, const http::Request& request) {
  static constexpr std::string_view kFormats[] = {"mermaid", "dot"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"after", "limit", "format"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string format, WordOf(request, "format", kFormats, ""));
  core::HistoryRange range;
  SKERRY_ASSIGN_OR_RETURN(range.after, AfterOf(request));
  SKERRY_ASSIGN_OR_RETURN(range.limit, NumberOf(request, "limit", 1, kMostEntries, range.limit));
  const engine::Access access = AccessOf(api, request);
  const std::string& session = request.parameters.at("session");
  if (format.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const engine::HistoryPage page, access.history().Page(session, range));
    std::optional<std::string> next;
    if (page.next) next = std::to_string(*page.next);
    return JsonAnswer(200, Page(json::HistoryToJson(page.entries), next));
  }
  // A graph cannot be put together from pages, so it has everything unless the client asked for less.
  if (!request.head.query.Find("limit")) range.limit = SIZE_MAX;
  SKERRY_ASSIGN_OR_RETURN(const auto entries, access.history().Outline(session, range));
  return TextAnswer(200, format == "dot" ? core::ToDot(entries) : core::ToMermaid(entries),
                    "text/plain; charset=utf-8");
}

base::Result<http::Response> TellFileHistory(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const core::FileHistory file,
                          AccessOf(api, request).history().OfFile(request.parameters.at("session"), path));
  return JsonAnswer(200, json::FileHistoryToJson(file));
}

base::Result<http::Response> TellRecords(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto records,
                          AccessOf(api, request).history().Records(request.parameters.at("session")));
  Json items = Json::array();
  for (const core::SessionRecord& record : records)
    items.push_back({{"id", record.unique_id},
                     {"name", core::NameOfSession(record.id)},
                     {"tenant", record.tenant.empty() ? Json(nullptr) : Json(record.tenant)},
                     {"created_at", json::Rfc3339(record.created_at)},
                     {"deleted_at", record.deleted_at ? Json(json::Rfc3339(*record.deleted_at)) : Json(nullptr)}});
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

}  // namespace

std::vector<http::Route> HistoryRoutes(Api& api) {
  return {MakeRoute(api, "GET", "/sessions/{session}/history/records", engine::kToRead, TellRecords),
          MakeRoute(api, "GET", "/sessions/{session}/history", engine::kToRead, TellHistory),
          MakeRoute(api, "GET", "/sessions/{session}/history/file", engine::kToRead, TellFileHistory)};
}

}  // namespace skerry::transport::v1
