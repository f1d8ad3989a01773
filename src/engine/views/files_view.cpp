#include "engine/views/files_view.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "engine/archive_spool.hpp"
#include "engine/hosted_session.hpp"
#include "engine/views/access.hpp"
#include "engine/views/turns.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "workspace/content.hpp"
#include "workspace/usage.hpp"

namespace skerry::engine {
namespace {

using workspace::AgentWorkspace;

constexpr std::size_t kPiece = std::size_t{256} << 10U;
constexpr std::chrono::minutes kLongestExport{5};

template <class Act>
auto ChangeFiles(HostedSession& hosted, const Act& act) -> std::invoke_result_t<const Act&, Session&> {
  std::optional<std::invoke_result_t<const Act&, Session&>> done;
  SKERRY_RETURN_IF_ERROR(hosted.life().Change([&](Session& files) -> base::Status {
    done.emplace(act(files));
    return {};
  }));
  return *std::move(done);
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

base::Status Feed(const Upload& content, workspace::FileWriter& writer) {
  if (content.IsFile()) return FeedFile(content.file, writer);
  for (std::string_view rest = content.bytes; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kPiece)))
    SKERRY_RETURN_IF_ERROR(writer.Write(rest.substr(0, kPiece)));
  return {};
}

// Adds the content's size and hash to a record's details.
base::Status AddContent(const Upload& content, Details& details) {
  details.push_back({"bytes", content.size});
  if (!content.IsFile()) {
    details.push_back({"sha256", base::Sha256Hex(content.bytes)});
    return {};
  }
  SKERRY_ASSIGN_OR_RETURN(const workspace::Content whole, workspace::ContentOf(content.file, content.size));
  details.push_back({"sha256", whole.sha256});
  return {};
}

// Whether the conflict is about the content, and not about a busy session.
bool IsOtherContent(const base::Result<core::FileChange>& written, const workspace::WriteOptions& options) {
  return !written && written.error().code == base::Code::kConflict && options.expected_sha256 &&
         options.existing == workspace::Existing::kReplace;
}

// For the audit. A long pattern is given by its beginning and its hash.
std::string WhatOf(const workspace::SearchOptions& options, const workspace::SearchResult& result) {
  constexpr std::size_t kLongest = 256;
  std::string what = std::to_string(result.matches.size()) + " matches";
  const auto tell = [&](const char* word, const std::string& text) {
    what += word + text.substr(0, kLongest);
    if (text.size() > kLongest) what += "… (sha256 " + base::Sha256Hex(text) + ")";
  };
  if (options.pattern) tell(" of ", *options.pattern);
  tell(" in ", options.path);
  if (!options.glob.empty()) tell(" by ", options.glob);
  return what;
}

std::string_view WordOf(workspace::Existing existing) {
  return existing == workspace::Existing::kKeep ? "keep" : "replace";
}

}  // namespace

// Gives what `look` finds in the files as programs see them now.
template <class Look>
auto FilesView::Reading(const HostedSession& hosted, const Look& look) const {
  using Found = std::invoke_result_t<const Look&, const AgentWorkspace&>;
  std::optional<Found> found;
  const auto read = hosted.life().Read([&](const AgentWorkspace& files) -> base::Status {
    found.emplace(look(files));
    return {};
  });
  return read ? *std::move(found) : Found(std::unexpected(read.error()));
}

template <class Act>
auto FilesView::Making(const char* event, const Details& details, const Act& act) const {
  using Done = std::invoke_result_t<const Act&, Session&>;
  return Allowed(kToRun, session_, [&](HostedSession& hosted) {
    return Recorded({.event = event, .session = hosted.id()}, details, [&]() -> Done {
      if (auto admitted = Admit(); !admitted) return std::unexpected(std::move(admitted).error());
      return ChangeFiles(hosted, act);
    });
  });
}

base::Result<workspace::Listing> FilesView::List(const std::string& path, const workspace::ListOptions& options) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) {
    return Reading(hosted, [&](const AgentWorkspace& files) { return files.List(path, options); });
  });
}

base::Result<workspace::Entry> FilesView::Stat(const std::string& path) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) {
    return Reading(hosted, [&](const AgentWorkspace& files) { return files.Stat(path); });
  });
}

base::Result<WorkspaceUsage> FilesView::Usage() const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) {
    return Reading(hosted, [](const AgentWorkspace& files) -> base::Result<WorkspaceUsage> {
      SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, workspace::CountUsage(files.root()));
      return WorkspaceUsage{usage.bytes, usage.entries, files.options().max_bytes};
    });
  });
}

base::Result<FileBytes> FilesView::Read(const std::string& path, const ChoosePart& choose) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) -> base::Result<FileBytes> {
    const auto open = [&](const AgentWorkspace& files) -> base::Result<FileBytes> {
      SKERRY_ASSIGN_OR_RETURN(const workspace::FileReader reader, files.OpenFile(path));
      base::UniqueFd fd(::fcntl(reader.fd(), F_DUPFD_CLOEXEC, 0));
      if (!fd.valid()) return os::ErrnoErr("open the file again");
      return FileBytes{.size = reader.size(), .part = choose(reader.size()), .fd = std::move(fd)};
    };
    SKERRY_ASSIGN_OR_RETURN(FileBytes found, Reading(hosted, open));
    if (!found.part) return FileBytes{.size = found.size, .part = std::nullopt, .fd = {}};
    SKERRY_RETURN_IF_ERROR(RecordExport(hosted, "file " + path, found.part->length));
    return found;
  });
}

base::Result<workspace::Lines> FilesView::ReadLines(const std::string& path, const workspace::LineRange& range,
                                                    std::size_t most_text) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) -> base::Result<workspace::Lines> {
    const auto look = [&](const AgentWorkspace& files) { return files.ReadLines(path, range, most_text); };
    SKERRY_ASSIGN_OR_RETURN(workspace::Lines lines, Reading(hosted, look));
    if (lines.count == 0) return lines;
    const std::string what =
        "lines " + std::to_string(lines.first) + " to " + std::to_string(lines.first + lines.count - 1) + " of " + path;
    SKERRY_RETURN_IF_ERROR(RecordExport(hosted, what, lines.text.size()));
    return lines;
  });
}

base::Result<workspace::SearchResult> FilesView::Search(const workspace::SearchOptions& options,
                                                        const WeighResult& weigh, const std::stop_token& stop) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) -> base::Result<workspace::SearchResult> {
    SKERRY_ASSIGN_OR_RETURN(const auto turn, turns().searching.Take(principal().tenant, stop));
    const auto look = [&](const AgentWorkspace& files) { return workspace::Search(files, options); };
    SKERRY_ASSIGN_OR_RETURN(workspace::SearchResult result, Reading(hosted, look));
    SKERRY_RETURN_IF_ERROR(RecordExport(hosted, WhatOf(options, result), weigh(result)));
    return result;
  });
}

// Packed into a file first: an archive that fails half-way is an error, a slow client does not hold the session, and
// nothing is handed out before its record.
base::Result<ExportedFiles> FilesView::Export(const std::string& path, archive::ArchiveFormat format,
                                              const std::stop_token& stop) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) -> base::Result<ExportedFiles> {
    std::stop_source over;
    const std::stop_callback left(stop, [&over] { over.request_stop(); });
    const std::stop_callback removed(hosted.life().ending(), [&over] { over.request_stop(); });
    SKERRY_ASSIGN_OR_RETURN(ArchiveSpool spool, access().MakeSpool(over.get_token()));
    const workspace::ExportOptions options{
        .path = path, .format = format, .deadline = base::Deadline::After(kLongestExport)};
    SKERRY_ASSIGN_OR_RETURN(const auto turn, turns().exporting.Take(principal().tenant, over.get_token()));
    const auto look = [&](const AgentWorkspace& files) { return workspace::ExportArchive(files, options, spool); };
    SKERRY_ASSIGN_OR_RETURN(workspace::ExportReport report, Reading(hosted, look));
    SKERRY_ASSIGN_OR_RETURN(ArchiveSpool::Whole whole, std::move(spool).Finish());
    SKERRY_RETURN_IF_ERROR(RecordExport(hosted, "archive of /" + path, whole.size));
    return ExportedFiles{std::move(whole.file), whole.size, std::move(whole.share), std::move(report)};
  });
}

base::Result<Written> FilesView::Write(const std::string& path, const Upload& content,
                                       const workspace::WriteOptions& options) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) -> base::Result<Written> {
    const Deed deed{.event = "files.written", .session = hosted.id()};
    Details details = {{"path", ForAudit(path)}};
    SKERRY_RETURN_IF_ERROR(AddContent(content, details));
    return Recorded(deed, details, [&]() -> base::Result<Written> {
      SKERRY_RETURN_IF_ERROR(Admit());
      bool other_content = false;
      auto written = ChangeFiles(hosted, [&](Session& files) {
        const auto feed = [&](workspace::FileWriter& writer) { return Feed(content, writer); };
        auto result = files.WriteStream(path, options, feed);
        other_content = IsOtherContent(result, options);
        return result;
      });
      if (written) return Written{.change = *std::move(written), .other_content = std::nullopt};
      if (!other_content) return std::unexpected(std::move(written).error());
      constexpr int kPreconditionFailed = 412;
      RecordFailure(deed, kPreconditionFailed);
      return Written{.change = {}, .other_content = std::move(written).error().message};
    });
  });
}

base::Result<core::FileChange> FilesView::Append(const std::string& path, const Upload& content) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) -> base::Result<core::FileChange> {
    Details details = {{"path", ForAudit(path)}};
    SKERRY_RETURN_IF_ERROR(AddContent(content, details));
    return Recorded({.event = "files.appended", .session = hosted.id()}, details,
                    [&]() -> base::Result<core::FileChange> {
                      SKERRY_RETURN_IF_ERROR(Admit());
                      std::string from_file;
                      if (content.IsFile()) {
                        SKERRY_ASSIGN_OR_RETURN(from_file, os::ReadAll(content.file, kMostAppended));
                      }
                      const std::string_view bytes = content.IsFile() ? from_file : content.bytes;
                      return ChangeFiles(hosted, [&](Session& files) { return files.Append(path, bytes); });
                    });
  });
}

base::Result<AgentWorkspace::Edited> FilesView::Edit(const FileEdit& edit) const {
  const Details details = {
      {"path", ForAudit(edit.path)}, {"bytes", edit.as_sent.size()}, {"sha256", base::Sha256Hex(edit.as_sent)}};
  return Making("files.edited", details,
                [&](Session& files) { return files.Edit(edit.path, edit.edits, edit.expected_sha256); });
}

base::Result<workspace::Entry> FilesView::MakeDirectory(const std::string& path, workspace::Parents parents) const {
  return Making("files.directory_made", {{"path", ForAudit(path)}},
                [&](Session& files) -> base::Result<workspace::Entry> {
                  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(path, parents));
                  return files.files().Stat(path);
                });
}

// In the audit `from` is the address of the principal, so the paths are `path` and `to`.
base::Result<FilesView::Changes> FilesView::Move(const std::string& from, const std::string& to,
                                                 workspace::Existing existing) const {
  return Making("files.moved", {{"path", ForAudit(from)}, {"to", ForAudit(to)}},
                [&](Session& files) { return files.Move(from, to, existing); });
}

base::Result<FilesView::Changes> FilesView::Copy(const std::string& from, const std::string& to,
                                                 workspace::Existing existing) const {
  return Making("files.copied", {{"path", ForAudit(from)}, {"to", ForAudit(to)}},
                [&](Session& files) { return files.Copy(from, to, existing); });
}

// A tenant that has no room for a record may still delete.
base::Result<FilesView::Changes> FilesView::Delete(const std::string& path,
                                                   std::optional<workspace::Depth> depth) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) {
    Details details = {{"path", ForAudit(path)}};
    if (depth) details.push_back({"recursive", *depth == workspace::Depth::kAll ? "true" : "false"});
    const Deed deed{.event = "files.deleted", .session = hosted.id(), .weight = Deed::Weight::kEnding};
    return Recorded(deed, details, [&] {
      return ChangeFiles(hosted,
                         [&](Session& files) { return files.Delete(path, depth.value_or(workspace::Depth::kOne)); });
    });
  });
}

base::Result<workspace::ImportReport> FilesView::Import(const Upload& archive, const NewImport& wanted) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) -> base::Result<workspace::ImportReport> {
    Details details;
    if (wanted.directory) details.push_back({"directory", ForAudit(*wanted.directory)});
    if (wanted.existing) details.push_back({"existing", std::string(WordOf(*wanted.existing))});
    SKERRY_RETURN_IF_ERROR(AddContent(archive, details));
    const workspace::ImportOptions options{.directory = wanted.directory.value_or("/"),
                                           .format = wanted.format,
                                           .existing = wanted.existing.value_or(workspace::Existing::kReplace)};
    return Recorded({.event = "files.imported", .session = hosted.id()}, details,
                    [&]() -> base::Result<workspace::ImportReport> {
                      SKERRY_RETURN_IF_ERROR(Admit());
                      base::UniqueFd memory;
                      if (!archive.IsFile()) {
                        SKERRY_ASSIGN_OR_RETURN(memory, os::SealedMemory(archive.bytes));
                      }
                      const int file = archive.IsFile() ? archive.file : memory.get();
                      const std::string what = "an archive into " + base::Printable(options.directory);
                      return ChangeFiles(hosted, [&](Session& files) { return files.Import(file, options, what); });
                    });
  });
}

}  // namespace skerry::engine
