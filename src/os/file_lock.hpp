// Locks between processes: flock(2) on a file. A lock is held as long as its descriptor is open, and ends with the
// process however the process ends.
#pragma once

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

enum class LockMode { kShared, kExclusive };

// Makes the file when it is not there. kUnavailable when other processes hold the lock until the deadline.
base::Result<base::UniqueFd> LockFile(int directory_fd, const char* name, LockMode mode, base::Deadline deadline);

}  // namespace skerry::os
