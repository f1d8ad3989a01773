// Server: HTTP/1.1 and WebSocket on unix and TCP sockets, for any number of dialects.
//
//  - Every read and write has a deadline, every buffer and every count a limit. Nothing that a client does or omits
//    costs more than its own connection: headers, small bodies and answers are bounded, large bodies go to disk.
//  - A handler sees a request only when it is whole (except for a body that goes on to a program, Tunnel), its host and
//    origin are allowed, its caller is known and has a scope of the route, and the caller is within the rate.
//  - A stream, WebSocket or tunnel ends when its caller would no longer be let in.
//  - A request belongs to one dialect, by its mounts; the order of the dialects never decides.
//  - No tenant gets all connections, all handlers or all of the socket thread; some of each are left for the owner.
//  - Handlers run on threads of a pool; sockets are served by one thread of the server's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/deadline.hpp"
#include "base/flow_limiter.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "base/worker_pool.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::http {

struct TlsFiles {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM; must not be readable by others
};

struct Limits {
  std::size_t connections = 1024;
  std::size_t connections_per_peer = 512;  // of one uid or address
  std::size_t header_bytes = std::size_t{32} << 10U;
  std::size_t small_body = std::size_t{8} << 20U;
  // For small bodies with all that is made of them, and for answers, at one time; a tenant has at most half of it.
  std::size_t body_memory = std::size_t{512} << 20U;
  std::size_t memory_body = std::size_t{256} << 10U;  // for the beginning of a large body; the rest goes to a file
  std::uint64_t large_body = std::uint64_t{4} << 30U;
  std::chrono::milliseconds header_time{10'000};  // for a whole request line with its headers
  std::chrono::milliseconds body_time{30'000};    // without any progress
  std::chrono::milliseconds write_time{30'000};   // without any progress
  std::chrono::milliseconds idle_time{75'000};    // between requests
  // Of a tunnel: without a byte from the program, or after a change of protocol without a byte from either end.
  std::chrono::milliseconds tunnel_silence{900'000};
  std::size_t requests_at_once = 512;     // handlers that run or wait; an eighth is for the owner only
  std::size_t requests_per_caller = 128;  // of them for one tenant whose tokens have a rate
  std::size_t websocket_message = std::size_t{1} << 20U;
  std::size_t websocket_text = std::size_t{16} << 10U;  // of a message that is text and not binary
  // A tenant's share of the socket thread, in bytes; a small message or piece counts for more than its bytes. The
  // owner's share is not measured.
  base::Flow flow{.per_second = 128 << 20U, .beside_others = 48 << 20U, .at_once = 16 << 20U};
  // Requests without a valid token from one address. More are answered late.
  base::Flow mistakes{.per_second = 50, .at_once = 200, .longest_wait = std::chrono::milliseconds(1000)};
  // New TLS connections from one address. Those that would wait longer are closed.
  base::Flow handshakes{.per_second = 50, .at_once = 200, .longest_wait = std::chrono::milliseconds(2000)};
};

// What is logged of each request when it is over.
struct AccessRecord {
  std::string request_id;
  std::string caller;
  std::string peer;
  std::string method;
  std::string path;   // without the query
  std::string route;  // pattern of the route; "" when there was none
  int status = 0;     // 0: the client was gone before there was an answer
  std::uint64_t bytes = 0;
  std::chrono::microseconds took{0};
  watch::TraceContext trace;
  std::string trace_parent;
};

// A request without a token, or with a wrong one.
struct Mistake {
  std::string address;     // without the port
  bool throttled = false;  // there were too many such requests
};

struct ServerOptions {
  Limits limits;
  // Hosts that are allowed besides localhost, 127.0.0.1, [::1] and the names that were listened on. A host that a mount
  // names is allowed for the dialect that is mounted there, and for nothing else.
  std::vector<std::string> hosts;
  std::vector<std::string> origins;            // allowed besides requests without an origin: "https://console.example"
  std::string spool;                           // a directory for large bodies, the daemon's own
  std::shared_ptr<base::Budget> spool_budget;  // of the bytes in the spool; none: no limit
  std::shared_ptr<Authenticator> authenticator;
  std::vector<Dialect> dialects;
  std::function<void(const AccessRecord&)> log;    // may be empty; called on the socket thread
  std::function<void(const Mistake&)> on_mistake;  // the same
};

[[nodiscard]] inline Authenticator& AuthenticatorOf(const ServerOptions& options, const Dialect& dialect) {
  return dialect.authenticator ? *dialect.authenticator : *options.authenticator;
}

// Made by listening.hpp.
struct ListeningSocket {
  base::UniqueFd fd;
  Transport transport = Transport::kUnix;
  std::shared_ptr<const TlsFiles> tls;
  std::string host;  // the name that was listened on; a request's Host may be this
  std::string name;  // the name that mounts use (Mount::listener); "" for none
};

// Thread-safe.
class Server {
 public:
  // `workers` is borrowed. Serves at once. kInvalidArgument: dialects are mounted so that a request might belong to
  // two.
  static base::Result<std::unique_ptr<Server>> Start(std::vector<ListeningSocket> sockets, ServerOptions options,
                                                     base::WorkerPool& workers);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Closes every connection and waits for the handlers that run.
  ~Server();

  // Accepts nothing more, answers the requests that have begun, closes idle connections. True when nothing was left at
  // the deadline.
  bool Drain(base::Deadline deadline);

  struct Statistics {
    std::size_t connections = 0;
    std::size_t requests = 0;  // those being handled
    std::size_t tunnels = 0;
    std::uint64_t served = 0;
    std::uint64_t refused = 0;
  };
  [[nodiscard]] Statistics Now() const;

 private:
  struct State;
  explicit Server(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace skerry::transport::http
