// The record of a session: what was done in it, and where its files come from.
#include "core/history.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/history_graph.hpp"
#include "core/session_name.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_routes.hpp"
#include "transport/v1/history_pages.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/resolver.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::uint64_t kMostEntries = 1000;  // in a page

// The record of the session's workspace: sessions that share one share its record too.
struct SessionHistory {
  core::RecordStore& store;
  std::string name;
  bool deleted = false;
};

base::Result<core::RecordStore*> StoreOf(const Api& api) {
  if (core::RecordStore* store = api.host.record()) return store;
  return base::Err(base::Code::kUnavailable, "there is no record of what happened in sessions; see skerry doctor");
}

// The records of sessions that have or had the name, or the one with the id, as far as they are the caller's; the
// newest first.
base::Result<std::vector<core::SessionRecord>> RecordsOf(core::RecordStore& store, const engine::Principal& principal,
                                                         const std::string& name) {
  const auto tenant = principal.everybody() ? std::nullopt : std::optional(principal.tenant);
  SKERRY_ASSIGN_OR_RETURN(std::vector<core::SessionRecord> records, store.SessionsNamed(name, tenant));
  if (name.contains('~')) {
    records.clear();
    if (const auto exact = store.FindSession(name)) records.push_back(*exact);
  }
  std::erase_if(records, [&](const core::SessionRecord& record) { return !principal.Sees(record.tenant); });
  return records;
}

base::Result<SessionHistory> HistoryOf(const Api& api, const http::Request& request) {
  const auto session = SessionOf(api, request);
  if (!session && session.error().code != base::Code::kNotFound) return std::unexpected(session.error());
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, StoreOf(api));
  if (session) return SessionHistory{*store, (*session)->life().workspace()};
  SKERRY_ASSIGN_OR_RETURN(const auto records,
                          RecordsOf(*store, PrincipalOf(request), request.parameters.at("session")));
  // One that is on its way out may not be marked as deleted yet.
  if (records.empty()) return std::unexpected(session.error());
  return SessionHistory{*store, records.front().id, true};
}

// What is recorded under a name belongs to the last one who had it, until the new one is known.
base::Status CheckIsKnown(const SessionHistory& history) {
  SKERRY_ASSIGN_OR_RETURN(const core::SessionRecord record, history.store.FindSession(history.name));
  if (!record.deleted_at || history.deleted) return {};
  return base::Err(base::Code::kNotFound,
                   "nothing was recorded of session " + std::string(core::NameOfSession(history.name)));
}

base::Result<std::uint64_t> AfterOf(const http::Request& request) {
  const std::string text = request.head.query.Find("after").value_or("0");
  std::uint64_t after = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), after);
  // The store counts with a sign.
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
  SKERRY_ASSIGN_OR_RETURN(const SessionHistory history, HistoryOf(api, request));
  SKERRY_RETURN_IF_ERROR(CheckIsKnown(history));
  if (format.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const HistoryPage page, LoadHistoryPage(history.store, history.name, range));
    std::optional<std::string> next;
    if (page.next) next = std::to_string(*page.next);
    return JsonAnswer(200, Page(json::HistoryToJson(page.entries), next));
  }
  // A graph cannot be put together from pages, so it is all of it unless less was asked for.
  if (!request.head.query.Find("limit")) range.limit = SIZE_MAX;
  SKERRY_ASSIGN_OR_RETURN(const auto entries, LoadHistoryOutline(history.store, history.name, range));
  return TextAnswer(200, format == "dot" ? core::ToDot(entries) : core::ToMermaid(entries),
                    "text/plain; charset=utf-8");
}

base::Result<http::Response> TellFileHistory(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string given, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, workspace::Named(given, workspace::MapPath(given)));
  SKERRY_ASSIGN_OR_RETURN(const SessionHistory history, HistoryOf(api, request));
  SKERRY_RETURN_IF_ERROR(CheckIsKnown(history));
  SKERRY_ASSIGN_OR_RETURN(const core::FileHistory file, LoadFileHistoryPart(history.store, history.name, path));
  return JsonAnswer(200, json::FileHistoryToJson(file));
}

base::Result<http::Response> TellRecords(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, StoreOf(api));
  const std::string& name = request.parameters.at("session");
  SKERRY_ASSIGN_OR_RETURN(const auto records, RecordsOf(*store, PrincipalOf(request), name));
  if (records.empty()) return base::Err(base::Code::kNotFound, "there is no session " + name.substr(0, 64));
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
  return {MakeRoute(api, "GET", "/sessions/{session}/history/records", kReadScope, kUnrecorded, TellRecords),
          MakeRoute(api, "GET", "/sessions/{session}/history", kReadScope, kUnrecorded, TellHistory),
          MakeRoute(api, "GET", "/sessions/{session}/history/file", kReadScope, kUnrecorded, TellFileHistory)};
}

}  // namespace skerry::transport::v1
