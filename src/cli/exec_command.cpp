// skerry exec: a command in a session, with the person's streams or terminal.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/attachment.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/environment.hpp"
#include "cli/piped_input.hpp"
#include "cli/run_report.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExecOptions {
  std::string session;
  std::string program;
  std::vector<std::string> rest;  // of the command line: the program's arguments, with the -- that was given
  EnvironmentOptions environment;
  std::optional<std::string> directory;
  std::optional<std::uint64_t> timeout;
  bool interactive = false;
  bool terminal = false;
  bool detach = false;
  bool yes = false;
  bool raw = false;
  bool json = false;
};

// Everything after -- is the program's.
base::Result<std::vector<std::string>> CommandOf(const ExecOptions& options) {
  std::vector<std::string> command = {options.program};
  const bool marked = !options.rest.empty() && options.rest.front() == "--";
  command.insert(command.end(), options.rest.begin() + (marked ? 1 : 0), options.rest.end());
  for (const std::string& argument : command) SKERRY_RETURN_IF_ERROR(CheckIsText(argument, "an argument"));
  return command;
}

base::Status CheckOptions(const ExecOptions& options) {
  const auto refuse = [](const std::string& what) { return base::Err(base::Code::kInvalidArgument, what); };
  if (options.terminal && options.detach) return refuse("-t needs somebody at the terminal, and --detach leaves");
  if (options.terminal && options.json) return refuse("-t passes a terminal through and --json collects; use one");
  if (options.detach && options.interactive) return refuse("-i passes stdin on, and --detach leaves");
  if (options.terminal && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1))
    return refuse("-t needs a terminal, and stdin or stdout is none");
  if (options.directory) SKERRY_RETURN_IF_ERROR(CheckIsText(*options.directory, "--directory"));
  return {};
}

Shown ShownFor(const ExecOptions& options) {
  if (options.raw) return Shown::kRaw;
  return options.terminal ? Shown::kScreen : Shown::kLines;
}

Input InputFor(const ExecOptions& options) {
  if (options.detach) return Input::kNone;
  return options.interactive || options.terminal || StdinIsPiped() ? Input::kPassedOn : Input::kNone;
}

base::Result<Json> BodyOf(const ExecOptions& options) {
  constexpr std::uint64_t kDay = 86'400;
  constexpr std::uint64_t kUsual = 300;
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> command, CommandOf(options));
  Json body = {{"argv", command}, {"background", true}, {"stdin", InputFor(options) == Input::kPassedOn}};
  SKERRY_RETURN_IF_ERROR(AddEnvironment(options.environment, body));
  if (options.terminal) {
    const core::TerminalSize size = RawTerminal::Size();
    body["terminal"] = {{"rows", size.rows}, {"columns", size.columns}};
    const char* type = std::getenv("TERM");
    const bool given = ObjectIn(body, "environment").contains("TERM") || ObjectIn(body, "secrets").contains("TERM");
    if (!given && type != nullptr && *type != '\0') body["environment"]["TERM"] = type;
  }
  if (options.directory) body["directory"] = *options.directory;
  if (options.yes) body["approve"] = true;
  if (options.timeout) {
    body["timeout"] = *options.timeout;
  } else if (!options.detach) {
    body["timeout"] = options.terminal ? kDay : kUsual;
  }
  return body;
}

// Like a shell: after an interrupt the exit code is 128 and the signal's number.
base::Result<int> Conclude(DaemonClient& daemon, const ExecOptions& options, const std::string& id,
                           const Attachment& attachment) {
  SKERRY_ASSIGN_OR_RETURN(const Json execution, daemon.Ask("GET", "/v1/executions/" + net::Escape(id)));
  const Json& result = ObjectIn(execution, "result");
  SKERRY_RETURN_IF_ERROR(FailureIn(result));
  if (options.json) {
    SKERRY_RETURN_IF_ERROR(
        WriteText(ResultWithOutput(result, attachment.standard_output(), attachment.standard_error()) + "\n"));
  } else {
    ReportEnd(result, attachment.write_error());
  }
  const bool cancelled = TextIn(result, "outcome") == "cancelled";
  if (cancelled && attachment.signal() != 0) return 128 + attachment.signal();
  return static_cast<int>(NumberIn(result, "exit_code"));
}

base::Result<int> Attend(DaemonClient& daemon, const ExecOptions& options, const std::string& commands,
                         const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(auto socket, daemon.Connect(commands + "/" + net::Escape(id) + "/attach?on_disconnect=kill"));
  Attachment attachment(socket, daemon,
                        {.input = InputFor(options),
                         .window = options.terminal ? Window::kRaw : Window::kNone,
                         .output = options.json ? Output::kCollected : Output::kPassedOn,
                         .shown = ShownFor(options)});
  SKERRY_ASSIGN_OR_RETURN(const auto end, attachment.Run());
  if (end) return Conclude(daemon, options, id, attachment);
  // The command in the session ends with the connection.
  socket.Close();
  if (attachment.write_error() == EPIPE) return 128 + SIGPIPE;
  if (attachment.write_error() == 0) return 128 + attachment.signal();
  return base::Err(base::Code::kInternal, "cannot write to stdout");
}

base::Result<int> Exec(const Context& context, const ExecOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const std::string commands, InSession(options.session, "/commands"));
  SKERRY_ASSIGN_OR_RETURN(const Json body, BodyOf(options));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json execution, daemon.Ask("POST", commands, body));
  const std::string id = TextIn(execution, "id");
  if (!options.detach) return Attend(daemon, options, commands, id);
  SKERRY_RETURN_IF_ERROR(options.json ? WriteJson(execution) : WriteText(id + "\n"));
  return 0;
}

std::vector<Option> OptionsInto(ExecOptions& options) {
  std::vector<Option> all = {
      {.names = "-i,--interactive",
       .description = "Pass stdin on also when it is a terminal",
       .to = &options.interactive},
      {.names = "-t,--tty",
       .description = "Give it a terminal: shells, editors, prompts; passes stdin on",
       .to = &options.terminal},
      {.names = "--raw",
       .description = "Pass every byte on to a terminal too; else what would make it answer or act is left out",
       .to = &options.raw},
      {.names = "--directory",
       .value = Value::Text("DIR"),  // a directory in the session
       .description = "Where it starts, in the workspace",
       .to = &options.directory},
      {.names = "--timeout",
       .value = Value::Text("SECONDS"),
       .description = "Seconds until it is ended, up to 86400 (300; with -t 86400)",
       .to = &options.timeout},
      {.names = "--detach",
       .description = "Leave it running, and print the id of its execution",
       .to = &options.detach},
      {.names = "-y,--yes",
       .description = "Run without asking what is risky; what the policy refuses stays refused",
       .to = &options.yes},
      {.names = "--json",
       .description = "Print one result object instead of passing the output through",
       .to = &options.json}};
  AddOptions(all, options.environment);
  return all;
}

}  // namespace

Command ExecCommand(const Context& context) {
  auto options = std::make_shared<ExecOptions>();
  return {
      .name = "exec",
      .description = "Run a command in a session, with your streams or your terminal",
      .footer =
          "What comes on stdin by a pipe or a file is passed on. Ctrl-C goes to the command; the second one ends "
          "it.\n\n"
          "Examples:\n"
          "  skerry exec work -- ls -l\n"
          "  tar -cz src | skerry exec work -- tar -xz\n"
          "  skerry exec -t work -- bash\n"
          "  skerry exec --detach work -- python3 server.py\n\n"
          "Exit codes: the command's own; 124 timeout, 125 Skerry failed, 126 refused, 137 out of memory or killed.",
      .arguments = {{.name = "session",
                     .value = Value::Session(),
                     .description = "The session; see skerry session list",
                     .to = &options->session,
                     .need = Need::kRequired},
                    {.name = "command",
                     .value = Value::Text("-- COMMAND ARGUMENTS..."),
                     .description = "The command and its arguments; put -- before them",
                     .to = &options->program,
                     .need = Need::kRequired}},
      .options = OptionsInto(*options),
      .rest = &options->rest,
      .action = [=, &context] { return Exec(context, *options); },
      .errors_as_json = &options->json};
}

}  // namespace skerry::cli
