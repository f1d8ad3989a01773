// skerry context: manages the contexts that skerry run --context makes.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/context_home.hpp"
#include "cli/session_parts.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "engine/context_manager.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ContextCommandOptions {
  std::string name;
  std::string new_name;
  std::optional<std::string> session;
  bool json = false;
};

// The time in whole seconds.
std::string MomentIn(const Json& object, const char* name) {
  const auto time = TimeIn(object, name);
  return time ? Moment(*time) : "";
}

// One request about one context.
base::Result<Json> Ask(const Context& context, const ContextCommandOptions& options, const char* method,
                       std::string_view behind, const Json& body = nullptr) {
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(options.name));
  auto home = ContextHome::Find(context, options.session);
  auto answer = home ? home->client().Ask(method, home->Target("/" + options.name + std::string(behind)), body)
                     : base::Result<Json>(std::unexpected(home.error()));
  const bool missing = !answer && answer.error().code == base::Code::kNotFound && !options.session;
  if (!missing) return answer;
  return base::Err(base::Code::kNotFound, "there is no context '" + options.name + "'; skerry run --context " +
                                              options.name + " CODE makes it");
}

// The contexts with times as people write them.
base::Result<Json> Rows(const Context& context, const ContextCommandOptions& options) {
  auto home = ContextHome::Find(context, options.session);
  const auto answer =
      home ? home->client().Ask("GET", home->Target()) : base::Result<Json>(std::unexpected(home.error()));
  if (!answer && answer.error().code == base::Code::kNotFound && !options.session) return Json::array();
  if (!answer) return answer;
  Json rows = Json::array();
  for (const Json& each : ListIn(*answer, "items"))
    rows.push_back({{"name", TextIn(each, "name")},
                    {"language", TextIn(each, "language")},
                    {"state", TextIn(each, "state")},
                    {"cells", NumberIn(each, "cells")},
                    {"start", TextIn(each, "start")},
                    {"created", MomentIn(each, "created_at")},
                    {"last_used", MomentIn(each, "used_at")}});
  return rows;
}

std::string AsText(const Json& rows) {
  if (rows.empty()) return "no contexts; skerry run --context NAME CODE makes one\n";
  std::vector<std::vector<std::string>> table = {
      {"NAME", "LANGUAGE", "STATE", "CELLS", "START", "CREATED", "LAST USED"}};
  for (const Json& row : rows) {
    auto& cells = table.emplace_back();
    for (const auto& [name, value] : row.items())
      cells.push_back(value.is_string() ? value.get<std::string>() : json::Text(value));
  }
  return AsTable(table);
}

base::Result<int> List(const Context& context, const ContextCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Json rows, Rows(context, options));
  options.json ? PrintIndented(rows) : Print(AsText(rows));
  return 0;
}

base::Result<int> Interrupt(const Context& context, const ContextCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Json before, Ask(context, options, "POST", "/interrupt"));
  Print(TextIn(before, "state") == "busy" ? "interrupted " + options.name + "\n"
                                          : "nothing is running in " + options.name + "\n");
  return 0;
}

base::Result<int> Restart(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(Ask(context, options, "POST", "/restart"));
  Print("restarted " + options.name + "\n");
  return 0;
}

base::Result<int> Delete(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(Ask(context, options, "DELETE", ""));
  Print("deleted " + options.name + "\n");
  return 0;
}

base::Result<int> Fork(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(options.new_name));
  SKERRY_ASSIGN_OR_RETURN(const Json answer, Ask(context, options, "POST", "/fork", {{"name", options.new_name}}));
  if (options.json) {
    PrintIndented({{"context", options.name},
                   {"new_context", options.new_name},
                   {"variables_left_out", ListIn(answer, "variables_left_out")},
                   {"files_left_out", ListIn(answer, "files_left_out")}});
    return 0;
  }
  Print("forked " + options.name + " into " + options.new_name + "\n");
  for (const Json& name : ListIn(answer, "variables_left_out"))
    Note("not carried over: variable " + name.get<std::string>());
  for (const Json& line : ListIn(answer, "files_left_out")) Note("not carried over: " + line.get<std::string>());
  return 0;
}

base::Result<int> Stop() {
  auto daemon = PrivateDaemon::Find();
  if (!daemon && daemon.error().code == base::Code::kNotFound) {
    Print("there are no contexts\n");
    return 0;
  }
  if (!daemon) return std::unexpected(std::move(daemon).error());
  SKERRY_RETURN_IF_ERROR(daemon->Stop());
  Print("stopped; all contexts have ended\n");
  return 0;
}

Argument NameArgument(ContextCommandOptions& options) {
  return {.name = "name",
          .value = Value::Text("NAME"),
          .description = "The context",
          .to = &options.name,
          .need = Need::kRequired};
}

Option SessionOption(ContextCommandOptions& options) {
  return {.names = "--session",
          .value = Value::Session(),
          .description = "In a session of the daemon, in place of your own",
          .to = &options.session};
}

Command ForkCommand(const Context& context) {
  auto options = std::make_shared<ContextCommandOptions>();
  return {.name = "fork",
          .description = "Make a second Python context with the same variables and files of its own",
          .footer = "Example:\n  skerry context fork analysis what-if",
          .arguments = {NameArgument(*options),
                        {.name = "new",
                         .value = Value::Text("NEW"),
                         .description = "What to call it",
                         .to = &options->new_name,
                         .need = Need::kRequired}},
          .options = {SessionOption(*options),
                      {.names = "--json",
                       .description = "Print what could not be carried over as an object",
                       .to = &options->json}},
          .action = [=, &context] { return Fork(context, *options); }};
}

}  // namespace

Command ContextCommand(const Context& context) {
  auto options = std::make_shared<ContextCommandOptions>();
  return {.name = "context",
          .description = "List, interrupt, restart, fork and delete what run --context makes",
          .footer =
              "A daemon in the background keeps the contexts. It starts with the first, and ends 30 minutes after the "
              "last use.\n\n"
              "Examples:\n"
              "  skerry run --context analysis 'x = 6'\n"
              "  skerry run --context analysis 'x * 7'\n"
              "  skerry context list",
          .commands = {{.name = "list",
                        .description = "List the contexts of this user",
                        .footer = "Example:\n  skerry context list --json",
                        .options = {SessionOption(*options),
                                    {.names = "--json", .description = "As an array of objects", .to = &options->json}},
                        .action = [=, &context] { return List(context, *options); }},
                       {.name = "interrupt",
                        .description = "End the cell that runs, as Ctrl-C does; the variables stay",
                        .footer = "Example:\n  skerry context interrupt analysis",
                        .arguments = {NameArgument(*options)},
                        .options = {SessionOption(*options)},
                        .action = [=, &context] { return Interrupt(context, *options); }},
                       {.name = "restart",
                        .description = "Begin anew under the same name: no variables, no files; also when it has died",
                        .footer = "Example:\n  skerry context restart analysis",
                        .arguments = {NameArgument(*options)},
                        .options = {SessionOption(*options)},
                        .action = [=, &context] { return Restart(context, *options); }},
                       ForkCommand(context),
                       {.name = "delete",
                        .description = "End a context and burn its files",
                        .footer = "Example:\n  skerry context delete analysis",
                        .arguments = {NameArgument(*options)},
                        .options = {SessionOption(*options)},
                        .action = [=, &context] { return Delete(context, *options); }},
                       {.name = "stop",
                        .description = "End all contexts of your own and the daemon in the background that keeps them",
                        .footer = "Example:\n  skerry context stop",
                        .action = [] { return Stop(); }}}};
}

}  // namespace skerry::cli
