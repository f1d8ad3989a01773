// The bytes of files, with their holes.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace skerry::workspace {

// Copies the first `size` bytes of `from` into the empty file `to`. Holes stay holes. Returns how many bytes were
// written; more than `limit` are kTooLarge.
base::Result<std::uint64_t> CopyContent(int from, int to, std::uint64_t size, std::uint64_t limit);

// Whether the first `size` bytes are the same. A file that cannot be read is not.
bool SameContent(int left, int right, std::uint64_t size);

}  // namespace skerry::workspace
