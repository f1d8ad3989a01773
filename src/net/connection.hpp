// Connection: one connection to a daemon, one exchange after the other. No Beast here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "net/client.hpp"

namespace skerry::net {

struct AnswerHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
};

class Connection {
 public:
  static base::Result<std::unique_ptr<Connection>> Open(const Endpoint& endpoint, base::Deadline deadline);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Neither closed nor saying anything unasked.
  [[nodiscard]] bool StillThere();

  enum class AnswerBody { kAsItSays, kNone };  // none: of a HEAD
  void BeginExchange(AnswerBody body);

  enum class Sent {
    kAll,
    kStopped,  // the other end answers already, or is gone: the head tells
  };
  base::Result<Sent> Write(std::string bytes, base::Deadline deadline);

  // The rest of the request is not going to be written.
  void LeaveRequest();

  base::Result<AnswerHead> ReadHead(base::Deadline deadline);
  // "" at the end. After kTimeout it can be called again.
  base::Result<std::string> ReadBody(base::Deadline deadline);

  // Since BeginExchange: whether a byte of the request can have reached the other end, or one of the answer came.
  [[nodiscard]] bool HasSent() const;
  [[nodiscard]] bool HasReceived() const;
  // The answer was read to its end, the request was sent to its end, and both ends want to go on.
  [[nodiscard]] bool CanBeUsedAgain() const;

 private:
  struct State;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skerry::net
