// Which user of the host a sandbox's processes are.
#pragma once

#include <sys/types.h>

namespace skerry::launcher {

struct HostIdentity {
  uid_t user = 0;
  gid_t group = 0;
};

// For root: a user id of the host that no other process has or had (P03). For a plain user: that user.
HostIdentity ChooseIdentity();

}  // namespace skerry::launcher
