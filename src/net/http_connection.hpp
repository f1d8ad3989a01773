// HttpConnection: one connection to a server, one exchange after the other. No Beast here.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/answer_head.hpp"
#include "net/endpoint.hpp"
#include "net/patience.hpp"
#include "net/socket.hpp"

namespace skerry::net {

// For one thread at a time.
class HttpConnection {
 public:
  HttpConnection(const Endpoint& endpoint, std::unique_ptr<Socket> socket);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  // The server has neither closed the connection nor sent anything unasked.
  [[nodiscard]] bool StillThere();

  struct Expected {
    enum class Body { kAsItSays, kNone };  // kNone: the answer to a HEAD, whatever its headers say
    Body body = Body::kAsItSays;
    enum class Switch { kNever, kPossible };  // kPossible: "101 Switching Protocols" is a final answer
    Switch protocol = Switch::kNever;
  };
  void BeginExchange(Expected expected);

  enum class Sent {
    kAll,
    kStopped,  // the server has refused already, or has closed the connection: ReadHead tells
  };
  base::Result<Sent> Write(std::string_view bytes, Patience& patience);
  // The server wants no more of the request: its answer is no success, or it has closed the connection. Does not wait.
  // An answer that begins with success while the request is still sent is read ahead, up to 1 MB.
  [[nodiscard]] bool WantsNoMore();
  // Tells that the rest of the request will not be written.
  void LeaveRequest();

  base::Result<AnswerHead> ReadHead(Patience& patience);
  // "" at the end. After kTimeout it can be called again.
  base::Result<std::string> ReadBody(Patience& patience);

  // Since BeginExchange: a byte of the request may have reached the server; a byte of the answer has come.
  [[nodiscard]] bool HasSent() const;
  [[nodiscard]] bool HasReceived() const;
  // The request was sent and the answer was read to its end, and the server does not close the connection.
  [[nodiscard]] bool CanBeUsedAgain() const;

  // After "101 Switching Protocols": the socket, and the bytes that came behind the head. Nothing else may be called
  // any more.
  struct Released {
    std::unique_ptr<Socket> socket;
    std::string early;
  };
  Released Release();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skerry::net
