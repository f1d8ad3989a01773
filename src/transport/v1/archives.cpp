// Archives into a session's files, and a session's files as an archive.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/views/files_view.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"

namespace skerry::transport::v1 {
namespace {

using archive::ArchiveFormat;

struct FormatRow {
  std::string_view name;
  ArchiveFormat format;
  std::string_view type;
};
constexpr std::array kFormats = {FormatRow{"tar", ArchiveFormat::kTar, "application/x-tar"},
                                 FormatRow{"tar.gz", ArchiveFormat::kTarGzip, "application/gzip"},
                                 FormatRow{"zip", ArchiveFormat::kZip, "application/zip"}};
constexpr std::array kFormatNames = {kFormats[0].name, kFormats[1].name, kFormats[2].name};

// nullptr when `format` is not in the query.
base::Result<const FormatRow*> FormatOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const std::string name, WordOf(request, "format", kFormatNames, ""));
  for (const FormatRow& row : kFormats)
    if (row.name == name) return &row;
  return nullptr;
}

base::Result<http::Response> ImportArchive(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"directory", "format", "existing"}));
  engine::NewImport wanted{.directory = request.head.query.Find("directory")};
  SKERRY_ASSIGN_OR_RETURN(const workspace::Existing existing, ExistingOf(request));
  if (request.head.query.Find("existing")) wanted.existing = existing;
  SKERRY_ASSIGN_OR_RETURN(const FormatRow* format, FormatOf(request));
  if (format != nullptr) wanted.format = format->format;
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const workspace::ImportReport report,
                          access.files(session).Import(UploadOf(request), wanted));
  return JsonAnswer(200, ImportToJson(report));
}

// Counts of the export besides the archive, for clients that report them.
http::Headers HeadersOf(const FormatRow& format, const std::string& session, const workspace::ExportReport& report) {
  return {{"Content-Type", std::string(format.type)},
          {"Content-Disposition", "attachment; filename=\"" + session + "." + std::string(format.name) + "\""},
          {"X-Skerry-Entries", std::to_string(report.entries)},
          {"X-Skerry-Bytes", std::to_string(report.bytes)},
          {"X-Skerry-Skipped", std::to_string(report.skipped_count)}};
}

base::Result<http::Response> ExportArchive(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "format"}));
  SKERRY_ASSIGN_OR_RETURN(const FormatRow* given, FormatOf(request));
  const FormatRow& format = given == nullptr ? kFormats.front() : *given;
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(engine::ExportedFiles archive,
                          access.files(session).Export(DirectoryOf(request), format.format, request.gone));
  http::Response response{.status = 200, .headers = HeadersOf(format, session.name(), archive.report)};
  response.body =
      http::FileBody{.fd = std::move(archive.file), .length = archive.size, .share = std::move(archive.share)};
  return response;
}

}  // namespace

std::vector<http::Route> ArchiveRoutes(Api& api) {
  http::Route import =
      MakeRoute(api, "POST", "/sessions/{session}/files/import", engine::kToRun, ImportArchive, http::BodyRule::kLarge);
  import.watch = http::Watch::kNo;
  return {std::move(import), MakeRoute(api, "GET", "/sessions/{session}/files/export", engine::kToRead, ExportArchive)};
}

}  // namespace skerry::transport::v1
