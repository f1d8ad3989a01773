// WebSocket: messages to and from a server. No Beast here.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "net/request.hpp"

namespace skerry::net {

class Socket;
class Patience;

// For one thread at a time. A requested stop is kTimeout too.
class WebSocket {
 public:
  WebSocket(WebSocket&&) noexcept;
  WebSocket& operator=(WebSocket&&) = delete;
  ~WebSocket();

  enum class Kind { kText, kBinary, kClosed };
  struct Message {
    Kind kind = Kind::kText;
    std::string bytes;
  };
  // The one of the request's subprotocols that the server chose; "" for none.
  [[nodiscard]] const std::string& subprotocol() const;
  // For poll: readable when Receive has something to do, besides what HasBuffered tells.
  [[nodiscard]] int fd() const;
  // True: Receive has something without waiting. Ask before each poll.
  [[nodiscard]] bool HasBuffered() const;
  // Pings are answered meanwhile. kUnavailable when the connection is lost. After kTimeout nothing is lost: it can be
  // called again. At the end kClosed, with the reason that the server gave.
  base::Result<Message> Receive(base::Deadline deadline, const std::stop_token& stop = {});
  // After kTimeout the connection is closed: a part may be on its way.
  base::Status Send(Kind kind, std::string_view bytes, base::Deadline deadline, const std::stop_token& stop = {});
  // Says goodbye and waits for the server's goodbye, two seconds at most.
  void Close();

 private:
  friend class Client;
  struct State;
  // The request was checked.
  static base::Result<WebSocket> Open(const Endpoint& endpoint, std::unique_ptr<Socket> socket,
                                      const WebSocketRequest& request, Patience& patience);
  explicit WebSocket(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skerry::net
