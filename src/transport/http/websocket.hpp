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
  std::function<void()>& on_abort;
  const RequestHead& head;
  const std::string& request_id;
  const std::string& trace;
  Conversation& conversation;
};

// From the handshake to the end of one side; the connection is of no use afterwards. Pings a client that says nothing
// and gives it up when it does not answer. The bytes of the messages that were sent.
asio::awaitable<std::uint64_t> Converse(WebSocketCall& call);

}  // namespace skerry::transport::http
