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
// Of the whole file, block by block. More than `limit` bytes, holes included, are kTooLarge: a file of nothing but
// holes can be so long that reading it never ends.
// kUnavailable when `stop` was asked for.
base::Result<Content> ContentOf(int fd, std::uint64_t limit, const std::stop_token& stop = {});

// What is now `name` in a directory. Nothing for what is neither a file nor a link. `budget` of bytes to read; what is
// used of it is taken off.
base::Result<std::optional<core::FileChange>> Describe(int directory, const std::string& name,
                                                       const MountBorder& border, std::uint64_t& budget);

}  // namespace skerry::workspace
