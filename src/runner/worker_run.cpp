// How a launched sandbox runs a program in an interpreter that waits for it.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "interpreters/interpreter.hpp"
#include "interpreters/worker.hpp"
#include "runner/command_run.hpp"
#include "runner/launched_process.hpp"
#include "runner/launched_sandbox.hpp"
#include "runner/running_command.hpp"

namespace skerry::runner {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kReadyPatience = 30s;

core::Language LanguageOf(core::Preload preload) {
  return preload == core::Preload::kJavaScript ? core::Language::kJavaScript : core::Language::kPython;
}

// Whether a variable decides which interpreter is found, or what it does at its start: then no waiting interpreter
// fits.
bool ChoosesInterpreter(const std::map<std::string, std::string>& environment) {
  return std::ranges::any_of(environment, [](const auto& variable) {
    const std::string& name = variable.first;
    return name == "PATH" || name == "VIRTUAL_ENV" || name.starts_with("PYTHON") || name.starts_with("NODE_") ||
           name.starts_with("LD_") || name.starts_with("MALLOC_") || name.starts_with("GLIBC_");
  });
}

}  // namespace

// A spare interpreter that cannot be made is no failure: programs then start one of their own.
void LaunchedSandbox::MakeSpare() {
  if (spec_.preload == core::Preload::kNone) return;
  if (spec_.preload == core::Preload::kShell) {
    auto request = RequestFor({});
    if (!request) return;
    if (auto shell = WaitingShell::Start(life_, std::move(*request))) shell_.emplace(std::move(*shell));
    return;
  }
  spare_language_ = LanguageOf(spec_.preload);
  const auto deadline = base::Deadline::After(kReadyPatience);
  if (spare_language_ == core::Language::kPython) {
    spare_zygote_ = spec_.preload == core::Preload::kPythonData ? interpreters::kDataZygote : interpreters::kBareZygote;
    if (std::ranges::find(profile_.zygotes, spare_zygote_) == profile_.zygotes.end()) return;
    auto worker = WorkerProcess::Fork(life_, spare_zygote_);
    if (worker && worker->AwaitReady(deadline)) spare_.emplace(std::move(*worker));
    spare_tasks_ = 1;
    return;
  }
  auto request = RequestFor({});
  if (!request) return;
  auto worker = WorkerProcess::Exec(life_, spare_language_, std::move(*request));
  if (!worker || !worker->AwaitReady(deadline)) return;
  spare_.emplace(std::move(*worker));
  // The interpreter may have threads; nothing else runs yet.
  core::SandboxUsage now;
  spare_tasks_ = life_->Fill(now, 0) ? now.pids : 1;
}

std::optional<std::string> LaunchedSandbox::ZygoteFor(core::Language language, std::string_view text) const {
  if (language != core::Language::kPython || spec_.root || !spec_.binds.empty()) return std::nullopt;
  std::string name(interpreters::UsesDataModules(text) ? interpreters::kDataZygote : interpreters::kBareZygote);
  if (std::ranges::find(profile_.zygotes, name) == profile_.zygotes.end()) return std::nullopt;
  return name;
}

std::optional<LaunchedSandbox::Found> LaunchedSandbox::TakeSpare(core::Language language,
                                                                 const std::optional<std::string>& zygote) {
  const std::lock_guard lock(mutex_);
  if (spare_ && !spare_->Listen()) spare_.reset();  // the interpreter died while it waited
  const bool fits = spare_ && spare_language_ == language &&
                    (!zygote || spare_zygote_ == interpreters::kDataZygote || spare_zygote_ == *zygote);
  if (!fits) return std::nullopt;
  Found found{std::move(*spare_), core::StartKind::kWarm};
  spare_.reset();
  return found;
}

// Not for a command with a directory: a waiting interpreter that cannot enter it could only say so among the output of
// the program, while the init reports it apart.
std::optional<LaunchedSandbox::Found> LaunchedSandbox::FindWorker(const std::shared_ptr<SharedHandle>& life,
                                                                  const core::Command& command) {
  const auto* code = std::get_if<core::Code>(&command.program);
  if (code == nullptr || command.terminal || !command.directory.empty() || ChoosesInterpreter(command.environment))
    return std::nullopt;
  const auto zygote = ZygoteFor(code->language, code->text);
  if (auto spare = TakeSpare(code->language, zygote)) return spare;
  if (!zygote) return std::nullopt;
  auto worker = WorkerProcess::Fork(life, *zygote);
  if (!worker || !worker->AwaitReady(base::Deadline::After(kReadyPatience))) return std::nullopt;
  return Found{std::move(*worker), core::StartKind::kFork};
}

std::optional<WaitingShell> LaunchedSandbox::TakeShell(const core::Command& command) {
  const auto* code = std::get_if<core::Code>(&command.program);
  if (code == nullptr || code->language != core::Language::kShell || command.terminal || !command.directory.empty())
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!shell_ || !shell_->Waits()) return std::nullopt;
  return std::exchange(shell_, std::nullopt);
}

base::Status LaunchedSandbox::BeginInShell(LaunchedProcess& process, WaitingShell shell) {
  const core::Command& command = process.command();
  const auto deadline = base::Deadline::After(command.timeout);
  process.run().Share(shell.process);
  SKERRY_RETURN_IF_ERROR(shell.Run(std::get<core::Code>(command.program), command.environment));
  process.Begin({{.standard_output = std::move(shell.output), .standard_error = std::move(shell.error)},
                 process.MakeInput(std::move(shell.input)),
                 std::move(shell.process)},
                core::StartKind::kWarm, deadline);
  return {};
}

base::Status LaunchedSandbox::BeginInWorker(LaunchedProcess& process, Found found) const {
  WorkerProcess& worker = found.worker;
  const core::Command& command = process.command();
  SKERRY_ASSIGN_OR_RETURN(const launcher::CommandRequest request, RequestFor(command));
  const auto& code = std::get<core::Code>(command.program);
  const auto deadline = base::Deadline::After(command.timeout);
  process.run().Share(worker.process());
  const auto sent = worker.Send(interpreters::RunMessage(request.directory, request.environment, code), deadline);
  RunningCommand running{{.standard_output = std::move(worker.output), .standard_error = std::move(worker.error)},
                         process.MakeInput(std::move(worker.input)),
                         std::move(worker.process())};
  // An interpreter that ended before it got its program counts as lost.
  if (sent)
    process.Begin(std::move(running), found.start, deadline, std::move(worker));
  else
    process.BeginLost(std::move(running), found.start, deadline);
  return {};
}

}  // namespace skerry::runner
