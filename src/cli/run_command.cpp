// skerry run: one piece of code in one sandbox, its output and exit code passed through.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/context_run.hpp"
#include "cli/gate_options.hpp"
#include "cli/program_sink.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/run_options.hpp"
#include "cli/run_report.hpp"
#include "cli/session_run.hpp"
#include "cli/signal_watch.hpp"
#include "cli/stdin_feed.hpp"
#include "cli/terminal.hpp"
#include "cli/window_watch.hpp"
#include "core/backend_registry.hpp"
#include "engine/sandbox_manager.hpp"
#include "json/execution_json.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

int InputFor(const RunOptions& options) {
  const bool usable = !options.source.IsStdin() && ::fcntl(STDIN_FILENO, F_GETFD) >= 0;
  return usable ? STDIN_FILENO : -1;
}

Shown ShownFor(const RunOptions& options) {
  if (options.raw) return Shown::kRaw;
  return options.terminal ? Shown::kScreen : Shown::kLines;
}

engine::TerminalOptions TerminalOf() {
  const char* type = std::getenv("TERM");
  return {.type = type != nullptr && *type != '\0' ? type : "dumb"};
}

// The program's own exit code, unless a signal or the loss of the reader of stdout cancelled the run.
int ExitCodeOf(const core::ExecutionResult& result, const SignalWatch& signals, const ProgramSink& sink) {
  if (result.outcome.kind != core::OutcomeKind::kCancelled) return result.outcome.exit_code;
  if (signals.signal() != 0) return 128 + signals.signal();
  if (sink.error() == EPIPE) return 128 + SIGPIPE;
  return base::RowOf(base::Code::kInternal).exit_code;
}

base::Result<int> Execute(const RunOptions& options, const Context& context) {
  if (options.context) return RunInContext(options, context);
  if (options.save_outputs)
    return base::Err(base::Code::kInvalidArgument, "--save-outputs is for cells; use it with --context");
  if (options.session) return RunInSession(options, context);
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(options)));
  const config::Sandbox& sandbox = loaded.config.sandbox;
  SKERRY_ASSIGN_OR_RETURN(core::ExecutionRequest request, RequestOf(options, sandbox));
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends(sandbox));
  SKERRY_ASSIGN_OR_RETURN(engine::ManagerOptions manager_options, ManagerOptionsOf(options, sandbox));
  manager_options.gate.confirmation = ConfirmationFor(options.yes ? engine::Consent::kGiven : engine::Consent::kAsk);
  engine::SandboxManager manager(*registry, std::move(manager_options));
  manager.AddUsualEnvironment(request);
  const SignalWatch signals;
  ProgramSink sink(ShownFor(options), signals.interrupt_fd());
  StdinFeed input(InputFor(options));
  engine::RunStreams streams{
      .sink = options.json ? nullptr : &sink, .input = input.known(), .controls = &input.controls()};
  engine::RunOccasion occasion;
  std::optional<RawTerminal> raw;
  std::optional<WindowWatch> window;
  if (options.terminal) {
    streams.terminal = TerminalOf();
    window.emplace(signals, input.controls());
  }
  // Questions come before: they need a terminal in line mode, and typed text is an answer until then.
  occasion.admitted = [&] {
    if (options.terminal) raw.emplace();
    input.Begin();
  };
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionResult result,
                          manager.Execute(request, streams, occasion, signals.token()));
  sink.Finish();
  raw.reset();
  if (options.json) {
    if (!Print(json::ToJson(result) + "\n"))
      return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  } else {
    const auto told = json::ResultToJson(result);
    if (request.sandbox_type != core::kAutoSandbox && !result.sandbox_type.empty() &&
        result.sandbox_type != request.sandbox_type)
      Note("ran in the " + result.sandbox_type + " sandbox: the strict mode does not let programs into the " +
           request.sandbox_type + " one; --mode permissive does");
    ReportEnd(told, sink.error());
    if (options.dry_run && result.outcome.kind != core::OutcomeKind::kRejected) ShowChanges(told);
  }
  return ExitCodeOf(result, signals, sink);
}

int Run(const RunOptions& options, const Context& context) {
  const auto exit_code = Execute(options, context);
  if (exit_code) return *exit_code;
  if (options.json) Print(json::ToJson(exit_code.error()) + "\n");
  return ReportError(exit_code.error());
}

// "one, two or three"
std::string InWords(const std::vector<std::string>& names) {
  std::string words;
  for (std::size_t i = 0; i < names.size(); ++i)
    words += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return words;
}

std::vector<Option> OptionsInto(RunOptions& options, const std::vector<std::string>& backends) {
  std::vector<std::string> sandboxes = {std::string(core::kAutoSandbox)};
  sandboxes.insert(sandboxes.end(), backends.begin(), backends.end());
  std::vector<Option> all = {
      {.names = "-f,--file",
       .value = Value::File(),
       .description = "Read the code from FILE; its extension tells the language",
       .to = &options.source.file},
      {.names = "-l,--language",
       .value = Value::OneOf("LANGUAGE", {"python", "javascript", "shell"}),
       .description = "python (default), javascript or shell",
       .to = &options.language},
      {.names = "-t,--timeout",
       .value = Value::Text("SECONDS"),
       .description = "Seconds until the whole process tree is ended, 1 to 300 (30)",
       .to = &options.timeout},
      {.names = "-m,--memory",
       .value = Value::Text("MB"),
       .description = "Memory for all processes together, from 16 (512)",
       .to = &options.memory},
      {.names = "--max-output",
       .value = Value::Text("MB"),
       .description = "Output that is passed on (100) or kept with --json (10)",
       .to = &options.max_output},
      {.names = "-s,--sandbox",
       .value = Value::OneOf("TYPE", sandboxes),
       .description = "auto (default), " + InWords(backends) + "; see skerry backends",
       .to = &options.sandbox},
      {.names = "--mode",
       .value = Value::OneOf("MODE", {"strict", "permissive"}),
       .description =
           "strict (default: always isolated) or permissive (what --sandbox says, else what the risk suggests)",
       .to = &options.mode},
      {.names = "-w,--workspace",
       .value = Value::Directory(),
       .description = "Your directory as /workspace: changes are carried over when all has ended; without it an "
                      "empty one that is burned afterwards",
       .to = &options.workspace},
      {.names = "--session",
       .value = Value::Session(),
       .description = "Run in a session of the daemon, which keeps its files and a record; see skerry session",
       .to = &options.session},
      {.names = "--dry-run",
       .description = "With --workspace or --session: show what would change there, and change nothing",
       .to = &options.dry_run},
      {.names = "--caused-by",
       .value = Value::Text("ID"),
       .description = "With --session: the execution that led to this one, for the record",
       .to = &options.caused_by},
      {.names = "--image",
       .value = Value::Text("NAME"),
       .description = "Programs of an imported root file system; see skerry image --help",
       .to = &options.image},
      {.names = "--context",
       .value = Value::Text("NAME"),
       .description =
           "Run the code as a cell of the context NAME, which keeps its variables and files; see skerry context",
       .to = &options.context},
      {.names = "--save-outputs",
       .value = Value::Directory(),
       .description = "With --context: write the pictures and HTML that a cell shows to files in DIR",
       .to = &options.save_outputs},
      {.names = "--tty",
       .description = "Give the program a terminal: shells with job control, editors, prompts",
       .to = &options.terminal},
      {.names = "--raw",
       .description = "Pass every byte on to a terminal too; else what would make it answer or act is left out",
       .to = &options.raw},
      {.names = "--cpu",
       .value = Value::Text("PERCENT"),
       .description = "Share of the CPU in percent of one core (no limit)",
       .to = &options.cpu},
      {.names = "--disk",
       .value = Value::Text("MB"),
       .description = "What may be written to the workspace, at most half of the memory (1024)",
       .to = &options.disk},
      {.names = "--allow-read",
       .value = Value::File("PATH"),
       .description = "Show a file or directory of the host, read-only, at its path",
       .to = &options.allow_read},
      {.names = "--allow-write",
       .value = Value::File("PATH"),
       .description = "Show a file or directory of the host and let it be written",
       .to = &options.allow_write},
      {.names = "--dangerously-allow",
       .value = Value::File("PATH"),
       .description = "Accept a path of the two options above that is refused as dangerous",
       .to = &options.dangerously_allow},
      {.names = "--allow-domain",
       .value = Value::Text("DOMAIN"),
       .description = "Let the sandbox reach this domain (not in this version)",
       .to = &options.allowed_domains},
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

Command RunCommand(const Context& context) {
  auto options = std::make_shared<RunOptions>();
  return {
      .name = "run",
      .description = "Run code in a sandbox of its own, or in a session; stdout, stderr and exit code pass through",
      .footer =
          "Examples:\n"
          "  skerry run 'print(6*7)'\n"
          "  echo 'console.log(1)' | skerry run -l javascript -\n"
          "  skerry run -l shell --timeout 5 --workspace ./project 'make test'\n"
          "  skerry run -f script.py --env-file .env -- --input data.csv\n"
          "  skerry run --session work -l shell 'ls -l'\n"
          "  skerry run --context analysis 'x = 6'; skerry run --context analysis 'x * 7'\n\n"
          "Exit codes: the program's own; 124 timeout, 125 Skerry failed, 126 refused, 137 out of memory or killed.",
      .arguments = {{.name = "code",
                     .value = Value::Text("CODE|-"),
                     .description = "The code, or - to read it from stdin",
                     .to = &options->source.code},
                    {.name = "arguments",
                     .value = Value::Text("-- ARGUMENTS..."),
                     .description = "What the code finds as its arguments; put -- before them",
                     .to = &options->argument}},
      .options = OptionsInto(*options, context.BackendNames()),
      .rest = &options->rest,
      .action = [=, &context] { return Run(*options, context); }};
}

}  // namespace skerry::cli
