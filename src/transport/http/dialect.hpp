// A dialect: one protocol that the server speaks. Where it is found, its routes, how it knows who asks, how it words an
// error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/result.hpp"
#include "transport/http/message.hpp"
#include "transport/http/mount.hpp"
#include "watch/trace.hpp"

namespace skerry::transport::http {

// Who asks, and what they may do. Made by an Authenticator, read by handlers.
struct Caller {
  std::string id;                         // "local" or the id of a token
  std::string tenant;                     // whose things these are
  bool owner = false;                     // of the daemon, on its own socket
  std::uint32_t scopes = 0;               // bits of 1 << core::TokenScope
  std::uint64_t requests_per_second = 0;  // 0: no limit
  std::uint64_t concurrent_runs = 0;
  std::uint64_t sessions = 0;
};

// Whose share of what all have in common a request uses: the tenant's, whichever of their tokens it came with.
inline const std::string& PayerOf(const Caller& caller) {
  return caller.tenant.empty() ? caller.id : caller.tenant;
}

struct Request {
  std::string id;  // "req…"; goes back as X-Request-Id
  RequestHead head;
  Body body;
  Caller caller;
  std::map<std::string, std::string> parameters;  // of the route's pattern, and of the mount's host
  std::stop_token gone;                           // the client closed the connection (Route::watch)
  watch::TraceContext trace;                      // of this request; goes back as `traceparent`
  std::string trace_parent;                       // span of whoever asked; "" for none
};

// Errors that only HTTP has: a status of their own with the code of the table.
struct Refusal {
  int status = 400;
  std::string code;  // name in the answer
  std::string message;
  std::string detail;
  Headers headers;
};
Refusal RefusalOf(const base::Error& error);

using Handler = std::function<Response(const Request&)>;

enum class BodyRule {
  kNone,   // anything but an empty one is refused
  kSmall,  // in memory
  kLarge,  // in a file when it does not fit into memory
  // Passed on to a program as it comes: the handler sees a request without its body, and answers with a Tunnel. The
  // query and what "{...}" stands for are the program's: nothing in them is refused, and a query may be unreadable.
  kTunnel,
};
enum class Where {
  kWorker,        // the handler may block
  kSocketThread,  // it is over in a moment
};
enum class Watch { kNo, kDisconnect };

struct Route {
  std::string method;   // "*": any that no other route has
  std::string pattern;  // "/v1/sessions/{session}/files": a name in braces is one segment, "/{...}" all that follow
  std::uint32_t scopes = 0;  // any of these bits is needed; 0: none
  Handler handler;
  BodyRule body = BodyRule::kNone;
  std::uint64_t max_body = 0;  // 0: the server's limit for its kind
  std::string media;           // that a body must be of, as "application/json"; "" for any
  Where where = Where::kWorker;
  Watch watch = Watch::kNo;
};

// Who has this credential. Thread-safe, called on the socket thread: must not block for long.
class Authenticator {
 public:
  Authenticator() = default;
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;
  virtual ~Authenticator() = default;
  // kUnauthenticated.
  virtual base::Result<Caller> Authenticate(const Peer& peer, const std::optional<std::string>& credential) = 0;
  // Whether one who was let in would still be: asked every second or two for those whose streams, WebSockets or tunnels
  // are open. What no longer holds ends them.
  [[nodiscard]] virtual bool Holds(const Caller& caller) = 0;
};

// Pages whose requests a dialect answers.
enum class Origins {
  kListed,   // those of ServerOptions::origins
  kOwnHost,  // also those that come from the very host that they ask: for hosts that belong to a program
};

struct Dialect {
  std::string name;
  std::vector<Mount> mounts;  // at least one; mount.hpp says which of several counts
  // The credential in a request; nothing when it has none. An error: what is there is no credential.
  std::function<base::Result<std::optional<std::string>>(const RequestHead&)> credential;
  // The headers that a credential comes in: they are not passed on to a program.
  std::vector<std::string> credential_headers = {"Authorization"};
  std::shared_ptr<Authenticator> authenticator;  // none: the server's
  Origins origins = Origins::kListed;
  std::function<Response(const Refusal&, const std::string& request_id)> refuse;  // none: RefuseNeutrally
  std::vector<Route> routes;  // of whole paths, also where a mount has a prefix
};

// `Authorization: Bearer …`; two of them, another kind, or a token in the query are errors.
base::Result<std::optional<std::string>> BearerCredential(const RequestHead& head);

// What a client is told by a server none of whose dialects is meant:
// `{"code":…,"message":…,"detail":…,"request_id":…}`.
Response RefuseNeutrally(const Refusal& refusal, const std::string& request_id);

}  // namespace skerry::transport::http
