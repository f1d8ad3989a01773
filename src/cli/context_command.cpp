// skerry context: what becomes of the contexts that skerry run --context makes.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/context_client.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "engine/context_manager.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono_literals::operator""s;

constexpr auto kAnswerPatience = 300s;
constexpr auto kEndPatience = 60s;

struct ContextCommandOptions {
  std::string name;
  std::string new_name;
  bool json = false;
};

std::string MomentOf(std::int64_t milliseconds) {
  return Moment(core::TimePoint(std::chrono::milliseconds(milliseconds)));
}

bool PrintJson(const Json& json) {
  return Print(json::IndentedText(json));
}

std::unexpected<base::Error> NoContext(const std::string& name) {
  return base::Err(base::Code::kNotFound,
                   "there is no context '" + name + "'; skerry run --context " + name + " CODE makes it");
}

// One request about one context.
base::Result<Json> Ask(const Context& context, const char* what, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(options.name));
  auto client = KeeperClient::Open(context, KeeperClient::Start::kNever);
  if (!client && client.error().code == base::Code::kNotFound) return NoContext(options.name);
  if (!client) return std::unexpected(std::move(client).error());
  SKERRY_RETURN_IF_ERROR(client->Ask({{"do", what}, {"context", options.name}, {"new_context", options.new_name}}));
  return client->Hear(base::Deadline::After(kAnswerPatience));
}

// The rows of the keeper with times as people write them.
base::Result<Json> Rows(const Context& context) {
  auto client = KeeperClient::Open(context, KeeperClient::Start::kNever);
  if (!client && client.error().code == base::Code::kNotFound) return Json::array();
  if (!client) return std::unexpected(std::move(client).error());
  SKERRY_RETURN_IF_ERROR(client->Ask({{"do", "list"}}));
  SKERRY_ASSIGN_OR_RETURN(const Json answer, client->Hear(base::Deadline::After(kAnswerPatience)));
  Json rows = Json::array();
  for (const Json& each : answer.value("contexts", Json::array()))
    rows.push_back({{"name", each.value("name", "")},
                    {"language", each.value("language", "")},
                    {"state", each.value("state", "")},
                    {"cells", each.value("cells", std::uint64_t{0})},
                    {"start", each.value("start", "")},
                    {"created", MomentOf(each.value("created_ms", std::int64_t{0}))},
                    {"last_used", MomentOf(each.value("last_used_ms", std::int64_t{0}))}});
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
  SKERRY_ASSIGN_OR_RETURN(const Json rows, Rows(context));
  options.json ? PrintJson(rows) : Print(AsText(rows));
  return 0;
}

base::Result<int> Interrupt(const Context& context, const ContextCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Json answer, Ask(context, "interrupt", options));
  Print(answer.value("busy", false) ? "interrupted " + options.name + "\n"
                                    : "nothing is running in " + options.name + "\n");
  return 0;
}

base::Result<int> Restart(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(Ask(context, "restart", options));
  Print("restarted " + options.name + "\n");
  return 0;
}

base::Result<int> Delete(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(Ask(context, "delete", options));
  Print("deleted " + options.name + "\n");
  return 0;
}

base::Result<int> Fork(const Context& context, const ContextCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(options.new_name));
  SKERRY_ASSIGN_OR_RETURN(Json answer, Ask(context, "fork", options));
  if (options.json) {
    answer.erase("done");
    Json object = {{"context", options.name}, {"new_context", options.new_name}};
    object.update(answer);
    PrintJson(object);
    return 0;
  }
  Print("forked " + options.name + " into " + options.new_name + "\n");
  for (const Json& name : answer.value("variables_left_out", Json::array()))
    Note("not carried over: variable " + name.get<std::string>());
  for (const Json& line : answer.value("files_left_out", Json::array()))
    Note("not carried over: " + line.get<std::string>());
  return 0;
}

base::Result<int> Stop(const Context& context) {
  auto client = KeeperClient::Open(context, KeeperClient::Start::kNever);
  if (!client && client.error().code == base::Code::kNotFound) {
    Print("there are no contexts\n");
    return 0;
  }
  if (!client) return std::unexpected(std::move(client).error());
  SKERRY_RETURN_IF_ERROR(client->Ask({{"do", "stop"}}));
  SKERRY_RETURN_IF_ERROR(client->AwaitEnd(base::Deadline::After(kEndPatience)));
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
          .options = {{.names = "--json",
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
              "A process in the background keeps the contexts. It starts with the first, and ends 30 minutes after the "
              "last use.\n\n"
              "Examples:\n"
              "  skerry run --context analysis 'x = 6'\n"
              "  skerry run --context analysis 'x * 7'\n"
              "  skerry context list",
          .commands = {{.name = "list",
                        .description = "List the contexts of this user",
                        .footer = "Example:\n  skerry context list --json",
                        .options = {{.names = "--json", .description = "As an array of objects", .to = &options->json}},
                        .action = [=, &context] { return List(context, *options); }},
                       {.name = "interrupt",
                        .description = "End the cell that runs, as Ctrl-C does; the variables stay",
                        .footer = "Example:\n  skerry context interrupt analysis",
                        .arguments = {NameArgument(*options)},
                        .action = [=, &context] { return Interrupt(context, *options); }},
                       {.name = "restart",
                        .description = "Begin anew under the same name: no variables, no files; also when it has died",
                        .footer = "Example:\n  skerry context restart analysis",
                        .arguments = {NameArgument(*options)},
                        .action = [=, &context] { return Restart(context, *options); }},
                       ForkCommand(context),
                       {.name = "delete",
                        .description = "End a context and burn its files",
                        .footer = "Example:\n  skerry context delete analysis",
                        .arguments = {NameArgument(*options)},
                        .action = [=, &context] { return Delete(context, *options); }},
                       {.name = "stop",
                        .description = "End all contexts and the process in the background that keeps them",
                        .footer = "Example:\n  skerry context stop",
                        .action = [&context] { return Stop(context); }}}};
}

}  // namespace skerry::cli
