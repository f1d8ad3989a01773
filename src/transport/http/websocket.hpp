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

// Everything is borrowed.
struct WebSocketCall {
  Service& service;
  Channel& channel;
  TimeLimit& limit;
  const std::string& payer;  // whose share of the socket thread this uses; "" for one that is not measured
  std::function<void()>& on_abort;
  std::function<void()>& on_revoked;
  const bool& revoked;  // the caller may listen no longer
  const RequestHead& head;
  const std::string& request_id;
  const std::string& trace;
  Conversation& conversation;
};

// What a message costs of a tenant's share, besides its bytes.
inline constexpr double kMessageCost = 16 << 10U;

// From the handshake to the end of one side; the connection is of no use afterwards. Pings a client that says nothing
// and gives it up when it does not answer. Messages are read in
// slices; one whose tenant has used up their share waits for its turn, unread. A text that is too long ends it (1009).
// The bytes of the messages that were sent.
asio::awaitable<std::uint64_t> Converse(WebSocketCall& call);

}  // namespace skerry::transport::http
