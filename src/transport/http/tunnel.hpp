// A request that a program inside a sandbox answers: passes bytes in both directions, until one end closes.
//
//  - Each direction holds one piece (64 KB); when one end does not read, the other end is not read from.
//  - A client has the server's times to make progress. A program has Limits::tunnel_silence, and Limits::header_time
//    for a head that it has begun; nothing that it does or omits costs more than its tunnel.
//  - The answer is written anew from the program's answer. A doubt before any byte was sent to the client becomes a
//    refusal (502, 504), a later one the end of the client's connection.
//  - A tunnel ends when the token that opened it is no longer valid. When the server ends, a tunnel without an end of
//    its own (another protocol, events) is ended first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "transport/http/channel.hpp"
#include "transport/http/entrance.hpp"
#include "transport/http/loop.hpp"
#include "transport/http/read_buffer.hpp"
#include "transport/http/service.hpp"

namespace skerry::transport::http {

// All members are borrowed.
struct TunnelCall {
  Service& service;
  Channel& channel;
  ReadBuffer& in;            // bytes of the client that were read and not used
  const std::string& payer;  // whose share of the socket thread this uses; "" for a client that is not measured
  const Exchange& exchange;
  Tunnel& tunnel;
  std::function<void()> abort;              // ends the connection; calls on_abort
  std::function<void()>& on_abort;          // set by the tunnel, as on_tick and on_drain
  std::function<void(TimePoint)>& on_tick;  // checks deadlines
  std::function<void()>& on_drain;          // the server ends
};

struct TunnelEnd {
  std::optional<Refusal> refusal;  // set when nothing was sent to the client
  int status = 0;
  std::uint64_t bytes = 0;  // of the answer's body
  bool keep_alive = false;
};

asio::awaitable<TunnelEnd> Pass(TunnelCall& call);

}  // namespace skerry::transport::http
