// A dialect: one protocol that the server speaks. Where it is mounted, its routes, how it identifies a caller, how it
// words an error.
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

// A caller, and what the caller may do. Made by an Authenticator, read by handlers.
struct Caller {
  std::string id;                         // "local" or the id of a token
  std::string tenant;                     // whose sessions and runs the caller sees
  bool owner = false;                     // the owner of the daemon, on its unix socket
  std::uint32_t scopes = 0;               // bits of 1 << core::TokenScope
  std::uint64_t requests_per_second = 0;  // 0: no limit
  std::uint64_t concurrent_runs = 0;
  std::uint64_t sessions = 0;
};

// Whose share of common resources a request uses: the tenant's, whichever of the tenant's tokens it came with.
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
  std::string trace_parent;                       // span of the caller; "" for none
};

// An error in terms of HTTP: a status, and a code as in the table of base/error.hpp.
struct Refusal {
  int status = 400;
  std::string code;  // name of the code in the answer
  std::string message;
  std::string detail;
  Headers headers;
};
Refusal RefusalOf(const base::Error& error);

using Handler = std::function<Response(const Request&)>;

enum class BodyRule {
  kNone,   // only an empty body is accepted
  kSmall,  // in memory
  kLarge,  // in a file when it does not fit into memory
  // Passed on to a program piece by piece: the handler sees a request without its body, and answers with a Tunnel. The
  // query and the part of the path that "{...}" stands for belong to the program: nothing in them is refused, and a
  // query may be unreadable.
  kTunnel,
};
enum class Where {
  kWorker,        // the handler may block
  kSocketThread,  // the handler returns at once
};
enum class Watch { kNo, kDisconnect };
enum class Entry {
  kCallers,  // only callers that the authenticator knows
  kAnybody,  // also those without a credential; one that is sent must be right all the same
};

struct Route {
  std::string method;   // "*": any method that no other route has
  std::string pattern;  // "/v1/sessions/{session}/files": a name in braces is one segment, "/{...}" all that follow
  std::uint32_t scopes = 0;  // any of these bits is needed; 0: no scope is needed
  Handler handler;
  BodyRule body = BodyRule::kNone;
  std::uint64_t max_body = 0;  // 0: the server's limit for the kind of body
  std::string media;           // the media type that a body must have, as "application/json"; "" for any
  Where where = Where::kWorker;
  Watch watch = Watch::kNo;
  Entry entry = Entry::kCallers;
};

// Identifies callers by their credentials. Thread-safe, called on the socket thread: must not block for long.
class Authenticator {
 public:
  Authenticator() = default;
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;
  virtual ~Authenticator() = default;
  // The caller with this credential. kUnauthenticated.
  virtual base::Result<Caller> Authenticate(const Peer& peer, const std::optional<std::string>& credential) = 0;
  // Whether a caller would still be let in: asked every second or two for callers with an open stream, WebSocket or
  // tunnel. When the answer is no, that is ended.
  [[nodiscard]] virtual bool Holds(const Caller& caller) = 0;
};

// The web pages whose requests a dialect answers.
enum class Origins {
  kListed,   // those of ServerOptions::origins
  kOwnHost,  // also pages of the host that the request goes to: for hosts that belong to a program
};

struct Dialect {
  std::string name;
  std::vector<Mount> mounts;  // at least one; mount.hpp says which of several counts
  // The credential in a request; nothing when it has none. An error when the request has a malformed one.
  std::function<base::Result<std::optional<std::string>>(const RequestHead&)> credential;
  // The headers that hold a credential: they are not passed on to a program. The first is what a client without a
  // credential is told to send.
  std::vector<std::string> credential_headers = {"Authorization"};
  std::shared_ptr<Authenticator> authenticator;  // none: the server's
  Origins origins = Origins::kListed;
  // Words an error as the dialect does; the server adds the refusal's headers. None: RefuseNeutrally.
  std::function<Response(const Refusal&, const std::string& request_id)> refuse;
  std::vector<Route> routes;  // with whole paths, also where a mount has a prefix
};

// `Authorization: Bearer …`; two such headers, another scheme, or a token in the query are errors.
base::Result<std::optional<std::string>> BearerCredential(const RequestHead& head);

// The error of a request that belongs to no dialect: `{"code":…,"message":…,"detail":…,"request_id":…}`.
Response RefuseNeutrally(const Refusal& refusal, const std::string& request_id);

}  // namespace skerry::transport::http
