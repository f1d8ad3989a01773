// Locks between processes: flock(2) on a file. The lock is held as long as the descriptor is open, and ends with the
// process however that ends.
#pragma once

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

enum class LockMode { kShared, kExclusive };

// The file is made when it is not there. kUnavailable when others hold it until the deadline.
base::Result<base::UniqueFd> LockFile(int directory_fd, const char* name, LockMode mode, base::Deadline deadline);

}  // namespace skerry::os
