// Changes of files that say what in JSON: edits, directories, moving, copying; and deleting.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "transport/v1/text_edits.hpp"

namespace skerry::transport::v1 {
namespace {

using Changes = engine::Session::Changes;

std::string NeededPath(json::Fields& fields, std::string_view name) {
  std::string path = fields.Text(name, kLongestPath).value_or("");
  if (path.empty()) fields.Fail(name, "is missing");
  return path;
}

struct EditRequest {
  std::string path;
  std::vector<text::TextEdit> edits;
  std::optional<std::string> expected_sha256;
};

base::Result<EditRequest> EditRequestOf(const http::Request& request) {
  constexpr std::size_t kMostEdits = 10'000;
  constexpr std::size_t kDigest = 64;
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  EditRequest wanted{.path = NeededPath(fields, "path")};
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

using TransferAct = base::Result<Changes> (engine::Session::*)(std::string_view, std::string_view, workspace::Existing);

base::Result<http::Response> CarryOut(Api& api, const http::Request& request, TransferAct act) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const Transfer transfer, TransferOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto change = [&](engine::Session& files) {
    return (files.*act)(transfer.from, transfer.to, transfer.existing);
  };
  SKERRY_ASSIGN_OR_RETURN(const Changes changes, ChangeFiles(*session, change));
  return FilesAnswer(changes);
}

}  // namespace

base::Result<http::Response> EditFile(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const EditRequest wanted, EditRequestOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto act = [&](engine::Session& files) {
    return files.Edit(wanted.path, wanted.edits, wanted.expected_sha256);
  };
  SKERRY_ASSIGN_OR_RETURN(const workspace::AgentWorkspace::Edited edited, ChangeFiles(*session, act));
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
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto act = [&](engine::Session& files) -> base::Result<workspace::Entry> {
    SKERRY_RETURN_IF_ERROR(files.MakeDirectory(path, make ? workspace::Parents::kMake : workspace::Parents::kNeed));
    return files.files().Stat(path);
  };
  SKERRY_ASSIGN_OR_RETURN(const workspace::Entry entry, ChangeFiles(*session, act));
  return JsonAnswer(201, EntryToJson(entry));
}

base::Result<http::Response> MoveFile(Api& api, const http::Request& request) {
  return CarryOut(api, request, &engine::Session::Move);
}

base::Result<http::Response> CopyFile(Api& api, const http::Request& request) {
  return CarryOut(api, request, &engine::Session::Copy);
}

base::Result<http::Response> DeleteFile(Api& api, const http::Request& request) {
  static constexpr std::string_view kFlagWords[] = {"true", "false"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "recursive"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string recursive, WordOf(request, "recursive", kFlagWords, "false"));
  const auto depth = recursive == "true" ? workspace::Depth::kAll : workspace::Depth::kOne;
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto act = [&](engine::Session& files) { return files.Delete(path, depth); };
  SKERRY_ASSIGN_OR_RETURN(const Changes changes, ChangeFiles(*session, act));
  return FilesAnswer(changes);
}

}  // namespace skerry::transport::v1
