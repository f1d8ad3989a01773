// skerry-warm-run: `skerry run` for the attack suite, in a sandbox that was waiting for the program. Test only.
//
// It is set up as a process with many runs is: a pool, one launcher for all, zygotes. A run that did not start as
// wanted fails with 125, so that the suite judges no row that ran somewhere else. Without a run the exit code is 126.
#include <unistd.h>

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "backends/native/native_backend.hpp"
#include "cli/command.hpp"
#include "cli/fd_sink.hpp"
#include "cli/gate_options.hpp"
#include "cli/run_options.hpp"
#include "cli/signal_watch.hpp"
#include "cli/stdin_feed.hpp"
#include "engine/sandbox_manager.hpp"
#include "json/execution_json.hpp"
#include "launcher/client.hpp"

namespace {

using namespace skerry;
using std::chrono_literals::operator""s;

constexpr int kExitElsewhere = 125;
constexpr int kExitNoRun = 126;
constexpr auto kWarmPatience = 30s;
constexpr engine::PoolOptions kSmallPool{.max_instances = 4, .min_instances = 1};

struct WarmOptions {
  cli::RunOptions run;
  bool via_python = false;
};

base::Result<std::unique_ptr<core::BackendRegistry>> MakeBackends() {
  using backends::native::NativeBackend;
  SKERRY_ASSIGN_OR_RETURN(const launcher::ProgramPaths programs, launcher::ProgramPaths::BesideThisProgram());
  auto registry = std::make_unique<core::BackendRegistry>();
  SKERRY_RETURN_IF_ERROR(
      registry->Add(std::make_unique<NativeBackend>(programs, base::FeatureSet{}, NativeBackend::Zygotes::kPython)));
  return registry;
}

std::string Hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    digits.push_back(kDigits[byte >> 4U]);
    digits.push_back(kDigits[byte & 0xFU]);
  }
  return digits;
}

// Wraps the program in Python that starts it as a child, with its own streams, and ends as the child ends.
void WrapInPython(core::ExecutionRequest& request) {
  if (request.language == core::Language::kPython) return;
  const char* arguments = request.language == core::Language::kShell ? "'bash', '-c'" : "'node', '-e'";
  request.code = std::string("import subprocess, sys\ncode = subprocess.call([") + arguments + ", bytes.fromhex('" +
                 Hex(request.code) + "')])\nsys.exit(code if code >= 0 else 128 - code)\n";
  request.language = core::Language::kPython;
}

// A person's directory is only known when the run comes: such a sandbox cannot wait, and Python is forked into it.
bool StartedAsWanted(const core::ExecutionRequest& request, core::StartKind start) {
  if (request.language == core::Language::kShell) return true;
  if (!request.workspace) return start == core::StartKind::kWarm;
  return request.language != core::Language::kPython || start == core::StartKind::kFork;
}

base::Result<int> Run(const WarmOptions& options, const cli::Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(cli::OverridesOf(options.run)));
  const config::Sandbox& sandbox = loaded.config.sandbox;
  SKERRY_ASSIGN_OR_RETURN(core::ExecutionRequest request, cli::RequestOf(options.run, sandbox));
  if (options.via_python) WrapInPython(request);
  SKERRY_ASSIGN_OR_RETURN(const auto registry, MakeBackends());
  SKERRY_ASSIGN_OR_RETURN(engine::ManagerOptions manager_options, cli::ManagerOptionsOf(options.run, sandbox));
  manager_options.gate.confirmation =
      cli::ConfirmationFor(options.run.yes ? engine::Consent::kGiven : engine::Consent::kAsk);
  manager_options.pool = kSmallPool;
  engine::SandboxManager manager(*registry, std::move(manager_options));
  if (!request.workspace && manager.warm() != nullptr)
    manager.warm()->AwaitWarm(engine::PreloadFor({request.language, request.code}),
                              base::Deadline::After(kWarmPatience));
  const cli::SignalWatch signals;
  cli::FdSink sink(STDOUT_FILENO, STDERR_FILENO, signals.interrupt_fd());
  cli::StdinFeed input(STDIN_FILENO);
  const engine::RunStreams streams{
      .sink = options.run.json ? nullptr : &sink, .input = input.known(), .controls = &input.controls()};
  input.Begin();
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionResult result, manager.Execute(request, streams, signals.token()));
  if (options.run.json) std::cout << json::ToJson(result) << std::endl;
  if (StartedAsWanted(request, result.start)) return result.outcome.exit_code;
  std::cerr << "skerry-warm-run: the program's start was " << core::NameOf(result.start) << std::endl;
  return kExitElsewhere;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("skerry run in a sandbox that waited for it");
  WarmOptions options;
  CLI::App* run = app.add_subcommand("run");
  app.require_subcommand(1);
  run->add_option("code", options.run.source.code);
  run->add_option("-f,--file", options.run.source.file);
  run->add_option("-l,--language", options.run.language);
  run->add_option("-t,--timeout", options.run.timeout);
  run->add_option("-w,--workspace", options.run.workspace);
  run->add_flag("-y,--yes", options.run.yes);
  run->add_flag("--json", options.run.json);
  run->add_flag("--via-python", options.via_python, "Let a warm Python start what is no Python");
  CLI11_PARSE(app, argc, argv);
  const cli::Parts parts{.make_backends = [](cli::Warmth, const config::Sandbox&) { return MakeBackends(); },
                         .open_store = {}};
  const auto exit_code = Run(options, cli::Context(parts));
  if (exit_code) return *exit_code;
  std::cerr << "skerry-warm-run: " << exit_code.error().message << std::endl;
  return kExitNoRun;
}
