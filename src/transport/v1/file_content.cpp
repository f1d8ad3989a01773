// The bytes of a file: reading all or a part of them, writing them, putting some behind them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "transport/http/text.hpp"
#include "transport/kit/byte_range.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;

struct OpenedFile {
  base::UniqueFd fd;
  std::uint64_t size = 0;
};

// It stays the same file whatever becomes of its name, and is sent when the session is not held any more.
base::Result<OpenedFile> Open(const workspace::AgentWorkspace& files, const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const workspace::FileReader reader, files.OpenFile(path));
  base::UniqueFd fd(::fcntl(reader.fd(), F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return os::ErrnoErr("open the file again");
  return OpenedFile{.fd = std::move(fd), .size = reader.size()};
}

// There is no validator that If-Range could name, so what it names is not what is there.
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

base::Status FeedFile(int file, workspace::FileWriter& writer) {
  std::string piece(kPiece, '\0');
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file, piece.data(), piece.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("read the body");
    if (count == 0) return {};
    SKERRY_RETURN_IF_ERROR(writer.Write({piece.data(), static_cast<std::size_t>(count)}));
    at += count;
  }
}

base::Status Feed(const http::Body& body, workspace::FileWriter& writer) {
  if (body.file.valid()) return FeedFile(body.file.get(), writer);
  for (std::string_view rest = body.bytes; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kPiece)))
    SKERRY_RETURN_IF_ERROR(writer.Write(rest.substr(0, kPiece)));
  return {};
}

// Whether it is the content that is another one, and not the session that is busy.
bool IsOtherContent(const base::Result<core::FileChange>& written, const workspace::WriteOptions& options) {
  return !written && written.error().code == base::Code::kConflict && options.expected_sha256 &&
         options.existing == workspace::Existing::kReplace;
}

}  // namespace

base::Result<http::Response> ReadContent(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto look = [&](const workspace::AgentWorkspace& files) { return Open(files, path); };
  SKERRY_ASSIGN_OR_RETURN(OpenedFile file, ReadFiles(*session, look));
  const kit::WantedBytes wanted = WantedOf(request, file.size);
  if (wanted.kind == kit::WantedBytes::Kind::kNowhere) return NoSuchBytes(request, file.size);
  SKERRY_RETURN_IF_ERROR(api.host.NoteExport(PrincipalOf(request), *session, "file " + path, wanted.length));
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
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  bool other_content = false;
  const auto written = ChangeFiles(*session, [&](engine::Session& files) {
    const auto feed = [&](workspace::FileWriter& writer) { return Feed(request.body, writer); };
    auto result = files.WriteStream(path, options, feed);
    other_content = IsOtherContent(result, options);
    return result;
  });
  if (other_content)
    return ErrorAnswer({.status = 412, .code = "precondition_failed", .message = written.error().message}, request.id);
  if (!written) return std::unexpected(written.error());
  return JsonAnswer(200, ChangeToJson(*written));
}

base::Result<http::Response> AppendContent(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  std::string from_file;
  if (request.body.file.valid()) {
    SKERRY_ASSIGN_OR_RETURN(from_file, os::ReadAll(request.body.file.get(), kMostAppended));
  }
  const std::string& bytes = request.body.file.valid() ? from_file : request.body.bytes;
  const auto act = [&](engine::Session& files) { return files.Append(path, bytes); };
  SKERRY_ASSIGN_OR_RETURN(const core::FileChange change, ChangeFiles(*session, act));
  return JsonAnswer(200, ChangeToJson(change));
}

}  // namespace skerry::transport::v1
