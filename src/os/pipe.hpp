// A pipe whose ends close themselves.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

struct Pipe {
  base::UniqueFd read_end;
  base::UniqueFd write_end;

  // Both ends close-on-exec.
  static base::Result<Pipe> Create();
};

// The flag belongs to the open file, so it is set only on ends that no other process reads from or writes to.
base::Status SetNonBlocking(int fd);

}  // namespace skerry::os
