// Finding files by name, and text in them.
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engine/views/files_view.hpp"
#include "transport/kit/cursor.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "transport/v1/search_cursor.hpp"
#include "workspace/search.hpp"

namespace skerry::transport::v1 {
namespace {

using workspace::SearchOptions;

constexpr std::size_t kLongestPattern = 65536;
constexpr std::size_t kMostContext = 20;
constexpr std::size_t kMostMatches = 10'000;

// The deadline is ten seconds from now; a client that wants more continues with the cursor.
base::Result<SearchOptions> SearchOptionsOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  SearchOptions options{.path = fields.Text("path", kLongestPath).value_or("/"),
                        .glob = fields.Text("glob", kLongestPath).value_or(""),
                        .pattern = fields.Text("pattern", kLongestPattern)};
  if (fields.Flag("literal").value_or(false)) options.kind = text::PatternKind::kLiteral;
  if (fields.Flag("ignore_case").value_or(false)) options.letter_case = text::LetterCase::kIgnored;
  options.context = fields.Number("context", 0, kMostContext).value_or(options.context);
  options.max_matches = fields.Number("limit", 1, kMostMatches).value_or(options.max_matches);
  const auto cursor = fields.Text("cursor", kit::kLongestCursor);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  if (!options.pattern && options.glob.empty())
    return base::Err(base::Code::kInvalidArgument, "there is nothing to search for; give pattern, glob, or both");
  if (cursor) {
    SKERRY_ASSIGN_OR_RETURN(options.after, ParseSearchCursor(*cursor));
  }
  return options;
}

// Nothing where the search made no progress: a client that followed the cursor would ask for ever.
std::optional<std::string> NextOf(const workspace::SearchResult& result, const SearchOptions& options) {
  if (result.complete() || !result.next || result.next == options.after) return std::nullopt;
  return SearchCursor(*result.next);
}

}  // namespace

base::Result<http::Response> SearchFiles(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const SearchOptions options, SearchOptionsOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  http::Response response;
  const auto weigh = [&](const workspace::SearchResult& result) -> std::uint64_t {
    response = JsonAnswer(200, SearchToJson(result, NextOf(result, options)));
    return std::get<std::string>(response.body).size();
  };
  SKERRY_RETURN_IF_ERROR(access.files(session).Search(options, weigh, request.gone));
  return response;
}

}  // namespace skerry::transport::v1
