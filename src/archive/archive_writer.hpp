// What the writers of all formats have in common.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/byte_source.hpp"
#include "base/result.hpp"

namespace skerry::archive {

// A file, directory or link in an archive. `path` is relative, without a slash at its end; any bytes but NUL.
struct Member {
  std::string path;
  std::uint32_t mode = 0644;  // permissions
  timespec mtime{};
};

// Writes front to back and holds no content in memory. After an error the archive is of no use.
class ArchiveWriter {
 public:
  ArchiveWriter() = default;
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  virtual ~ArchiveWriter() = default;

  virtual base::Status AddDirectory(const Member& member) = 0;
  // A symbolic link, stored as such.
  virtual base::Status AddLink(const Member& member, std::string_view target) = 0;
  // Adds a file with the first `size` bytes of `content`. kConflict when there are fewer: the file became shorter
  // meanwhile.
  virtual base::Status AddFile(const Member& member, std::uint64_t size, ByteSource& content) = 0;
  // Writes the end of the archive. Called once, as the last call.
  virtual base::Status Finish() = 0;
};

}  // namespace skerry::archive
