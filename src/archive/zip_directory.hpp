// The table of contents of a zip archive, read strictly: what two programs could understand in two ways is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "archive/entry_kind.hpp"
#include "base/result.hpp"

namespace skerry::archive {

struct ZipEntry {
  EntryKind kind = EntryKind::kFile;
  std::string path;        // relative; no part of it is "", "." or ".."; "" is the top itself
  std::uint64_t size = 0;  // unpacked; 0 for directories
  std::uint64_t compressed = 0;
  std::uint32_t mode = 0;  // 12 bits

  std::string stored_name;  // as it stands there
  std::uint16_t method = 0;
  unsigned flags = 0;
  std::uint32_t checksum = 0;
  std::uint64_t offset = 0;   // of its local header
  std::uint64_t content = 0;  // where its content begins
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;
  std::uint64_t start = 0;  // where the table begins and the entries end
};

// `fd` is a seekable file, borrowed; the archive is the whole file. kTooLarge for more than `max_entries` or a table of
// more than 64 MB, kPathTraversal for a name that leads out, kInvalidArgument for everything else that is wrong:
// encryption, several disks, methods other than stored and deflated, a backslash or a NUL in a name, a name that is
// there twice.
base::Result<ZipDirectory> ReadZipDirectory(int fd, std::size_t max_entries);

// Compares each entry of the table with the local header before its content, and sets `content`. Refused are entries
// that overlap or lie outside of the archive, and entries whose table row and local header do not say the same.
base::Status CheckLocalHeaders(int fd, ZipDirectory& directory);

}  // namespace skerry::archive
