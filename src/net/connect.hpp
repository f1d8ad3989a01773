// ConnectSocket: a socket that is connected to a server.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "net/endpoint.hpp"
#include "net/patience.hpp"

namespace skerry::net {

// Non-blocking. Each address of a host but the last gets a share of the time. kUnavailable when no server listens,
// kTimeout.
base::Result<base::UniqueFd> ConnectSocket(const Endpoint& endpoint, Patience& patience);

}  // namespace skerry::net
