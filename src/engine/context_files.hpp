// Copies the files of one sandbox to another. Programs inside read and write them on both sides; here they are only
// bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/backend.hpp"

namespace skerry::engine {

struct FileCopyLimits {
  std::chrono::milliseconds timeout;  // of a copy; one that takes longer costs the sandbox its processes
  std::uint64_t max_bytes = 0;
};

// The files of workspace, home and temporary directory.
struct PackedFiles {
  base::UniqueFd archive;            // in memory, at its beginning
  std::vector<std::string> remarks;  // names of files that were left out, a line each; bounded
};

// kTooLarge when the files exceed the limit.
base::Result<PackedFiles> PackFiles(core::Sandbox& sandbox, const FileCopyLimits& limits);
base::Status UnpackFiles(core::Sandbox& sandbox, const PackedFiles& files, const FileCopyLimits& limits);

}  // namespace skerry::engine
