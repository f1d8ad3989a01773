// Requests and responses as handlers see them. Does not include Beast.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/budget.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/byte_stream.hpp"

namespace skerry::transport::http {

// The headers in the order they came; names are compared without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}
  void Add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  void Set(const std::string& name, std::string value);
  // The first header of the name; nothing when there is none.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view name) const;
  [[nodiscard]] std::size_t Count(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// `path` is the part before the "?". It is split at its slashes, and its escapes are resolved: an escaped slash is part
// of a segment. kInvalidArgument for bad escapes, NUL, no UTF-8, empty segments, "." and "..".
base::Result<std::vector<std::string>> SplitPath(std::string_view path);
// The same for any text, since a program may understand a path that SplitPath refuses: a bad segment is "" here.
std::vector<std::string> SplitAnyPath(std::string_view path);

// Names and values with their escapes resolved ("+" is a space); a value may be any bytes, as the name of a file may
// be. kInvalidArgument: bad escapes, NUL, a name that is no UTF-8, a name that comes twice.
class Query {
 public:
  static base::Result<Query> Parse(std::string_view text);
  [[nodiscard]] std::optional<std::string> Find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

enum class Transport { kUnix, kPlain, kTls };

// The other end of a connection.
struct Peer {
  Transport transport = Transport::kUnix;
  std::string listener;              // the name of the socket that the client reached; "" for a socket without one
  std::string address;               // for logs: "uid 1000", "127.0.0.1:5123"
  std::optional<std::uint32_t> uid;  // of a unix socket
};

// A whole body: a small one in memory, a large one in a file without a name, which is at its beginning.
struct Body {
  std::string bytes;
  base::UniqueFd file;
  std::uint64_t size = 0;
  base::BudgetShare share;  // what a large body takes of the spool, a small one of the memory
};

struct RequestHead {
  std::string method;  // "GET"
  std::string target;  // as it came
  std::vector<std::string> path;
  Query query;
  Headers headers;
  Peer peer;
  bool upgrade = false;  // asks for a WebSocket
};

// A message of a WebSocket.
struct WebSocketMessage {
  enum class Kind { kText, kBinary };
  Kind kind = Kind::kText;
  std::string bytes;
};

// What a stream has now.
enum class Pull {
  kMore,  // bytes or a message; ask again
  kWait,  // nothing; `wake` will be called when it is worth asking again
  kEnd,
};

// Called by the socket thread only, and never blocks. `wake` may be called by any thread, any number of times, also
// after the stream has been destroyed; it is cheap.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  virtual void Begin(std::function<void()> wake) = 0;  // once, before everything else, also before the head is sent
  // Appends the bytes that are ready, up to about 64 KB at a time.
  virtual Pull Next(std::string& bytes) = 0;
};

// A Stream for both directions of a WebSocket.
class Conversation {
 public:
  Conversation() = default;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  virtual ~Conversation() = default;
  virtual void Begin(std::function<void()> wake) = 0;  // once, before the handshake is answered
  virtual Pull Next(WebSocketMessage& message) = 0;    // kMore: one message
  // False: no room now. The message is kept and given again after the next wake; until then nothing more is read.
  virtual bool Receive(const WebSocketMessage& message) = 0;
  // The client has closed the WebSocket, or is gone.
  virtual void Closed() = 0;
};

// A piece of an open file; its content at the time of sending is sent.
struct FileBody {
  base::UniqueFd fd;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  base::BudgetShare share;  // what the file takes of the spool, when it lies there
};

// A program inside a sandbox answers: it gets the request over `stream`, and its answer goes to the client, also when
// both change to another protocol. Only for routes with BodyRule::kTunnel. The program is not trusted
// (transport/http/tunnel.hpp).
struct Tunnel {
  std::unique_ptr<core::ByteStream> stream;  // to the program, connected
  std::string target;                        // the "/path?query" that the program gets; "": the client's
  std::string host;                          // the Host that the program gets; "": the client's
  Headers headers;                           // added for the program; replace the client's headers of the same name
};

struct Response {
  int status = 200;
  Headers headers;  // without Content-Length, Transfer-Encoding, Connection and Date
  // A Conversation answers an upgrade; its status is 101. A Tunnel brings a status and headers of its own.
  std::variant<std::string, FileBody, std::unique_ptr<Stream>, std::unique_ptr<Conversation>, Tunnel> body;
};

}  // namespace skerry::transport::http
