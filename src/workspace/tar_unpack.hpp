// Unpacking a tar archive from a stranger into a directory that strangers write to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "base/byte_source.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::workspace {

struct UnpackLimits {
  std::uint64_t max_bytes = std::uint64_t{16} << 30U;  // of all files
  std::size_t max_entries = 1'000'000;
  base::Deadline deadline = base::Deadline::Never();
  std::stop_token stop;
};

// Each entry takes the place of what is there, also of another kind; directories that are there stay, with what is in
// them. `root` is borrowed. No link is followed on the way, nothing outside `root` is touched. Files, links and
// directories only: other entries are passed over, a hard link is kInvalidArgument. What is made belongs to the owner
// of the directory that it is made in. A file appears whole or not at all; after an error the entries before it are
// there.
//
// kPathTraversal for "..", kTooLarge at a limit, kTimeout, kInvalidArgument for what is no tar archive.
base::Status UnpackTar(int root, base::ByteSource& tar, const UnpackLimits& limits);

}  // namespace skerry::workspace
