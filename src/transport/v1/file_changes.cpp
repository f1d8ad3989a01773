// Changes of files by requests in JSON: edits, directories, moving, copying; and deleting.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "engine/views/files_view.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "transport/v1/text_edits.hpp"

namespace skerry::transport::v1 {
namespace {

using engine::FilesView;
using Changes = FilesView::Changes;

std::string NeededPath(json::Fields& fields, std::string_view name) {
  std::string path = fields.Text(name, kLongestPath).value_or("");
  if (path.empty()) fields.Fail(name, "is missing");
  return path;
}

base::Result<engine::FileEdit> EditOf(const http::Request& request) {
  constexpr std::size_t kMostEdits = 10'000;
  constexpr std::size_t kDigest = 64;
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  engine::FileEdit wanted{.path = NeededPath(fields, "path"), .as_sent = request.body.bytes};
  const nlohmann::json* edits = fields.Array("edits", kMostEdits);
  if (edits == nullptr) fields.Fail("edits", "is missing");
  wanted.expected_sha256 = fields.Text("expected_sha256", kDigest);
  if (wanted.expected_sha256 && !base::IsSha256Hex(*wanted.expected_sha256))
    fields.Fail("expected_sha256", "must be a SHA-256: 64 digits of 0-9 and a-f");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(wanted.edits, EditsOf(*edits));
  return wanted;
}

struct Transfer {
  std::string from;
  std::string to;
  workspace::Existing existing = workspace::Existing::kReplace;
};

base::Result<Transfer> TransferOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  Transfer transfer{.from = NeededPath(fields, "from"), .to = NeededPath(fields, "to")};
  transfer.existing = ExistingNamed(fields.Word("existing", kExistingWords).value_or("replace"));
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  return transfer;
}

http::Response FilesAnswer(const Changes& changes) {
  Json answer;
  AddFirstChanges(answer, "files", changes);
  return JsonAnswer(200, answer);
}

// The handler that moves or copies.
auto Carrying(base::Result<Changes> (FilesView::*act)(const std::string&, const std::string&, workspace::Existing)
                  const) {
  return [act](Api& api, const http::Request& request) -> base::Result<http::Response> {
    SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
    SKERRY_ASSIGN_OR_RETURN(const Transfer transfer, TransferOf(request));
    const engine::Access access = AccessOf(api, request);
    SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
    SKERRY_ASSIGN_OR_RETURN(const Changes changes,
                            (access.files(session).*act)(transfer.from, transfer.to, transfer.existing));
    return FilesAnswer(changes);
  };
}

}  // namespace

base::Result<http::Response> EditFile(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const engine::FileEdit wanted, EditOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const auto edited, access.files(session).Edit(wanted));
  return JsonAnswer(200, EditedToJson(edited));
}

base::Result<http::Response> MakeDirectory(Api& api, const http::Request& request) {
  static constexpr std::string_view kParentsWords[] = {"make", "need"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const std::string path = NeededPath(fields, "path");
  const bool make = fields.Word("parents", kParentsWords).value_or("need") == "make";
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  const auto parents = make ? workspace::Parents::kMake : workspace::Parents::kNeed;
  SKERRY_ASSIGN_OR_RETURN(const workspace::Entry entry, access.files(session).MakeDirectory(path, parents));
  return JsonAnswer(201, EntryToJson(entry));
}

base::Result<http::Response> MoveFile(Api& api, const http::Request& request) {
  return Carrying(&FilesView::Move)(api, request);
}

base::Result<http::Response> CopyFile(Api& api, const http::Request& request) {
  return Carrying(&FilesView::Copy)(api, request);
}

base::Result<http::Response> DeleteFile(Api& api, const http::Request& request) {
  static constexpr std::string_view kFlagWords[] = {"true", "false"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "recursive"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string recursive, WordOf(request, "recursive", kFlagWords, ""));
  std::optional<workspace::Depth> depth;
  if (!recursive.empty()) depth = recursive == "true" ? workspace::Depth::kAll : workspace::Depth::kOne;
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const Changes changes, access.files(session).Delete(path, depth));
  return FilesAnswer(changes);
}

}  // namespace skerry::transport::v1
