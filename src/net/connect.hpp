// Sockets to a daemon.
#pragma once

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "net/client.hpp"

namespace skerry::net {

// Connected and non-blocking. kUnavailable when nobody listens, kTimeout. The lookup of a host's name takes the time
// that the system gives it.
base::Result<base::UniqueFd> ConnectSocket(const Endpoint& endpoint, base::Deadline deadline);

}  // namespace skerry::net
