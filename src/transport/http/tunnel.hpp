// A request that a program inside a sandbox answers: the bytes of both, in both directions, until one of them ends.
//
//  - Each direction holds one piece (64 KB); who does not read is not read for.
//  - A client has the server's times to make progress. A program has Limits::tunnel_silence, and Limits::header_time
//  for
//    a head once it has begun one; nothing it does or omits costs more than its tunnel.
//  - The answer is written anew from what was understood of the program's. What is in doubt before anything of it was
//    sent becomes a refusal (502, 504), later the end of the client's connection.
//  - A tunnel ends when the token that opened it no longer holds; at the end of the server, one without an end of its
//    own (another protocol, events) goes first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "transport/http/channel.hpp"
#include "transport/http/gate.hpp"
#include "transport/http/loop.hpp"
#include "transport/http/read_buffer.hpp"
#include "transport/http/service.hpp"

namespace skerry::transport::http {

// Everything is borrowed.
struct TunnelCall {
  Service& service;
  Channel& channel;
  ReadBuffer& in;            // what was read of the client and not used
  const std::string& payer;  // whose share of the socket thread this uses; "" for one that is not measured
  const Exchange& exchange;
  Tunnel& tunnel;
  std::function<void()> abort;              // gives the connection up; calls on_abort
  std::function<void()>& on_abort;          // set by the tunnel, as those below
  std::function<void(TimePoint)>& on_tick;  // deadlines are looked at
  std::function<void()>& on_drain;          // the server ends
};

struct TunnelEnd {
  std::optional<Refusal> refusal;  // nothing was sent to the client
  int status = 0;
  std::uint64_t bytes = 0;  // of the answer's body
  bool keep_alive = false;
};

asio::awaitable<TunnelEnd> Pass(TunnelCall& call);

}  // namespace skerry::transport::http
