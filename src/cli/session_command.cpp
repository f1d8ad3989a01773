// skerry session: workspaces that stay, with the record of what happened in them.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/session_parts.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/terminal_filter.hpp"
#include "cli/tty.hpp"
#include "confirm/code_view.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SessionCommandOptions {
  std::string name;
  std::vector<std::string> names;
  bool force = false;
  bool json = false;
};

base::Result<Json> AllSessions(DaemonClient& daemon) {
  Json rows = Json::array();
  std::optional<std::string> cursor;
  do {
    SKERRY_ASSIGN_OR_RETURN(const Json page,
                            daemon.Ask("GET", WithQuery("/v1/sessions", {{"limit", "1000"}, {"cursor", cursor}})));
    for (const Json& session : ListIn(page, "items")) rows.push_back(SessionForPeople(session));
    const std::string next = TextIn(page, "next_cursor");
    cursor = next.empty() ? std::nullopt : std::optional(next);
  } while (cursor);
  return rows;
}

// The time in whole seconds.
std::string TimeAsText(const Json& object, const char* name) {
  const auto time = TimeIn(object, name);
  return time ? Moment(*time) : "-";
}

// Colours states that need attention.
std::string StateColoured(const std::string& state, confirm::Colour colour) {
  if (state == "crashed") return confirm::Coloured(state, core::RiskLevel::kHigh, colour);
  if (state == "paused") return confirm::Coloured(state, core::RiskLevel::kMedium, colour);
  if (state == "busy") return confirm::Coloured(state, core::RiskLevel::kLow, colour);
  return state;
}

base::Result<int> List(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json rows, AllSessions(daemon));
  if (options.json) {
    PrintIndented(rows);
    return 0;
  }
  std::vector<std::vector<std::string>> table = {{"SESSION", "STATE", "LAST USED"}};
  for (const Json& row : rows) table.push_back({TextIn(row, "id"), TextIn(row, "state"), TimeAsText(row, "used_at")});
  const auto paint = [colour = ColoursFor(STDOUT_FILENO)](std::size_t column, const std::string& cell) {
    return column == 1 ? StateColoured(cell, colour) : cell;
  };
  Print(rows.empty() ? "no sessions; skerry session create makes one\n" : AsTable(table, paint));
  return 0;
}

base::Result<int> Show(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.name));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(Json session, daemon.Ask("GET", target));
  session = SessionForPeople(std::move(session));
  options.json ? PrintIndented(session) : Print(FieldsAsTable(session));
  return 0;
}

base::Result<int> Delete(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  for (const std::string& name : options.names) {
    SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(name));
    SKERRY_RETURN_IF_ERROR(daemon.Ask("DELETE", target));
    if (!options.json) Print("deleted " + name + "\n");
  }
  if (options.json) PrintIndented({{"deleted", options.names}});
  return 0;
}

base::Result<int> Diff(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.name, "/diff"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const std::string diff, daemon.AskText(target));
  Print(ForDescriptor(STDOUT_FILENO, diff));
  return 0;
}

void PrintChanges(const Json& files) {
  for (const Json& file : files) Print(TextIn(file, "action") + " " + base::Printable(BytesIn(file, "path")) + "\n");
}

base::Result<int> Undo(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.name, "/undo"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json undone, daemon.Ask("POST", target, {{"force", options.force}}));
  options.json ? void(PrintIndented(undone)) : PrintChanges(ListIn(undone, "files"));
  return 0;
}

base::Result<int> Check(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.name, "/check"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json checked, daemon.Ask("GET", target));
  const bool matches = FlagIn(checked, "matches");
  if (options.json) {
    PrintIndented(checked);
  } else if (matches) {
    Print("the record and the files of " + options.name + " agree\n");
  } else {
    Note("these files were changed without a record:");
    PrintChanges(ListIn(checked, "files"));
  }
  return matches ? 0 : 1;
}

}  // namespace

Command SessionCommand(const Context& context) {
  auto options = std::make_shared<SessionCommandOptions>();
  const Argument name = SessionNameArgument(options->name);
  const Option json = {.names = "--json", .description = "Print JSON", .to = &options->json};
  return {.name = "session",
          .description = "Workspaces that stay, and the record of what happened in them",
          .footer =
              "Sessions are the daemon's: skerry serve, or the one that SKERRY_URL names.\n\n"
              "Examples:\n"
              "  skerry session create work\n"
              "  skerry run --session work -l shell 'echo hello > note.txt'\n"
              "  skerry exec work -- ls -l\n"
              "  skerry session diff work; skerry session undo work\n"
              "  skerry history work",
          .commands = {SessionCreateCommand(context),
                       {.name = "list",
                        .description = "The sessions that are there",
                        .options = {json},
                        .action = [=, &context] { return List(context, *options); }},
                       {.name = "show",
                        .description = "How it is set up, and what it takes of its space",
                        .arguments = {name},
                        .options = {json},
                        .action = [=, &context] { return Show(context, *options); }},
                       {.name = "delete",
                        .description = "End sessions and what runs in them: their files go",
                        .arguments = {{.name = "sessions",
                                       .value = Value::Session("SESSION..."),
                                       .description = "Their names",
                                       .to = &options->names,
                                       .need = Need::kRequired}},
                        .options = {json},
                        .action = [=, &context] { return Delete(context, *options); }},
                       SessionExtendCommand(context),
                       SessionPauseCommand(context),
                       SessionResumeCommand(context),
                       SessionStopCommand(context),
                       {.name = "diff",
                        .description = "What the last run that changed something did, as a unified diff",
                        .arguments = {name},
                        .options = {json},
                        .action = [=, &context] { return Diff(context, *options); }},
                       {.name = "undo",
                        .description = "Take back what the last run that changed something did",
                        .arguments = {name},
                        .options = {json,
                                    {.names = "--force",
                                     .description = "Also where files were changed since",
                                     .to = &options->force}},
                        .action = [=, &context] { return Undo(context, *options); }},
                       {.name = "check",
                        .description = "Compare the files with the record of them",
                        .arguments = {name},
                        .options = {json},
                        .action = [=, &context] { return Check(context, *options); }}}};
}

}  // namespace skerry::cli
