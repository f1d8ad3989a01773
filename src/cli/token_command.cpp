// skerry token: the tokens of the daemon.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TokenOptions {
  std::string name = "unnamed";
  std::vector<std::string> scopes;
  std::optional<std::string> tenant;
  std::optional<std::uint64_t> ttl;
  std::optional<std::uint64_t> requests_per_second;
  std::optional<std::uint64_t> concurrent_runs;
  std::optional<std::uint64_t> sessions;
  std::string id;
  bool json = false;
};

base::Result<Json> BodyOf(const TokenOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckIsText(options.name, "--name"));
  SKERRY_RETURN_IF_ERROR(CheckIsText(options.tenant.value_or(""), "--tenant"));
  for (const std::string& scope : options.scopes) SKERRY_RETURN_IF_ERROR(CheckIsText(scope, "--scope"));
  Json body = {{"name", options.name}};
  if (!options.scopes.empty()) body["scopes"] = options.scopes;
  if (options.tenant) body["tenant"] = *options.tenant;
  if (options.ttl) body["ttl_seconds"] = *options.ttl;
  Json limits = Json::object();
  if (options.requests_per_second) limits["requests_per_second"] = *options.requests_per_second;
  if (options.concurrent_runs) limits["concurrent_runs"] = *options.concurrent_runs;
  if (options.sessions) limits["sessions"] = *options.sessions;
  if (!limits.empty()) body["limits"] = std::move(limits);
  return body;
}

base::Result<int> Create(const Context& context, const TokenOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Json body, BodyOf(options));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json token, daemon.Ask("POST", "/v1/tokens", body));
  SKERRY_RETURN_IF_ERROR(options.json ? WriteJson(token) : WriteText(TextIn(token, "token") + "\n"));
  Note("keep it: the secret of token " + TextIn(token, "id") + " is shown this once");
  return 0;
}

std::string TimeAsText(const Json& token, const char* name) {
  const auto time = TimeIn(token, name);
  return time ? Moment(*time) : "-";
}

std::string ScopesOf(const Json& token) {
  std::string text;
  for (const Json& scope : ListIn(token, "scopes"))
    if (scope.is_string()) text += (text.empty() ? "" : ",") + scope.get<std::string>();
  return text;
}

std::string StateOf(const Json& token) {
  if (TimeIn(token, "revoked_at")) return "revoked " + TimeAsText(token, "revoked_at");
  const auto expires = TimeIn(token, "expires_at");
  if (!expires) return "for ever";
  return (*expires < std::chrono::system_clock::now() ? "over since " : "until ") + Moment(*expires);
}

base::Result<Json> AllTokens(DaemonClient& daemon) {
  Json all = Json::array();
  std::optional<std::string> cursor;
  do {
    SKERRY_ASSIGN_OR_RETURN(Json page, daemon.Ask("GET", WithQuery("/v1/tokens", {{"cursor", cursor}})));
    for (const Json& token : ListIn(page, "items")) all.push_back(token);
    const std::string next = TextIn(page, "next_cursor");
    cursor = next.empty() ? std::nullopt : std::optional(next);
  } while (cursor);
  return all;
}

base::Result<int> List(const Context& context, const TokenOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json all, AllTokens(daemon));
  if (options.json) {
    SKERRY_RETURN_IF_ERROR(WriteJson(all));
    return 0;
  }
  std::vector<std::vector<std::string>> table = {{"TOKEN", "NAME", "TENANT", "SCOPES", "CREATED", "VALID"}};
  for (const Json& token : all)
    table.push_back({TextIn(token, "id"), TextIn(token, "name"), TextIn(token, "tenant"), ScopesOf(token),
                     TimeAsText(token, "created_at"), StateOf(token)});
  SKERRY_RETURN_IF_ERROR(WriteText(all.empty() ? "no tokens; skerry token create makes one\n" : AsTable(table)));
  return 0;
}

base::Result<int> Revoke(const Context& context, const TokenOptions& options) {
  if (options.id.empty()) return base::Err(base::Code::kInvalidArgument, "which token? skerry token list tells");
  // A secret must not get into a log.
  if (options.id.starts_with("sk_"))
    return base::Err(base::Code::kInvalidArgument, "that is a secret; give the token's id, see skerry token list");
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_RETURN_IF_ERROR(daemon.Ask("DELETE", "/v1/tokens/" + net::Escape(options.id)));
  SKERRY_RETURN_IF_ERROR(options.json ? WriteJson({{"revoked", options.id}})
                                      : WriteText("revoked " + options.id + "\n"));
  return 0;
}

Command CreateCommand(const std::shared_ptr<TokenOptions>& options, const Option& json, const Context& context) {
  return {.name = "create",
          .description = "Make a token, and print its secret",
          .footer =
              "The secret is printed on stdout, once.\n\n"
              "Examples:\n"
              "  skerry token create --name ci --scope run --ttl 86400\n"
              "  SKERRY_URL=https://host:8443 SKERRY_TOKEN=$(skerry token create --name laptop) skerry session list",
          .options = {json,
                      {.names = "--name",
                       .value = Value::Text("NAME"),
                       .description = "What it is for, in words for people",
                       .to = &options->name},
                      {.names = "--scope",
                       .value = Value::OneOf("SCOPE", {"read", "run", "approve", "admin"}),
                       .description = "read, run (which includes it; the default), approve, or admin (all)",
                       .to = &options->scopes},
                      {.names = "--tenant",
                       .value = Value::Text("TENANT"),
                       .description = "Whose sessions it may touch; its own without",
                       .to = &options->tenant},
                      {.names = "--ttl",
                       .value = Value::Text("SECONDS"),
                       .description = "Until it is over; it never is without",
                       .to = &options->ttl},
                      {.names = "--requests-per-second",
                       .value = Value::Text("N"),
                       .description = "As the daemon's configuration says without",
                       .to = &options->requests_per_second},
                      {.names = "--concurrent-runs",
                       .value = Value::Text("N"),
                       .description = "As the daemon's configuration says without",
                       .to = &options->concurrent_runs},
                      {.names = "--sessions",
                       .value = Value::Text("N"),
                       .description = "As the daemon's configuration says without",
                       .to = &options->sessions}},
          .action = [=, &context] { return Create(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace

Command TokenCommand(const Context& context) {
  auto options = std::make_shared<TokenOptions>();
  const Option json = {.names = "--json", .description = "As an object", .to = &options->json};
  return {.name = "token",
          .description = "Say who may ask the daemon over TCP",
          .footer =
              "Examples:\n"
              "  skerry token create --name ci --scope run --ttl 86400\n"
              "  skerry token list\n"
              "  skerry token revoke ID",
          .commands = {CreateCommand(options, json, context),
                       {.name = "list",
                        .description = "The tokens that were made",
                        .footer = "Example:\n  skerry token list --json",
                        .options = {json},
                        .action = [=, &context] { return List(context, *options); },
                        .errors_as_json = &options->json},
                       {.name = "revoke",
                        .description = "Let a token count no longer",
                        .footer = "Example:\n  skerry token revoke tok_0123456789abcdef",
                        .arguments = {{.name = "id",
                                       .value = Value::Text("ID"),
                                       .description = "Its id, not the secret",
                                       .to = &options->id,
                                       .need = Need::kRequired}},
                        .options = {json},
                        .action = [=, &context] { return Revoke(context, *options); },
                        .errors_as_json = &options->json}}};
}

}  // namespace skerry::cli
