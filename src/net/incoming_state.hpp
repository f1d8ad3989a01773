// Incoming::State: what an answer consists of. Client makes it, Incoming uses it.
#pragma once

#include <memory>

#include "net/http_connection.hpp"
#include "net/incoming.hpp"

namespace skerry::net {

// Where a connection waits for the next request.
using Place = std::unique_ptr<HttpConnection>;

struct Incoming::State {
  std::unique_ptr<HttpConnection> connection;  // none once the body was read
  std::weak_ptr<Place> place;                  // takes the connection then
  AnswerHead head;
};

}  // namespace skerry::net
