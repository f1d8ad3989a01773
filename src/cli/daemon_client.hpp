// DaemonClient: the daemon that this command talks to.
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
  // The daemon at SKERRY_URL, with SKERRY_TOKEN and SKERRY_CA; else at the socket of the configuration. Does not
  // connect yet.
  static base::Result<DaemonClient> Find(const Context& context);

  // Sends JSON, unless it is null, and gives the JSON of the answer; null when that is empty. A refusal becomes the
  // daemon's error; kUnavailable when no daemon answers.
  base::Result<Json> Ask(const std::string& method, const std::string& target, const Json& body = nullptr);
  // The same for a request of another kind.
  base::Result<Json> AskWith(const net::OutgoingRequest& request);
  // For answers that are no JSON. A refusal is an error here too.
  base::Result<net::Incoming> Send(const net::OutgoingRequest& request);
  // Any answer, also a refusal; CheckAccepted turns that into an error.
  base::Result<net::Incoming> Exchange(const net::OutgoingRequest& request);
  static base::Status CheckAccepted(net::Incoming& answer);
  // The whole text of an answer.
  base::Result<std::string> AskText(const std::string& target);
  base::Result<net::WebSocket> Connect(const std::string& target);

  // Another connection, for another thread.
  [[nodiscard]] DaemonClient Again() const { return DaemonClient(client_.endpoint()); }

 private:
  net::Client client_;
};

// The error of an answer with a status from 400 on: code, message and what follows the message's first line.
base::Error RefusalFrom(int status, std::string_view body);

// A request with JSON in it.
net::OutgoingRequest RequestWith(const std::string& method, const std::string& target, const DaemonClient::Json& body);

// "/v1/sessions/NAME" with `behind` after it. kInvalidArgument for a bad name: it must not become another route.
base::Result<std::string> InSession(const std::string& session, std::string_view behind = "");

// Adds the items that have a value, escaped.
using QueryItem = std::pair<std::string_view, std::optional<std::string>>;
std::string WithQuery(std::string target, std::initializer_list<QueryItem> items);

// Refuses text that is no UTF-8, for which JSON has no place. `what` begins the message.
base::Status CheckIsText(std::string_view text, const std::string& what);

}  // namespace skerry::cli
