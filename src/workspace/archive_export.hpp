// A workspace, or a part of it, as an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_reader.hpp"
#include "archive/byte_sink.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::workspace {

struct ExportOptions {
  std::string path;  // a directory, whose content is at the top of the archive, or one file or link
  archive::ArchiveFormat format = archive::ArchiveFormat::kTarGzip;
  std::size_t max_entries = 1'000'000;
  std::uint64_t max_bytes = std::uint64_t{16} << 30U;  // of all files, holes included
  base::Deadline deadline = base::Deadline::Never();
};

struct ExportReport {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped_count = 0;
  std::vector<std::string>
      skipped;  // sockets, fifos, devices, mounts, what this process may not read; the first hundred
};

// Writes the archive to `sink` while the workspace is read, in the order of the paths, in bounded memory. Links are
// stored as links, wherever they lead, and never followed. Files that Skerry itself is preparing are left out.
//
// After an error the bytes that were written are no archive: kConflict when a file became shorter or a directory was
// moved meanwhile, kTooLarge at a limit, kTimeout, kNotFound, and the errors of the sink.
base::Result<ExportReport> ExportArchive(const AgentWorkspace& workspace, const ExportOptions& options,
                                         archive::ByteSink& sink);

}  // namespace skerry::workspace
