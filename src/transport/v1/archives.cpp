// Archives into a session's files, and a session's files as an archive.
#include <array>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "base/unique_fd.hpp"
#include "os/files.hpp"
#include "transport/kit/archive_spool.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/file_json.hpp"
#include "transport/v1/file_routes.hpp"
#include "workspace/archive_export.hpp"
#include "workspace/archive_import.hpp"

namespace skerry::transport::v1 {
namespace {

using archive::ArchiveFormat;

struct FormatRow {
  std::string_view name;
  ArchiveFormat format;
  std::string_view type;
};
constexpr std::chrono::minutes kLongestExport{5};
constexpr std::array kFormats = {FormatRow{"tar", ArchiveFormat::kTar, "application/x-tar"},
                                 FormatRow{"tar.gz", ArchiveFormat::kTarGzip, "application/gzip"},
                                 FormatRow{"zip", ArchiveFormat::kZip, "application/zip"}};
constexpr std::array kFormatNames = {kFormats[0].name, kFormats[1].name, kFormats[2].name};

// Nothing when `format` is not in the query.
base::Result<const FormatRow*> FormatOf(const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const std::string name, WordOf(request, "format", kFormatNames, ""));
  for (const FormatRow& row : kFormats)
    if (row.name == name) return &row;
  return nullptr;
}

base::Result<workspace::ImportOptions> ImportOptionsOf(const http::Request& request) {
  workspace::ImportOptions options{.directory = DirectoryOf(request, "directory")};
  SKERRY_ASSIGN_OR_RETURN(options.existing, ExistingOf(request));
  SKERRY_ASSIGN_OR_RETURN(const FormatRow* format, FormatOf(request));
  if (format != nullptr) options.format = format->format;
  return options;
}

base::Result<http::Response> ImportArchive(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"directory", "format", "existing"}));
  SKERRY_ASSIGN_OR_RETURN(const workspace::ImportOptions options, ImportOptionsOf(request));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_RETURN_IF_ERROR(api.host.Admit(PrincipalOf(request)));
  base::UniqueFd memory;
  if (!request.body.file.valid()) {
    SKERRY_ASSIGN_OR_RETURN(memory, os::SealedMemory(request.body.bytes));
  }
  const int archive = memory.valid() ? memory.get() : request.body.file.get();
  const std::string what = "an archive into " + base::Printable(options.directory);
  const auto act = [&](engine::Session& files) { return files.Import(archive, options, what); };
  SKERRY_ASSIGN_OR_RETURN(const workspace::ImportReport report, ChangeFiles(*session, act));
  return JsonAnswer(200, ImportToJson(report));
}

// What came of an export besides the archive, for those who tell a person.
http::Headers HeadersOf(const FormatRow& format, const std::string& session, const workspace::ExportReport& report) {
  return {{"Content-Type", std::string(format.type)},
          {"Content-Disposition", "attachment; filename=\"" + session + "." + std::string(format.name) + "\""},
          {"X-Skerry-Entries", std::to_string(report.entries)},
          {"X-Skerry-Bytes", std::to_string(report.bytes)},
          {"X-Skerry-Skipped", std::to_string(report.skipped_count)}};
}

// Into a file first: an archive that fails half-way is an error, and a slow client does not hold the session.
base::Result<http::Response> ExportArchive(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"path", "format"}));
  SKERRY_ASSIGN_OR_RETURN(const FormatRow* given, FormatOf(request));
  const FormatRow& format = given == nullptr ? kFormats.front() : *given;
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  std::stop_source over;
  const std::stop_callback left(request.gone, [&over] { over.request_stop(); });
  const std::stop_callback removed(session->life().ending(), [&over] { over.request_stop(); });
  SKERRY_ASSIGN_OR_RETURN(kit::ArchiveSpool spool, kit::ArchiveSpool::Make(api.host.options().state_directory,
                                                                           over.get_token(), ShareOf(api, request)));
  const workspace::ExportOptions options{
      .path = DirectoryOf(request), .format = format.format, .deadline = base::Deadline::After(kLongestExport)};
  SKERRY_ASSIGN_OR_RETURN(const auto turn, api.exporting.Take(request.caller.tenant, over.get_token()));
  const auto look = [&](const workspace::AgentWorkspace& files) {
    return workspace::ExportArchive(files, options, spool);
  };
  SKERRY_ASSIGN_OR_RETURN(const workspace::ExportReport report, ReadFiles(*session, look));
  SKERRY_ASSIGN_OR_RETURN(kit::ArchiveSpool::Whole whole, std::move(spool).Finish());
  SKERRY_RETURN_IF_ERROR(
      api.host.NoteExport(PrincipalOf(request), *session, "archive of /" + options.path, whole.size));
  http::Response response{.status = 200, .headers = HeadersOf(format, session->name(), report)};
  response.body = http::FileBody{.fd = std::move(whole.file), .length = whole.size, .share = std::move(whole.share)};
  return response;
}

}  // namespace

std::vector<http::Route> ArchiveRoutes(Api& api) {
  const Audited imported{.how = Audited::How::kFirst,
                         .event = "files.imported",
                         .query = {"directory", "existing"},
                         .content = Audited::Content::kHashed};
  http::Route import = MakeRoute(api, "POST", "/sessions/{session}/files/import", kRunScope, imported, ImportArchive,
                                 http::BodyRule::kLarge);
  import.watch = http::Watch::kNo;
  return {std::move(import),
          MakeRoute(api, "GET", "/sessions/{session}/files/export", kReadScope, kExport, ExportArchive)};
}

}  // namespace skerry::transport::v1
