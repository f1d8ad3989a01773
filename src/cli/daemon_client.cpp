#include "cli/daemon_client.hpp"

#include <cstdlib>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "cli/answer.hpp"
#include "json/text.hpp"
#include "net/refusal.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::cli {
namespace {

using net::Endpoint;
using net::Incoming;
using net::OutgoingRequest;
using Json = DaemonClient::Json;

constexpr std::size_t kMostJson = std::size_t{512} << 20U;
constexpr int kFirstRefusal = 400;
constexpr const char* kCalled = "daemon";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Result<Endpoint> EndpointOf(const Context& context) {
  if (const std::string url = Variable("SKERRY_URL"); !url.empty()) {
    auto endpoint = Endpoint::Parse(url);
    if (!endpoint) return base::Err(endpoint.error().code, "SKERRY_URL: " + endpoint.error().message);
    endpoint->token = Variable("SKERRY_TOKEN");
    endpoint->certificates = Variable("SKERRY_CA");
    return endpoint;
  }
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  const std::string path = config::ExpandHome(loaded.config.sandbox.daemon.socket, Context::Home());
  if (!path.starts_with('/'))
    return base::Err(base::Code::kInvalidArgument,
                     "sandbox.daemon.socket " + base::Printable(path) + " is not absolute; set HOME");
  return Endpoint::Parse("unix:" + path);
}

}  // namespace

base::Result<DaemonClient> DaemonClient::Find(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(Endpoint endpoint, EndpointOf(context));
  endpoint.called = kCalled;
  endpoint.advice = "start one with: skerry serve";
  return DaemonClient(std::move(endpoint));
}

base::Result<Incoming> DaemonClient::Exchange(const OutgoingRequest& request) {
  // No deadline: a person waits, and can interrupt the command.
  return client_.Send(request, base::Deadline::Never());
}

base::Status DaemonClient::CheckAccepted(Incoming& answer) {
  if (answer.status() < kFirstRefusal) return {};
  SKERRY_ASSIGN_OR_RETURN(const std::string body, answer.ReadAll(kMostJson, base::Deadline::Never()));
  return std::unexpected(RefusalFrom(answer.status(), body));
}

base::Result<Incoming> DaemonClient::Send(const OutgoingRequest& request) {
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, Exchange(request));
  SKERRY_RETURN_IF_ERROR(CheckAccepted(answer));
  return answer;
}

base::Result<Json> DaemonClient::Ask(const std::string& method, const std::string& target, const Json& body) {
  return AskWith(RequestWith(method, target, body));
}

base::Result<Json> DaemonClient::AskWith(const OutgoingRequest& request) {
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, Send(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string text, answer.ReadAll(kMostJson, base::Deadline::Never()));
  if (text.empty()) return Json(nullptr);
  Json json = json::Parse(text);
  if (!json.is_discarded()) return json;
  return base::Err(base::Code::kInternal, "what answers at " + client_.endpoint().Describe() + " is no daemon");
}

base::Result<std::string> DaemonClient::AskText(const std::string& target) {
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, Send({.target = target}));
  return answer.ReadAll(kMostJson, base::Deadline::Never());
}

base::Result<net::WebSocket> DaemonClient::Connect(const std::string& target) {
  return client_.Connect({.target = target}, base::Deadline::Never());
}

base::Error RefusalFrom(int status, std::string_view body) {
  base::Error error = net::ErrorOf(status, body, kCalled);
  const Json object = json::Parse(body);
  std::string message = TextIn(object, "message");
  if (message.empty()) return error;
  if (const std::string detail = TextIn(object, "detail"); !detail.empty()) message += "\n" + detail;
  error.message = std::move(message);
  return error;
}

OutgoingRequest RequestWith(const std::string& method, const std::string& target, const Json& body) {
  OutgoingRequest request{.method = method, .target = target};
  if (body.is_null()) return request;
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = json::Text(body);
  return request;
}

base::Result<std::string> InSession(const std::string& session, std::string_view behind) {
  SKERRY_RETURN_IF_ERROR(workspace::CheckSessionReference(session));
  return "/v1/sessions/" + session + std::string(behind);
}

std::string WithQuery(std::string target, std::initializer_list<QueryItem> items) {
  char mark = target.contains('?') ? '&' : '?';
  for (const auto& [name, value] : items) {
    if (!value) continue;
    target += std::exchange(mark, '&') + std::string(name) + "=" + net::Escape(*value);
  }
  return target;
}

base::Status CheckIsText(std::string_view text, const std::string& what) {
  if (base::IsValidUtf8(text)) return {};
  return base::Err(base::Code::kInvalidArgument, what + " is no UTF-8, and cannot be sent to the daemon");
}

}  // namespace skerry::cli
