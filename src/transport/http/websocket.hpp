// A Conversation over a WebSocket (RFC 6455).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "transport/http/channel.hpp"
#include "transport/http/loop.hpp"
#include "transport/http/message.hpp"
#include "transport/http/service.hpp"

namespace skerry::transport::http {

// All members are borrowed.
struct WebSocketCall {
  Service& service;
  Channel& channel;
  TimeLimit& limit;
  const std::string& payer;  // whose share of the socket thread this uses; "" for a client that is not measured
  std::function<void()>& on_abort;
  std::function<void()>& on_revoked;
  const bool& revoked;  // the caller may listen no longer
  const RequestHead& head;
  const std::string& request_id;
  const std::string& trace;
  Conversation& conversation;
};

// The cost of a message in a tenant's share, besides its bytes.
inline constexpr double kMessageCost = 16 << 10U;

// Runs from the handshake to the end of one side; the connection cannot be used afterwards. Pings a silent client and
// gives it up when it does not answer. Messages are read in slices; while the tenant's share is used up, no slice is
// read. A text that is too long ends the WebSocket (1009). Gives the bytes of the messages that were sent.
asio::awaitable<std::uint64_t> Converse(WebSocketCall& call);

}  // namespace skerry::transport::http
