// The bytes of an open file, and what a record says about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::workspace {

// Up to `size` bytes at `offset` into `buffer`; fewer only at the end of the file.
base::Result<std::size_t> ReadInto(int fd, std::uint64_t offset, char* buffer, std::size_t size);

struct Content {
  std::uint64_t size = 0;
  std::string sha256;
};
// Size and hash of the whole file, read block by block. More than `limit` bytes, holes included, are kTooLarge: a file
// of nothing but holes can be so long that reading it never ends. kUnavailable when `stop` was requested.
base::Result<Content> ContentOf(int fd, std::uint64_t limit, const std::stop_token& stop = {});

// What a record says of the file or link `name` in a directory. Nothing for anything else. `budget` is how many bytes
// may be read; the bytes that were read are taken off it.
base::Result<std::optional<core::FileChange>> Describe(int directory, const std::string& name,
                                                       const MountBorder& border, std::uint64_t& budget);

}  // namespace skerry::workspace
