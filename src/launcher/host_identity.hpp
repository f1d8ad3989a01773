// Who a sandbox is on the host.
#pragma once

#include <sys/types.h>

namespace skerry::launcher {

struct HostIdentity {
  uid_t user = 0;
  gid_t group = 0;
};

// Root: a user of the host that nobody else is or was (P03). A plain user: that user.
HostIdentity ChooseIdentity();

}  // namespace skerry::launcher
