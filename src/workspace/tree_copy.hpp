// Copies of files and of whole trees, made out of sight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/record.hpp"
#include "workspace/mount_border.hpp"
#include "workspace/reservation.hpp"
#include "workspace/staged_entry.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {

// What a copy needs to know, and the changes that it made.
struct CopyTask {
  const MountBorder& border;
  Owner owner;                // of what is made
  std::string path;           // where it will be, for links and the record
  Reservation& reservation;   // grows with what is copied
  std::uint64_t budget;       // of bytes to read for hashes
  std::uint64_t max_written;  // of a file
  Usage taken = {};
  std::vector<core::FileChange> changes = {};  // as kCreated
};

// Copies a file into an empty one that is open for reading and writing, on the way to `path`.
base::Status CopyFile(int from, int to, const std::string& path, CopyTask& task);

// Copies the content of a directory into an empty one; both are borrowed. Links stay links; a link that would lead out
// is kPathTraversal, and anything but a file, directory or link is kConflict.
base::Status CopyTree(int from, int to, CopyTask& task);

}  // namespace skerry::workspace
