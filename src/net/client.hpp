// Client: asks one server over HTTP. Blocking; for the command line, the daemon and backends. No Beast here.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/byte_stream.hpp"
#include "net/answer_head.hpp"
#include "net/endpoint.hpp"
#include "net/incoming.hpp"
#include "net/request.hpp"
#include "net/web_socket.hpp"

namespace skerry::net {

struct ClientOptions {
  std::size_t max_kept = 4;                    // idle connections
  std::chrono::milliseconds kept_for{30'000};  // choose less than the server's own limit, where that is known
};

// A connection that left HTTP, as Docker's exec and attach give it. May outlive its client.
struct Upgraded {
  AnswerHead head;
  std::unique_ptr<core::ByteStream> stream;
};

// For any number of threads at once: each request has a connection for itself, a kept one or a new one. When a kept
// connection turns out to be closed, the request is sent again on a new one if it is a GET or if no byte of it was
// sent; otherwise only as its `retry` asks. A requested stop is kTimeout, like the deadline.
class Client {
 public:
  explicit Client(Endpoint endpoint, const ClientOptions& options = {});
  Client(Client&&) noexcept;
  ~Client();

  // kUnavailable when no server listens or the connection is lost. Any status is an answer, not an error.
  base::Result<Incoming> Send(const OutgoingRequest& request, base::Deadline deadline,
                              const std::stop_token& stop = {});
  // Asks for another protocol ("tcp") on a connection of its own. The deadline and the stop are for the answer, not for
  // the stream; `retry` is not looked at. kUnauthenticated, kNotFound … when the server refuses, kUnavailable when it
  // does not switch.
  base::Result<Upgraded> Upgrade(OutgoingRequest request, const std::string& protocol, base::Deadline deadline,
                                 const std::stop_token& stop = {});
  // kUnauthenticated, kNotFound … when the server refuses.
  base::Result<WebSocket> Connect(const WebSocketRequest& request, base::Deadline deadline,
                                  const std::stop_token& stop = {});

  [[nodiscard]] const Endpoint& endpoint() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skerry::net
