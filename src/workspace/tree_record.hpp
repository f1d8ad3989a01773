// What a record says about all the files of a tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/resolver.hpp"
#include "workspace/usage.hpp"

namespace skerry::workspace {

// Every file and link at `place` or below it, as kCreated, with paths behind `path`, sorted. What this process may not
// read is left out. `budget` as for Describe. kTooLarge also when the paths take more than 64 MB.
base::Result<std::vector<core::FileChange>> RecordOf(const Place& place, const std::string& path,
                                                     const MountBorder& border, std::uint64_t budget);
// The same for an open directory (borrowed) and what is in it.
base::Result<std::vector<core::FileChange>> RecordIn(int directory, const std::string& path, const MountBorder& border,
                                                     std::uint64_t budget);

// What is removed with the directory at `place`: its files and links as kRemoved, sorted, and the room they take. A
// mount in it is an error; more than `limit` entries are kTooLarge.
struct Removal {
  std::vector<core::FileChange> changes;
  Usage usage;  // without the directory itself
};
base::Result<Removal> RemovalOf(const Place& place, const std::string& path, const MountBorder& border,
                                std::uint64_t limit);

core::FileChange RemovedAt(std::string path, core::FileKind kind);

}  // namespace skerry::workspace
