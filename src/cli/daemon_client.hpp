// DaemonClient: the daemon that this command line talks to.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "net/client.hpp"

namespace skerry::cli {

class DaemonClient {
 public:
  using Json = nlohmann::ordered_json;

  explicit DaemonClient(net::Endpoint endpoint) : client_(std::move(endpoint)) {}
  // Where SKERRY_URL says, with SKERRY_TOKEN and SKERRY_CA; else at the socket of the configuration. Nobody is asked
  // yet.
  static base::Result<DaemonClient> Find(const Context& context);

  // Sends JSON, unless it is null, and gives the JSON of the answer; null when that is empty. An answer that refuses is
  // the error that the daemon had, and nobody there is kUnavailable.
  base::Result<Json> Ask(const std::string& method, const std::string& target, const Json& body = nullptr);
  // The same for a request of another kind.
  base::Result<Json> AskWith(const net::OutgoingRequest& request);
  // For answers that are no JSON. An answer that refuses is an error here too.
  base::Result<net::Incoming> Send(const net::OutgoingRequest& request);
  // Any answer, also one that refuses; CheckAccepted makes an error of such a one.
  base::Result<net::Incoming> Exchange(const net::OutgoingRequest& request);
  static base::Status CheckAccepted(net::Incoming& answer);
  // All of an answer that is text.
  base::Result<std::string> AskText(const std::string& target);
  base::Result<net::WebSocket> Connect(const std::string& target);

  // Another connection, for another thread.
  [[nodiscard]] DaemonClient Again() const { return DaemonClient(client_.endpoint()); }

 private:
  net::Client client_;
};

// An answer with a status from 400 on: code, message and what the message has behind its first line.
base::Error RefusalFrom(int status, std::string_view body);

// A request with JSON in it.
net::OutgoingRequest RequestWith(const std::string& method, const std::string& target, const DaemonClient::Json& body);

// "/v1/sessions/NAME" with `behind` behind it. kInvalidArgument for what is no name: it must not become another route.
base::Result<std::string> InSession(const std::string& session, std::string_view behind = "");

// Adds what is there, escaped.
using QueryItem = std::pair<std::string_view, std::optional<std::string>>;
std::string WithQuery(std::string target, std::initializer_list<QueryItem> items);

// JSON has no place for bytes that are no UTF-8. `what` begins the message.
base::Status CheckIsText(std::string_view text, const std::string& what);

}  // namespace skerry::cli
