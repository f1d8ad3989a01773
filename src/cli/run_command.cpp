// skerry run: one piece of code in one sandbox, its output and exit code passed through.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/unique_fd.hpp"
#include "cli/command.hpp"
#include "cli/fd_sink.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"
#include "engine/sandbox_manager.hpp"
#include "json/execution_json.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kMaxCodeBytes = 16U << 20U;

struct RunOptions {
  std::optional<std::string> code;
  std::optional<std::string> file;
  std::optional<std::string> language;
  std::optional<std::string> timeout;
  std::optional<std::string> memory;
  std::optional<std::string> max_output;
  std::string sandbox = std::string(core::kAutoSandbox);
  std::optional<std::string> mode;
  std::optional<std::string> workspace;
  std::vector<std::string> allowed_domains;
  bool yes = false;
  bool json = false;
};

bool CodeComesFromStdin(const RunOptions& options) {
  return !options.file && options.code == "-";
}

base::Result<std::string> ReadCodeFile(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) < 0) return os::ErrnoErr("file '" + path + "'");
  if (S_ISDIR(facts.st_mode))
    return base::Err(base::Code::kInvalidArgument, path + ": is a directory, not a file with code");
  return os::ReadFile(path, kMaxCodeBytes);
}

base::Result<std::string> ReadCode(const RunOptions& options) {
  if (options.file && options.code)
    return base::Err(base::Code::kInvalidArgument, "give the code as an argument or with --file, not both");
  if (CodeComesFromStdin(options)) return os::ReadAll(STDIN_FILENO, kMaxCodeBytes);
  if (options.file) return ReadCodeFile(*options.file);
  if (options.code) return *options.code;
  return base::Err(base::Code::kInvalidArgument,
                   "there is no code to run; give it as an argument, with --file FILE, or as - for stdin");
}

// What --language says, else what the file's name says, else Python.
base::Result<core::Language> ChooseLanguage(const RunOptions& options) {
  if (options.language) return core::ParseLanguage(*options.language);
  const std::string file = options.file.value_or("");
  const auto dot = file.find_last_of('.');
  const std::string extension = dot == std::string::npos ? "" : file.substr(dot + 1);
  if (extension == "mjs" || extension == "cjs") return core::Language::kJavaScript;
  return core::ParseLanguage(extension == "js" || extension == "sh" || extension == "bash" ? extension : "python");
}

std::vector<config::Override> OverridesOf(const RunOptions& options) {
  std::vector<config::Override> overrides;
  const auto add = [&](const std::optional<std::string>& value, const char* path, const char* flag) {
    if (value) overrides.push_back({path, *value, flag});
  };
  add(options.timeout, "sandbox.limits.timeout", "--timeout");
  add(options.memory, "sandbox.limits.maxMemoryMb", "--memory");
  add(options.max_output, options.json ? "sandbox.limits.maxOutputMb" : "sandbox.limits.maxStreamMb", "--max-output");
  add(options.mode, "sandbox.security", "--mode");
  return overrides;
}

engine::ManagerOptions ManagerOptionsOf(const config::Sandbox& sandbox) {
  const config::Limits& limits = sandbox.limits;
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  return {.mode = sandbox.security == config::SecurityMode::kStrict ? policy::SecurityMode::kStrict
                                                                    : policy::SecurityMode::kPermissive,
          .default_backend = sandbox.backend,
          .workspace_base = config::ExpandHome(sandbox.workspace.base_dir, Context::Home()),
          .limits = {.memory_mb = number(limits.max_memory_mb),
                     .pids = number(limits.max_pids),
                     .open_files = number(limits.max_open_files),
                     .file_mb = number(limits.max_file_mb),
                     .tmp_mb = number(limits.tmp_mb)},
          .own_directories = {Context::Home() + "/.skerry",
                              config::ExpandHome(sandbox.workspace.base_dir, Context::Home())}};
}

base::Result<core::ExecutionRequest> RequestOf(const RunOptions& options, const config::Sandbox& sandbox) {
  if (!sandbox.enabled || sandbox.mode == config::LifeMode::kDisabled)
    return base::Err(
        base::Code::kDisabled,
        "sandboxing is disabled by the configuration, and code is not run without; see skerry config show");
  if (options.workspace && !(sandbox.filesystem.deny_read.empty() && sandbox.filesystem.deny_write.empty()))
    return base::Err(base::Code::kUnavailable,
                     "sandbox.filesystem.denyRead and denyWrite cannot be kept in a --workspace by this version");
  if (!options.allowed_domains.empty())
    return base::Err(base::Code::kUnavailable,
                     "--allow-domain: this version has no egress proxy yet, a sandbox has no network at all");
  core::ExecutionRequest request;
  SKERRY_ASSIGN_OR_RETURN(request.language, ChooseLanguage(options));
  SKERRY_ASSIGN_OR_RETURN(request.code, ReadCode(options));
  request.timeout = sandbox.limits.timeout;
  request.sandbox_type = options.sandbox;
  request.max_memory_mb = static_cast<std::uint64_t>(sandbox.limits.max_memory_mb);
  request.max_output_mb =
      static_cast<std::uint64_t>(options.json ? sandbox.limits.max_output_mb : sandbox.limits.max_stream_mb);
  request.workspace = options.workspace;
  return request;
}

int InputFor(const RunOptions& options) {
  const bool usable = !CodeComesFromStdin(options) && ::fcntl(STDIN_FILENO, F_GETFD) >= 0;
  return usable ? STDIN_FILENO : -1;
}

// The program's own exit code, unless we were told to stop or lost our reader.
int ExitCodeOf(const core::ExecutionResult& result, const SignalWatch& signals, const FdSink& sink) {
  if (result.outcome.kind != core::OutcomeKind::kCancelled) return result.outcome.exit_code;
  if (signals.signal() != 0) return 128 + signals.signal();
  if (sink.error() == EPIPE) return 128 + SIGPIPE;
  return base::RowOf(base::Code::kInternal).exit_code;
}

void ReportEnd(const core::ExecutionResult& result, const FdSink& sink) {
  if (result.output_truncated)
    Note("output cut: the program wrote " + std::to_string(result.output_bytes) + " bytes; see --max-output");
  if (result.outcome.kind == core::OutcomeKind::kCancelled && sink.error() != 0 && sink.error() != EPIPE)
    Note("cannot write the output: " + os::ErrnoText(sink.error()));
  const bool by_itself = result.outcome.kind == core::OutcomeKind::kExited ||
                         result.outcome.kind == core::OutcomeKind::kSignalled ||
                         result.outcome.kind == core::OutcomeKind::kCancelled;
  if (!by_itself) Note(result.outcome.Explanation());
}

base::Result<int> Execute(const RunOptions& options, const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(options)));
  const config::Sandbox& sandbox = loaded.config.sandbox;
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionRequest request, RequestOf(options, sandbox));
  SKERRY_ASSIGN_OR_RETURN(const auto registry, context.Backends());
  engine::SandboxManager manager(*registry, ManagerOptionsOf(sandbox));
  const SignalWatch signals;
  FdSink sink(STDOUT_FILENO, STDERR_FILENO, signals.interrupt_fd());
  const engine::RunStreams streams{.sink = options.json ? nullptr : &sink, .input_fd = InputFor(options)};
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionResult result, manager.Execute(request, streams, signals.token()));
  if (options.json) {
    if (!Print(json::ToJson(result) + "\n"))
      return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  } else {
    ReportEnd(result, sink);
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
  CLI::App* run =
      app.add_subcommand("run", "Run code in a sandbox of its own; stdout, stderr and exit code pass through");
  run->add_option("code", options->code, "The code, or - to read it from stdin")->option_text("CODE|-");
  run->add_option("-f,--file", options->file, "Read the code from FILE; its extension tells the language")
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
  run->add_option("--mode", options->mode, "strict (default: always isolated) or permissive (what --sandbox says)")
      ->option_text("MODE");
  run->add_option("-w,--workspace", options->workspace,
                  "Your directory as /workspace; without it an empty one that is burned afterwards")
      ->option_text("DIR");
  run->add_option("--allow-domain", options->allowed_domains, "Let the sandbox reach this domain (not in this version)")
      ->option_text("DOMAIN");
  run->add_flag("-y,--yes", options->yes, "Answer yes to questions (this version asks none)");
  run->add_flag("--json", options->json, "Print one result object instead of passing the output through");
  run->footer(
      "Examples:\n"
      "  skerry run 'print(6*7)'\n"
      "  echo 'console.log(1)' | skerry run -l javascript -\n"
      "  skerry run -l shell --timeout 5 --workspace ./project 'make test'\n\n"
      "Exit codes: the program's own; 124 timeout, 125 Skerry failed, 126 refused, 137 out of memory or killed.");
  run->callback([=, &context, &exit_code] { exit_code = Run(*options, context); });
}

}  // namespace skerry::cli
