// Unpacking an archive into a workspace: all of it, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_reader.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::workspace {

struct ImportOptions {
  std::string directory;                                        // where to; made when it is missing
  std::optional<archive::ArchiveFormat> format = std::nullopt;  // else by the first bytes
  // What becomes of a file or link that is in the way. kReplace: the archive's file takes its place. kKeep: it stays,
  // and is named in the report. Neither replaces a directory.
  Existing existing = Existing::kReplace;
  archive::ArchiveLimits limits = {};
  base::Deadline deadline = base::Deadline::Never();
};

struct ImportReport {
  std::vector<core::FileChange> changes;
  std::uint64_t entries = 0;  // files, links and directories of the archive
  std::uint64_t bytes = 0;    // of files
  std::vector<std::string> skipped;
};

// `archive_fd` is a seekable file, borrowed: it is read twice, first to look whether all of it is sound, so that an
// archive that is refused has touched nothing. When something fails later (the quota, the disk, a program inside that
// gets in the way) what was done is taken back.
//
// kPathTraversal: an absolute path, "..", a link that leads out of the workspace, a path through a link. kTooLarge: a
// limit, or the quota. kConflict: a directory is in the place of a file or the other way round, or a link is in the
// place of a directory. kInvalidArgument: devices, fifos, hard links to what is no earlier file of the archive, an
// archive that is damaged or not read here. kTimeout.
//
// Hard links become copies. Owners, times and the modes of directories are not taken over, nor are set-id bits.
base::Result<ImportReport> ImportArchive(AgentWorkspace& workspace, int archive_fd, const ImportOptions& options);

}  // namespace skerry::workspace
