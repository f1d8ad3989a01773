// Incoming::State: what an answer consists of. Client makes it, Incoming uses it.
#pragma once

#include <memory>

#include "net/http_connection.hpp"
#include "net/incoming.hpp"
#include "net/kept_connections.hpp"

namespace skerry::net {

struct Incoming::State {
  std::unique_ptr<HttpConnection> connection;  // none once the body was read
  std::weak_ptr<KeptConnections> kept;         // takes the connection then
  AnswerHead head;
};

}  // namespace skerry::net
