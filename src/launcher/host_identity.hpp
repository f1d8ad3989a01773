// Who a sandbox is on the host, and how its workspace comes to belong to it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/protocol.hpp"

namespace skerry::launcher {

struct HostIdentity {
  uid_t user = 0;
  gid_t group = 0;
};

// Root: a user of the host that nobody else is or was (P03). A plain user: that user.
HostIdentity ChooseIdentity();

// For a privileged launcher: the workspace as a detached mount in which `identity` owns what the directory's owner
// owns. Ours is simply given away; a person's is translated by an id-mapped mount, so that new files belong to the
// person.
base::Result<base::UniqueFd> PrepareWorkspaceTree(const StartRequest& request, int workspace_fd,
                                                  const HostIdentity& identity, std::vector<std::string>& degraded);

}  // namespace skerry::launcher
