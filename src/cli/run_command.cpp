// skerry run: one piece of code in one sandbox, its output and exit code passed through.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/context_run.hpp"
#include "cli/fd_sink.hpp"
#include "cli/gate_options.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/run_options.hpp"
#include "cli/run_report.hpp"
#include "cli/session_run.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"
#include "engine/sandbox_manager.hpp"
#include "json/execution_json.hpp"

namespace skerry::cli {
namespace {

int InputFor(const RunOptions& options) {
  const bool usable = !options.source.IsStdin() && ::fcntl(STDIN_FILENO, F_GETFD) >= 0;
  return usable ? STDIN_FILENO : -1;
}

engine::TerminalOptions TerminalOf(const SignalWatch& signals) {
  const char* type = std::getenv("TERM");
  return {.size = RawTerminal::Size,
          .resized_fd = signals.resized_fd(),
          .type = type != nullptr && *type != '\0' ? type : "dumb"};
}

// The program's own exit code, unless we were told to stop or lost our reader.
int ExitCodeOf(const core::ExecutionResult& result, const SignalWatch& signals, const FdSink& sink) {
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
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionRequest request, RequestOf(options, sandbox));
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends());
  SKERRY_ASSIGN_OR_RETURN(engine::ManagerOptions manager_options, ManagerOptionsOf(options, sandbox));
  manager_options.gate.confirmation = ConfirmationFor(options.yes ? Consent::kYes : Consent::kAsk);
  engine::SandboxManager manager(*registry, std::move(manager_options));
  const SignalWatch signals;
  FdSink sink(STDOUT_FILENO, STDERR_FILENO, signals.interrupt_fd());
  engine::RunStreams streams{.sink = options.json ? nullptr : &sink, .input_fd = InputFor(options)};
  std::optional<RawTerminal> raw;
  if (options.terminal) {
    streams.terminal = TerminalOf(signals);
    // Questions come before: they need a terminal that works line by line.
    streams.admitted = [&raw] { raw.emplace(); };
  }
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionResult result, manager.Execute(request, streams, signals.token()));
  raw.reset();
  if (options.json) {
    if (!Print(json::ToJson(result) + "\n"))
      return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  } else {
    const auto told = nlohmann::ordered_json::parse(json::ToJson(result));
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

}  // namespace

void AddRunCommand(CLI::App& app, const Context& context, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = app.add_subcommand(
      "run", "Run code in a sandbox of its own, or in a session; stdout, stderr and exit code pass through");
  run->add_option("code", options->source.code, "The code, or - to read it from stdin")->option_text("CODE|-");
  run->add_option("-f,--file", options->source.file, "Read the code from FILE; its extension tells the language")
      ->option_text("FILE");
  run->add_option("-l,--language", options->language, "python (default), javascript or shell")->option_text("LANGUAGE");
  run->add_option("-t,--timeout", options->timeout, "Seconds until the whole process tree is ended, 1 to 300 (30)")
      ->option_text("SECONDS");
  run->add_option("-m,--memory", options->memory, "Memory for all processes together, from 16 (512)")
      ->option_text("MB");
  run->add_option("--max-output", options->max_output, "Output that is passed on (100) or kept with --json (10)")
      ->option_text("MB");
  run->add_option("-s,--sandbox", options->sandbox, "auto (default), native or subprocess; see skerry backends")
      ->option_text("TYPE");
  run->add_option("--mode", options->mode,
                  "strict (default: always isolated) or permissive (what --sandbox says, else what the risk suggests)")
      ->option_text("MODE");
  run->add_option("-w,--workspace", options->workspace,
                  "Your directory as /workspace: changes are carried over when all has ended; without it an empty one "
                  "that is burned afterwards")
      ->option_text("DIR");
  run->add_option("--session", options->session,
                  "Run in a session of the daemon, which keeps its files and a record; see skerry session")
      ->option_text("SESSION");
  run->add_flag("--dry-run", options->dry_run,
                "With --workspace or --session: show what would change there, and change nothing");
  run->add_option("--caused-by", options->caused_by,
                  "With --session: the execution that led to this one, for the record")
      ->option_text("ID");
  run->add_option("--image", options->image, "Programs of an imported root file system; see skerry image --help")
      ->option_text("NAME");
  run->add_option("--context", options->context,
                  "Run the code as a cell of the context NAME, which keeps its variables and files; see skerry context")
      ->option_text("NAME");
  run->add_option("--save-outputs", options->save_outputs,
                  "With --context: write the pictures and HTML that a cell shows to files in DIR")
      ->option_text("DIR");
  run->add_flag("--tty", options->terminal, "Give the program a terminal: shells with job control, editors, prompts");
  run->add_option("--cpu", options->cpu, "Share of the CPU in percent of one core (no limit)")->option_text("PERCENT");
  run->add_option("--disk", options->disk, "What may be written to the workspace, at most half of the memory (1024)")
      ->option_text("MB");
  run->add_option("--allow-read", options->allow_read, "Show a file or directory of the host, read-only, at its path")
      ->option_text("PATH")
      ->allow_extra_args(false);
  run->add_option("--allow-write", options->allow_write, "Show a file or directory of the host and let it be written")
      ->option_text("PATH")
      ->allow_extra_args(false);
  run->add_option("--dangerously-allow", options->dangerously_allow,
                  "Accept a path of the two options above that is refused as dangerous")
      ->option_text("PATH")
      ->allow_extra_args(false);
  run->add_option("--allow-domain", options->allowed_domains, "Let the sandbox reach this domain (not in this version)")
      ->option_text("DOMAIN")
      ->allow_extra_args(false);
  run->add_flag("-y,--yes", options->yes, "Run without asking what is risky; what the policy refuses stays refused");
  run->add_flag("--json", options->json, "Print one result object instead of passing the output through");
  run->footer(
      "Examples:\n"
      "  skerry run 'print(6*7)'\n"
      "  echo 'console.log(1)' | skerry run -l javascript -\n"
      "  skerry run -l shell --timeout 5 --workspace ./project 'make test'\n"
      "  skerry run --session work -l shell 'ls -l'\n"
      "  skerry run --context analysis 'x = 6'; skerry run --context analysis 'x * 7'\n\n"
      "Exit codes: the program's own; 124 timeout, 125 Skerry failed, 126 refused, 137 out of memory or killed.");
  run->callback([=, &context, &exit_code] { exit_code = Run(*options, context); });
}

}  // namespace skerry::cli
