// Client: asks a daemon over HTTP. Blocking; for the command line and the benchmarks. No Beast here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::net {

// Where a daemon is.
struct Endpoint {
  enum class Kind { kUnix, kPlain, kTls };
  Kind kind = Kind::kUnix;
  std::string path;  // of a unix socket
  std::string host;
  std::uint16_t port = 0;
  std::string token;         // "" for none
  std::string certificates;  // PEM file of whom to trust besides the system; "" for the system's

  // "unix:/path", "http://host:port", "https://host[:port]".
  static base::Result<Endpoint> Parse(const std::string& url);
  [[nodiscard]] std::string Describe() const;
};

struct OutgoingRequest {
  std::string method = "GET";
  std::string target;  // escaped, with its query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // In place of `body`: called until it gives nothing; sent in chunks unless the size is known.
  std::function<base::Result<std::string>()> feed;
  std::optional<std::uint64_t> feed_size;
};

// An answer whose body is read bit by bit. Its connection ends with it, or is used again when the body was read.
class Incoming {
 public:
  Incoming(Incoming&&) noexcept;
  Incoming& operator=(Incoming&&) = delete;
  ~Incoming();

  [[nodiscard]] int status() const;
  [[nodiscard]] std::optional<std::string> Header(std::string_view name) const;
  // Up to 64 KB, as soon as there is something; "" at the end. kUnavailable when the connection is lost. After kTimeout
  // nothing is lost: it can be called again.
  base::Result<std::string> Read(base::Deadline deadline);
  // All of it; kTooLarge.
  base::Result<std::string> ReadAll(std::size_t limit, base::Deadline deadline);

 private:
  friend class Client;
  struct State;
  explicit Incoming(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

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
  // For poll: readable when Receive has something to do, besides what HasBuffered tells.
  [[nodiscard]] int fd() const;
  // True: Receive has something without waiting. Ask before each poll.
  [[nodiscard]] bool HasBuffered() const;
  // Pings are answered meanwhile. kUnavailable when the connection is lost. After kTimeout nothing is lost: it can be
  // called again. At the end kClosed, with the reason that the server gave.
  base::Result<Message> Receive(base::Deadline deadline);
  // After kTimeout the connection is closed: a part may be on its way.
  base::Status Send(Kind kind, std::string_view bytes, base::Deadline deadline);
  // Waits for the other end two seconds at most.
  void Close();

 private:
  friend class Client;
  struct State;
  static base::Result<WebSocket> Open(const Endpoint& endpoint, const std::string& target, base::Deadline deadline);
  explicit WebSocket(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Of one thread at a time. Keeps one connection and makes another when that is gone. A request is sent again after a
// lost connection only when nothing of it can have been carried out.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  Client(Client&&) noexcept;
  ~Client();

  // kUnavailable when nobody is there. Any status is an answer, not an error.
  base::Result<Incoming> Send(OutgoingRequest request, base::Deadline deadline);
  // kUnauthenticated, kNotFound … when the server refuses.
  base::Result<WebSocket> Connect(const std::string& target, base::Deadline deadline);

  [[nodiscard]] const Endpoint& endpoint() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What an answer with a status from 400 on says: the code and message of its JSON, else by the status. One line.
base::Error ErrorOf(int status, std::string_view body);

// For the target: everything but letters, digits and -._~ is escaped.
std::string Escape(std::string_view text);

// One event of a stream of server-sent events.
struct ServerEvent {
  std::string name;  // "message" where the server gave none
  std::string data;
  std::string id;  // the last one that was given
};
// Takes bytes as they come and gives whole events.
class EventParser {
 public:
  void Feed(std::string_view bytes);
  std::optional<ServerEvent> Next();

 private:
  std::optional<std::string_view> NextLine();
  void Take(std::string_view line);

  std::string pending_;
  std::size_t at_ = 0;        // what is before it was taken
  std::size_t searched_ = 0;  // of the rest: no line ends there
  bool first_ = true;
  std::string name_;
  std::optional<std::string> data_;
  std::string id_;  // of the last event that had one
};

}  // namespace skerry::net
