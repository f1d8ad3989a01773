// The files of a session: what is there, and the table of all routes.
#include <string>
#include <utility>

#include "transport/kit/cursor.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "workspace/usage.hpp"

namespace skerry::transport::v1 {
namespace {

using workspace::AgentWorkspace;

constexpr std::size_t kMostText = std::size_t{1} << 20U;            // of lines in one answer
constexpr std::uint64_t kLastLine = (std::uint64_t{1} << 53U) - 1;  // every JSON parser keeps it
constexpr std::uint64_t kMostLines = 1'000'000;

base::Result<http::Response> ListFiles(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  workspace::ListOptions options{.limit = page.limit};
  SKERRY_ASSIGN_OR_RETURN(options.after, kit::DecodeCursor(page.cursor));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto look = [&](const AgentWorkspace& files) { return files.List(DirectoryOf(request), options); };
  SKERRY_ASSIGN_OR_RETURN(const workspace::Listing listing, ReadFiles(*session, look));
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
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto look = [&](const AgentWorkspace& files) { return files.ReadLines(path, range, kMostText); };
  SKERRY_ASSIGN_OR_RETURN(const workspace::Lines lines, ReadFiles(*session, look));
  const std::string what =
      "lines " + std::to_string(lines.first) + " to " + std::to_string(lines.first + lines.count - 1) + " of " + path;
  if (lines.count != 0)
    SKERRY_RETURN_IF_ERROR(api.host.NoteExport(PrincipalOf(request), *session, what, lines.text.size()));
  return JsonAnswer(200, LinesToJson(lines));
}

base::Result<http::Response> StatFile(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto look = [&](const AgentWorkspace& files) { return files.Stat(path); };
  SKERRY_ASSIGN_OR_RETURN(const workspace::Entry entry, ReadFiles(*session, look));
  return JsonAnswer(200, EntryToJson(entry));
}

// Counted anew: programs change files too, and what the workspace remembers is from before.
base::Result<http::Response> TellUsage(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto look = [](const AgentWorkspace& files) -> base::Result<Json> {
    SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, workspace::CountUsage(files.root()));
    return Json{{"bytes", usage.bytes}, {"entries", usage.entries}, {"max_bytes", files.options().max_bytes}};
  };
  SKERRY_ASSIGN_OR_RETURN(const Json usage, ReadFiles(*session, look));
  return JsonAnswer(200, usage);
}

struct Row {
  const char* method;
  const char* path;  // behind …/files
  FileHandler* handler;
  std::uint32_t scopes;
  Audited audited;
  http::BodyRule body = http::BodyRule::kNone;
  std::uint64_t max_body = 0;
};

using enum Audited::How;
constexpr auto kHashed = Audited::Content::kHashed;
constexpr Audited kWritten{.how = kFirst, .event = "files.written", .query = {"path"}, .content = kHashed};
constexpr Audited kAppended{.how = kFirst, .event = "files.appended", .query = {"path"}, .content = kHashed};
constexpr Audited kEdited{.how = kFirst, .event = "files.edited", .fields = {"path"}, .content = kHashed};
constexpr Audited kMade{.how = kFirst, .event = "files.directory_made", .fields = {"path"}};
constexpr Audited kMoved{.how = kFirst, .event = "files.moved", .fields = {"from", "to"}};
constexpr Audited kCopied{.how = kFirst, .event = "files.copied", .fields = {"from", "to"}};
constexpr Audited kDeleted{.how = kAnyway, .event = "files.deleted", .query = {"path", "recursive"}};

constexpr Row kRows[] = {
    {"GET", "", ListFiles, kReadScope, kUnrecorded},
    {"DELETE", "", DeleteFile, kRunScope, kDeleted},
    {"GET", "/content", ReadContent, kReadScope, kExport},
    {"PUT", "/content", WriteContent, kRunScope, kWritten, http::BodyRule::kLarge},
    {"GET", "/lines", ReadLines, kReadScope, kExport},
    {"GET", "/stat", StatFile, kReadScope, kUnrecorded},
    {"GET", "/usage", TellUsage, kReadScope, kUnrecorded},
    {"POST", "/append", AppendContent, kRunScope, kAppended, http::BodyRule::kLarge, kMostAppended},
    {"POST", "/edit", EditFile, kRunScope, kEdited, http::BodyRule::kSmall},
    {"POST", "/directory", MakeDirectory, kRunScope, kMade, http::BodyRule::kSmall},
    {"POST", "/move", MoveFile, kRunScope, kMoved, http::BodyRule::kSmall},
    {"POST", "/copy", CopyFile, kRunScope, kCopied, http::BodyRule::kSmall},
    {"POST", "/search", SearchFiles, kReadScope, kExport, http::BodyRule::kSmall},
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

std::vector<http::Route> FileRoutes(Api& api) {
  std::vector<http::Route> routes;
  for (const Row& row : kRows) {
    // What makes something new is recorded; who has no room for that may still delete.
    const bool makes = row.scopes == kRunScope && row.handler != DeleteFile;
    const auto handler = [handle = row.handler, makes](Api& all, const http::Request& request) {
      if (makes)
        if (auto admitted = all.host.Admit(PrincipalOf(request)); !admitted)
          return base::Result<http::Response>(std::unexpected(std::move(admitted).error()));
      return handle(all, request);
    };
    http::Route route = MakeRoute(api, row.method, std::string("/sessions/{session}/files") + row.path, row.scopes,
                                  row.audited, handler, row.body);
    route.max_body = row.max_body;
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace skerry::transport::v1
