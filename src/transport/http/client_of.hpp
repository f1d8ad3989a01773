// The client that has connected to a socket.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "transport/http/message.hpp"

namespace skerry::transport::http {

struct Client {
  Peer peer;
  std::string key;                 // what connections are counted by: a uid, an IPv4 address, the /64 of an IPv6 one
  std::vector<std::string> local;  // names of the socket that the client reached
};

// Nothing when the client may not be served: a unix socket serves its owner and root. `host`: the name that was
// listened on.
std::optional<Client> ClientOf(int fd, Transport transport, const std::string& host);

}  // namespace skerry::transport::http
