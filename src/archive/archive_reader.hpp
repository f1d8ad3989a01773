// An archive of any format that is read here, with limits against those that are made to do harm.
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

// By the first bytes. What is neither gzip nor zip is a tar archive, or none: that shows when it is read.
base::Result<ArchiveFormat> DetectFormat(int fd);

struct ArchiveLimits {
  std::size_t max_entries = 50'000;
  std::uint64_t max_total_bytes = std::uint64_t{2} << 30U;  // unpacked
  std::uint64_t max_file_bytes = std::uint64_t{1} << 30U;
  std::uint64_t max_ratio = 200;  // bytes out of each byte in, once it is more than 1 MB
};

struct ArchiveEntry {
  EntryKind kind = EntryKind::kFile;
  std::string path;         // relative; no part of it is "", "." or ".."; "" is the top itself
  std::string link_target;  // of a symbolic link as it stands there, of a hard link like `path`
  std::uint64_t size = 0;   // of a file
  std::uint32_t mode = 0;   // 12 bits
};

// kTooLarge at a limit, before anything beyond it is given; kPathTraversal for an absolute path and for "..";
// kInvalidArgument for what is damaged or not read here. Memory stays below 200 MB whatever the archive says.
class ArchiveReader {
 public:
  ArchiveReader() = default;
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  virtual ~ArchiveReader() = default;

  // `fd` is a seekable file, borrowed; the archive is all of it, wherever its position is. tar may be compressed with
  // gzip or zstd.
  static base::Result<std::unique_ptr<ArchiveReader>> Open(int fd, ArchiveFormat format, const ArchiveLimits& limits);

  // The next entry, or nothing at the end.
  virtual base::Result<std::optional<ArchiveEntry>> Next() = 0;
  // The content of the present file: at least one byte, 0 at its end, which is where it is found to be damaged.
  virtual base::Result<std::size_t> ReadContent(std::span<char> buffer) = 0;
};

}  // namespace skerry::archive
