#include "workspace/archive_import.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "archive/entry_path.hpp"
#include "workspace/archive_names.hpp"
#include "workspace/beneath.hpp"
#include "workspace/import_undo.hpp"
#include "workspace/link_check.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

using archive::ArchiveEntry;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

base::Status CheckTime(const base::Deadline& deadline) {
  if (!deadline.Expired()) return {};
  return base::Err(base::Code::kTimeout, "the archive took too long to unpack; nothing of it was kept");
}

// Checks a link by its text only; it is checked again when it is made, at its real place.
base::Status CheckLink(const std::string& directory, const ArchiveEntry& entry) {
  if (entry.kind != archive::EntryKind::kSymbolicLink) return {};
  const std::string path = JoinPath(directory, entry.path);
  if (LinkObstacle(path, entry.link_target, LinkRule::kOwn).empty()) return {};
  return base::Err(base::Code::kPathTraversal, "the archive is refused: " + archive::QuotedPath(entry.path) +
                                                   " is a link to " + archive::QuotedPath(entry.link_target) +
                                                   ", which leads out of the workspace");
}

// Reads the whole archive and keeps only the names.
base::Result<ArchiveNames> LookThrough(int archive_fd, archive::ArchiveFormat format, const std::string& directory,
                                       const ImportOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const auto reader, archive::ArchiveReader::Open(archive_fd, format, options.limits));
  ArchiveNames names(options.limits.max_entries, options.limits.max_total_bytes);
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::optional<ArchiveEntry> entry, reader->Next());
    if (!entry) return names;
    SKERRY_RETURN_IF_ERROR(names.Add(*entry));
    SKERRY_RETURN_IF_ERROR(CheckLink(directory, *entry));
    for (std::size_t count = 1; count > 0;) {
      SKERRY_RETURN_IF_ERROR(CheckTime(options.deadline));
      if (entry->kind != archive::EntryKind::kFile) break;
      SKERRY_ASSIGN_OR_RETURN(count, reader->ReadContent(piece));
    }
  }
}

class Unpacker {
 public:
  Unpacker(AgentWorkspace& workspace, const ImportOptions& options, const ArchiveNames& names, std::string directory)
      : workspace_(workspace), options_(options), names_(names), directory_(std::move(directory)), undo_(workspace) {}

  base::Result<ImportReport> Run(archive::ArchiveReader& reader) {
    SKERRY_RETURN_IF_ERROR(NeedDirectory(directory_));
    for (;;) {
      SKERRY_ASSIGN_OR_RETURN(const std::optional<ArchiveEntry> entry, reader.Next());
      if (!entry) break;
      SKERRY_RETURN_IF_ERROR(CheckTime(options_.deadline));
      ++report_.entries;
      SKERRY_RETURN_IF_ERROR(Put(*entry, reader));
    }
    undo_.Keep();
    return std::move(report_);
  }

 private:
  base::Status Put(const ArchiveEntry& entry, archive::ArchiveReader& reader) {
    const std::string path = JoinPath(directory_, entry.path);
    if (entry.path.empty()) return {};
    if (entry.kind == archive::EntryKind::kDirectory) return NeedDirectory(path);
    SKERRY_RETURN_IF_ERROR(NeedDirectory(std::string(ParentOf(path))));
    SKERRY_ASSIGN_OR_RETURN(const std::optional<Entry> present, Present(path));
    if (present && present->kind == EntryKind::kDirectory)
      return NamedErr(path, base::Code::kConflict, "is a directory; the archive has a file of that name");
    const bool target_stays = entry.kind == archive::EntryKind::kHardLink && stayed_.contains(entry.link_target);
    if ((present && options_.existing == Existing::kKeep) || target_stays) {
      stayed_.insert(entry.path);
      report_.skipped.push_back(path);
      return {};
    }
    if (present) SKERRY_RETURN_IF_ERROR(undo_.Replacing(path));
    SKERRY_ASSIGN_OR_RETURN(core::FileChange change, Make(entry, path, reader));
    if (!present) undo_.Made(path);
    change.action = present ? core::FileAction::kChanged : core::FileAction::kCreated;
    report_.changes.push_back(std::move(change));
    return {};
  }

  base::Result<core::FileChange> Make(const ArchiveEntry& entry, const std::string& path,
                                      archive::ArchiveReader& reader) {
    if (entry.kind == archive::EntryKind::kSymbolicLink)
      return workspace_.MakeLink(path, entry.link_target, options_.existing);
    // The owner can read every unpacked file.
    const std::uint32_t mode = (entry.mode & 0777U) | 0400U;
    WriteOptions write{.existing = options_.existing, .parents = Parents::kNeed, .mode = mode};
    SKERRY_ASSIGN_OR_RETURN(FileWriter writer, workspace_.BeginWrite(path, write));
    if (entry.kind == archive::EntryKind::kHardLink) {
      SKERRY_RETURN_IF_ERROR(CopyFrom(entry.link_target, writer));
    } else {
      SKERRY_RETURN_IF_ERROR(CopyFrom(reader, writer));
    }
    return writer.Finish();
  }

  base::Status CopyFrom(archive::ArchiveReader& reader, FileWriter& writer) {
    std::vector<char> piece(kPieceBytes);
    for (;;) {
      SKERRY_RETURN_IF_ERROR(CheckTime(options_.deadline));
      SKERRY_ASSIGN_OR_RETURN(const std::size_t count, reader.ReadContent(piece));
      if (count == 0) return {};
      report_.bytes += count;
      SKERRY_RETURN_IF_ERROR(writer.Write({piece.data(), count}));
    }
  }

  base::Status CopyFrom(const std::string& target, FileWriter& writer) {
    const std::uint64_t size = names_.SizeOf(target);
    SKERRY_ASSIGN_OR_RETURN(const FileReader file, workspace_.OpenFile(JoinPath(directory_, target)));
    for (std::uint64_t at = 0; at < size;) {
      SKERRY_RETURN_IF_ERROR(CheckTime(options_.deadline));
      const std::uint64_t wanted = std::min<std::uint64_t>(size - at, kPieceBytes);
      SKERRY_ASSIGN_OR_RETURN(const std::string piece, file.ReadAt(at, static_cast<std::size_t>(wanted)));
      if (piece.empty()) return NamedErr(target, base::Code::kConflict, "changed while the archive was unpacked");
      at += piece.size();
      SKERRY_RETURN_IF_ERROR(writer.Write(piece));
    }
    report_.bytes += size;
    return {};
  }

  // The entry at the path, or nothing.
  base::Result<std::optional<Entry>> Present(const std::string& path) const {
    auto entry = workspace_.Stat(path);
    if (entry) return std::move(*entry);
    if (entry.error().code == base::Code::kNotFound) return std::nullopt;
    return std::unexpected(std::move(entry).error());
  }

  // Makes the missing directories of a path, one by one, so that each can be taken back.
  base::Status NeedDirectory(const std::string& path) {
    if (there_.contains(path)) return {};
    for (std::size_t at = 0; at < path.size();) {
      at = std::min(path.find('/', at + 1), path.size());
      const std::string part = path.substr(0, at);
      if (there_.insert(part).second) SKERRY_RETURN_IF_ERROR(NeedOne(part));
    }
    return {};
  }

  base::Status NeedOne(const std::string& path) {
    SKERRY_ASSIGN_OR_RETURN(const std::optional<Entry> present, Present(path));
    if (!present) {
      SKERRY_RETURN_IF_ERROR(workspace_.MakeDirectory(path, Parents::kNeed));
      undo_.Made(path);
      return {};
    }
    // The caller may name the destination by a link; an archive may not go through one.
    const bool asked_for = !IsBelow(path, directory_);
    if (present->kind == EntryKind::kDirectory || (asked_for && present->kind == EntryKind::kLink)) return {};
    return NamedErr(path, base::Code::kConflict, "is no directory; the archive has one of that name");
  }

  AgentWorkspace& workspace_;
  const ImportOptions& options_;
  const ArchiveNames& names_;
  std::string directory_;
  ImportUndo undo_;
  ImportReport report_;
  std::unordered_set<std::string> there_;   // directories that exist
  std::unordered_set<std::string> stayed_;  // paths in the archive whose place was taken
};

// A check before anything is written: better than an error after a gigabyte.
base::Status CheckQuota(const AgentWorkspace& workspace, const ArchiveNames& names) {
  SKERRY_ASSIGN_OR_RETURN(const Usage usage, workspace.CurrentUsage());
  const WorkspaceOptions& limits = workspace.options();
  if (usage.bytes <= limits.max_bytes && names.bytes() <= limits.max_bytes - usage.bytes) return {};
  return base::Err(base::Code::kTooLarge, "the archive unpacks to " + std::to_string(names.bytes()) +
                                              " bytes; the workspace holds " + std::to_string(usage.bytes) + " of " +
                                              std::to_string(limits.max_bytes));
}

}  // namespace

base::Result<ImportReport> ImportArchive(AgentWorkspace& workspace, int archive_fd, const ImportOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(std::string directory, Named(options.directory, MapPath(options.directory)));
  SKERRY_ASSIGN_OR_RETURN(const archive::ArchiveFormat detected, archive::DetectFormat(archive_fd));
  const archive::ArchiveFormat format = options.format.value_or(detected);
  SKERRY_ASSIGN_OR_RETURN(const ArchiveNames names, LookThrough(archive_fd, format, directory, options));
  SKERRY_RETURN_IF_ERROR(CheckQuota(workspace, names));
  SKERRY_ASSIGN_OR_RETURN(const auto reader, archive::ArchiveReader::Open(archive_fd, format, options.limits));
  return Unpacker(workspace, options, names, std::move(directory)).Run(*reader);
}

}  // namespace skerry::workspace
