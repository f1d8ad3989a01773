// Lookup: the addresses of a host.
#pragma once

#include <netdb.h>

#include <memory>

#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "net/patience.hpp"

namespace skerry::net {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// kUnavailable when the host is unknown, kTimeout. The system's resolver cannot be cancelled: after a timeout its
// thread goes on until the resolver gives up. At most 64 such threads exist in a process; then Lookup fails.
base::Result<Addresses> Lookup(const Endpoint& endpoint, Patience& patience);

}  // namespace skerry::net
