// The files of a session: lists and lines, and the table of all file routes.
#include <string>
#include <utility>

#include "engine/views/files_view.hpp"
#include "transport/kit/cursor.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "transport/v1/session_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20U;            // of lines in one answer
constexpr std::uint64_t kLastLine = (std::uint64_t{1} << 53U) - 1;  // every JSON parser keeps it
constexpr std::uint64_t kMostLines = 1'000'000;

base::Result<http::Response> ListFiles(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  workspace::ListOptions options{.limit = page.limit};
  SKERRY_ASSIGN_OR_RETURN(options.after, kit::DecodeCursor(page.cursor));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const workspace::Listing listing, access.files(session).List(DirectoryOf(request), options));
  Json items = Json::array();
  for (const workspace::Entry& entry : listing.entries) items.push_back(EntryToJson(entry));
  std::optional<std::string> next;
  if (!listing.next.empty()) next = kit::EncodeCursor(listing.next);
  return JsonAnswer(200, Page(std::move(items), next));
}

base::Result<http::Response> ReadLines(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "first", "count"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  workspace::LineRange range;
  SKERRY_ASSIGN_OR_RETURN(range.first, NumberOf(request, "first", 1, kLastLine, 1));
  if (request.head.query.Find("count")) {
    SKERRY_ASSIGN_OR_RETURN(range.count, NumberOf(request, "count", 1, kMostLines, 1));
  }
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const workspace::Lines lines, access.files(session).ReadLines(path, range, kMostText));
  return JsonAnswer(200, LinesToJson(lines));
}

base::Result<http::Response> StatFile(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const workspace::Entry entry, access.files(session).Stat(path));
  return JsonAnswer(200, EntryToJson(entry));
}

base::Result<http::Response> TellUsage(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const engine::WorkspaceUsage usage, access.files(session).Usage());
  return JsonAnswer(200, UsageToJson(usage));
}

struct Row {
  const char* method;
  const char* path;  // after …/files
  FileHandler* handler;
  engine::Need need;
  http::BodyRule body = http::BodyRule::kNone;
  std::uint64_t max_body = 0;
};

constexpr Row kRows[] = {
    {"GET", "", ListFiles, engine::kToRead},
    {"DELETE", "", DeleteFile, engine::kToRun},
    {"GET", "/content", ReadContent, engine::kToRead},
    {"PUT", "/content", WriteContent, engine::kToRun, http::BodyRule::kLarge},
    {"GET", "/lines", ReadLines, engine::kToRead},
    {"GET", "/stat", StatFile, engine::kToRead},
    {"GET", "/usage", TellUsage, engine::kToRead},
    {"POST", "/append", AppendContent, engine::kToRun, http::BodyRule::kLarge, engine::FilesView::kMostAppended},
    {"POST", "/edit", EditFile, engine::kToRun, http::BodyRule::kSmall},
    {"POST", "/directory", MakeDirectory, engine::kToRun, http::BodyRule::kSmall},
    {"POST", "/move", MoveFile, engine::kToRun, http::BodyRule::kSmall},
    {"POST", "/copy", CopyFile, engine::kToRun, http::BodyRule::kSmall},
    {"POST", "/search", SearchFiles, engine::kToRead, http::BodyRule::kSmall},
};

}  // namespace

base::Result<std::string> PathOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(std::string path, TextOf(request, "path"));
  if (path.empty() || path.size() > kLongestPath)
    return base::Err(base::Code::kInvalidArgument, "path must have 1 to 4096 bytes");
  return path;
}

std::string DirectoryOf(const http::Request& request, std::string_view name) {
  return request.head.query.Find(name).value_or("/");
}

workspace::Existing ExistingNamed(std::string_view word) {
  return word == "keep" ? workspace::Existing::kKeep : workspace::Existing::kReplace;
}

base::Result<workspace::Existing> ExistingOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const std::string word, WordOf(request, "existing", kExistingWords, "replace"));
  return ExistingNamed(word);
}

engine::Upload UploadOf(const http::Request& request) {
  const http::Body& body = request.body;
  return {.bytes = body.bytes, .file = body.file.valid() ? body.file.get() : -1, .size = body.size};
}

std::vector<http::Route> FileRoutes(Api& api) {
  std::vector<http::Route> routes;
  for (const Row& row : kRows) {
    http::Route route = MakeRoute(api, row.method, std::string("/sessions/{session}/files") + row.path, row.need,
                                  row.handler, row.body);
    route.max_body = row.max_body;
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace skerry::transport::v1
