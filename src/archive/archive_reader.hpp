// Reads an archive of any format that Skerry knows, with limits against archives that are made to do harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "archive/entry_kind.hpp"
#include "base/result.hpp"

namespace skerry::archive {

enum class ArchiveFormat { kTar, kTarGzip, kZip };

// The format by the first bytes. What is neither gzip nor zip counts as a tar archive; whether it is one shows when it
// is read.
base::Result<ArchiveFormat> DetectFormat(int fd);

struct ArchiveLimits {
  std::size_t max_entries = 50'000;
  std::uint64_t max_total_bytes = std::uint64_t{2} << 30U;  // unpacked
  std::uint64_t max_file_bytes = std::uint64_t{1} << 30U;
  std::uint64_t max_ratio = 200;  // unpacked bytes for each packed byte, once more than 1 MB came out
};

struct ArchiveEntry {
  EntryKind kind = EntryKind::kFile;
  std::string path;         // relative; no part of it is "", "." or ".."; "" is the top itself
  std::string link_target;  // of a symbolic link as it stands there, of a hard link like `path`
  std::uint64_t size = 0;   // of a file
  std::uint32_t mode = 0;   // 12 bits
};

// Errors of all functions: kTooLarge at a limit, before anything beyond the limit is given; kPathTraversal for an
// absolute path and for ".."; kInvalidArgument for an archive that is damaged or of a kind that is not read here.
// Memory stays below 200 MB whatever the archive says.
class ArchiveReader {
 public:
  ArchiveReader() = default;
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  virtual ~ArchiveReader() = default;

  // `fd` is a seekable file, borrowed; the archive is the whole file, wherever the descriptor's position is. tar may be
  // compressed with gzip or zstd.
  static base::Result<std::unique_ptr<ArchiveReader>> Open(int fd, ArchiveFormat format, const ArchiveLimits& limits);

  // The next entry, or nothing at the end.
  virtual base::Result<std::optional<ArchiveEntry>> Next() = 0;
  // The next bytes of the present file's content: at least one; 0 at the end of the content, which is where damage is
  // found.
  virtual base::Result<std::size_t> ReadContent(std::span<char> buffer) = 0;
};

}  // namespace skerry::archive
