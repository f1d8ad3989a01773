// The bytes of a file: reading all or a part, writing, appending.
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/sha256.hpp"
#include "engine/views/files_view.hpp"
#include "transport/http/text.hpp"
#include "transport/kit/byte_range.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"

namespace skerry::transport::v1 {
namespace {

// Answers have no validator that If-Range could name, so a request with If-Range gets the whole file.
kit::WantedBytes WantedOf(const http::Request& request, std::uint64_t size) {
  const http::Headers& headers = request.head.headers;
  const auto range = headers.Find("Range");
  if (!range || headers.Count("Range") != 1 || headers.Find("If-Range") || request.head.method != "GET")
    return {.length = size};
  return kit::ParseRange(*range, size);
}

http::Response NoSuchBytes(const http::Request& request, std::uint64_t size) {
  return ErrorAnswer(
      {.status = 416,
       .code = "range_not_satisfiable",
       .message = "the file has " + std::to_string(size) + " bytes, and none of those that were asked for",
       .headers = {{"Content-Range", "bytes */" + std::to_string(size)}}},
      request.id);
}

// 64 digits, with or without the quotes of an entity tag.
base::Result<std::optional<std::string>> ExpectedOf(const http::Request& request) {
  const auto header = request.head.headers.Find("If-Match");
  if (!header) return std::nullopt;
  std::string_view digest = http::Trim(*header);
  if (digest.size() >= 2 && digest.front() == '"' && digest.back() == '"') digest = digest.substr(1, digest.size() - 2);
  if (request.head.headers.Count("If-Match") == 1 && base::IsSha256Hex(digest)) return std::string(digest);
  return base::Err(base::Code::kInvalidArgument, "If-Match takes one SHA-256: 64 digits of 0-9 and a-f, in quotes");
}

base::Result<std::optional<std::uint32_t>> ModeOf(const http::Request& request) {
  constexpr int kOctal = 8;
  constexpr std::size_t kDigits = 3;
  const auto text = request.head.query.Find("mode");
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  if (digits.size() == kDigits + 1 && digits.front() == '0') digits.remove_prefix(1);
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), mode, kOctal);
  if (error == std::errc() && end == digits.data() + digits.size() && digits.size() == kDigits) return mode;
  return base::Err(base::Code::kInvalidArgument, "mode takes permissions like 644 or 755");
}

base::Result<workspace::WriteOptions> WriteOptionsOf(const http::Request& request) {
  static constexpr std::string_view kParentsWords[] = {"make", "need"};
  workspace::WriteOptions options;
  SKERRY_ASSIGN_OR_RETURN(options.existing, ExistingOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string parents, WordOf(request, "parents", kParentsWords, "make"));
  if (parents == "need") options.parents = workspace::Parents::kNeed;
  SKERRY_ASSIGN_OR_RETURN(options.mode, ModeOf(request));
  SKERRY_ASSIGN_OR_RETURN(options.expected_sha256, ExpectedOf(request));
  return options;
}

}  // namespace

base::Result<http::Response> ReadContent(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  kit::WantedBytes wanted;
  const auto choose = [&](std::uint64_t size) -> std::optional<engine::FilePart> {
    wanted = WantedOf(request, size);
    if (wanted.kind == kit::WantedBytes::Kind::kNowhere) return std::nullopt;
    return engine::FilePart{.offset = wanted.offset, .length = wanted.length};
  };
  SKERRY_ASSIGN_OR_RETURN(engine::FileBytes file, access.files(session).Read(path, choose));
  if (!file.part) return NoSuchBytes(request, file.size);
  const std::string size = std::to_string(file.size);
  http::Response response{.status = 200,
                          .headers = {{"Content-Type", "application/octet-stream"},
                                      {"Content-Disposition", "attachment"},
                                      {"Accept-Ranges", "bytes"},
                                      {"X-Skerry-Size", size}}};
  if (wanted.kind == kit::WantedBytes::Kind::kPart) {
    response.status = 206;
    response.headers.Add("Content-Range", "bytes " + std::to_string(wanted.offset) + "-" +
                                              std::to_string(wanted.offset + wanted.length - 1) + "/" + size);
  }
  response.body = http::FileBody{.fd = std::move(file.fd), .offset = wanted.offset, .length = wanted.length};
  return response;
}

base::Result<http::Response> WriteContent(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "existing", "parents", "mode"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const workspace::WriteOptions options, WriteOptionsOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const engine::Written written, access.files(session).Write(path, UploadOf(request), options));
  if (written.other_content)
    return ErrorAnswer({.status = 412, .code = "precondition_failed", .message = *written.other_content}, request.id);
  return JsonAnswer(200, ChangeToJson(written.change));
}

base::Result<http::Response> AppendContent(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const core::FileChange change, access.files(session).Append(path, UploadOf(request)));
  return JsonAnswer(200, ChangeToJson(change));
}

}  // namespace skerry::transport::v1
