// How a launched sandbox runs a program in an interpreter that waits for it.
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "interpreters/interpreter.hpp"
#include "interpreters/worker.hpp"
#include "runner/launched_sandbox.hpp"
#include "runner/running_command.hpp"
#include "runner/stop_signal.hpp"

namespace skerry::runner {
namespace {

using Kind = interpreters::WorkerWord::Kind;
using std::chrono_literals::operator""s;

constexpr auto kReadyPatience = 30s;

core::Language LanguageOf(core::Preload preload) {
  return preload == core::Preload::kJavaScript ? core::Language::kJavaScript : core::Language::kPython;
}

// What decides which interpreter a sandbox would find, or what it does when it starts: then that one is started.
bool ChoosesInterpreter(const std::map<std::string, std::string>& environment) {
  return std::ranges::any_of(environment, [](const auto& variable) {
    const std::string& name = variable.first;
    return name == "PATH" || name == "VIRTUAL_ENV" || name.starts_with("PYTHON") || name.starts_with("NODE_") ||
           name.starts_with("LD_") || name.starts_with("MALLOC_") || name.starts_with("GLIBC_");
  });
}

int ExitStatus(const std::string& text) {
  unsigned code = 0;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return static_cast<int>((code & 0xFFU) << 8U);
}

}  // namespace

// A spare that cannot be had is no failure: programs are started anew then.
void LaunchedSandbox::MakeSpare() {
  if (spec_.preload == core::Preload::kNone) return;
  if (spec_.preload == core::Preload::kShell) {
    auto request = RequestFor({});
    if (!request) return;
    ++next_command_;
    if (auto shell = WaitingShell::Start(*handle_, std::move(*request))) shell_.emplace(std::move(*shell));
    return;
  }
  spare_language_ = LanguageOf(spec_.preload);
  const auto deadline = base::Deadline::After(kReadyPatience);
  if (spare_language_ == core::Language::kPython) {
    spare_zygote_ = spec_.preload == core::Preload::kPythonData ? interpreters::kDataZygote : interpreters::kBareZygote;
    if (std::ranges::find(profile_.zygotes, spare_zygote_) == profile_.zygotes.end()) return;
    auto worker = WorkerProcess::Fork(*handle_, spare_zygote_);
    if (worker && worker->AwaitReady(deadline)) spare_.emplace(std::move(*worker));
    return;
  }
  auto request = RequestFor({});
  if (!request) return;
  ++next_command_;
  auto worker = WorkerProcess::Exec(*handle_, spare_language_, std::move(*request));
  if (worker && worker->AwaitReady(deadline)) spare_.emplace(std::move(*worker));
}

std::optional<std::string> LaunchedSandbox::ZygoteFor(core::Language language, std::string_view text) const {
  if (language != core::Language::kPython || spec_.root || !spec_.binds.empty()) return std::nullopt;
  std::string name(interpreters::UsesDataModules(text) ? interpreters::kDataZygote : interpreters::kBareZygote);
  if (std::ranges::find(profile_.zygotes, name) == profile_.zygotes.end()) return std::nullopt;
  return name;
}

std::optional<LaunchedSandbox::Found> LaunchedSandbox::FindWorker(const core::Command& command) {
  const auto* code = std::get_if<core::Code>(&command.program);
  if (code == nullptr || command.terminal || ChoosesInterpreter(command.environment)) return std::nullopt;
  const auto zygote = ZygoteFor(code->language, code->text);
  const bool fits = spare_ && spare_language_ == code->language &&
                    (!zygote || spare_zygote_ == interpreters::kDataZygote || spare_zygote_ == *zygote);
  if (fits) {
    Found found{std::move(*spare_), core::StartKind::kWarm};
    spare_.reset();
    return found;
  }
  if (!zygote) return std::nullopt;
  auto worker = WorkerProcess::Fork(*handle_, *zygote);
  if (!worker || !worker->AwaitReady(base::Deadline::After(kReadyPatience))) return std::nullopt;
  return Found{std::move(*worker), core::StartKind::kFork};
}

bool LaunchedSandbox::ShellFits(const core::Command& command) const {
  const auto* code = std::get_if<core::Code>(&command.program);
  return shell_ && code != nullptr && code->language == core::Language::kShell && !command.terminal &&
         command.environment.empty();
}

base::Result<core::CommandResult> LaunchedSandbox::RunInShell(const core::Command& command, core::OutputSink& sink,
                                                              std::stop_token stop) {
  WaitingShell shell = std::move(*shell_);
  shell_.reset();
  const auto deadline = base::Deadline::After(command.timeout);
  SKERRY_RETURN_IF_ERROR(shell.Run(std::get<core::Code>(command.program).text));
  RunningCommand running{{.standard_output = std::move(shell.output),
                          .standard_error = std::move(shell.error),
                          .controls = {handle_->control_fd(), -1}},
                         InputFeed(command.input_fd, std::move(shell.input))};
  CommandPump pump(sink, command.max_output_bytes);
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome,
                          Await(command, shell.id, running, pump, deadline, std::move(stop)));
  return Finish(command, outcome, core::StartKind::kWarm, running, pump, deadline);
}

base::Result<core::CommandResult> LaunchedSandbox::RunInWorker(const core::Command& command, Found found,
                                                               core::OutputSink& sink, std::stop_token stop) {
  WorkerProcess& worker = found.worker;
  SKERRY_ASSIGN_OR_RETURN(const launcher::CommandRequest request, RequestFor(command));
  const auto& code = std::get<core::Code>(command.program);
  const auto deadline = base::Deadline::After(command.timeout);
  const auto sent = worker.Send(interpreters::RunMessage(request.directory, request.environment, code.text));
  const int other = worker.forked_pid() ? handle_->launcher_fd() : handle_->control_fd();
  RunningCommand running{{.standard_output = std::move(worker.output),
                          .standard_error = std::move(worker.error),
                          .controls = {worker.channel_fd(), other}},
                         InputFeed(command.input_fd, std::move(worker.input))};
  CommandPump pump(sink, command.max_output_bytes);
  // One that ended before it was told shows as lost.
  SKERRY_ASSIGN_OR_RETURN(
      const core::Outcome outcome,
      sent ? AwaitWorker(command, worker, running, pump, deadline, std::move(stop)) : LostSandbox(command, deadline));
  return Finish(command, outcome, found.start, running, pump, deadline);
}

base::Result<core::Outcome> LaunchedSandbox::AwaitWorker(const core::Command& command, WorkerProcess& worker,
                                                         RunningCommand& running, CommandPump& pump,
                                                         base::Deadline deadline, std::stop_token stop) {
  const StopSignal interrupt(std::move(stop));
  running.sources.interrupt = interrupt.get();
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump.Run(running.sources, running.input, deadline));
    if (end == PumpEnd::kDeadline) {
      SKERRY_RETURN_IF_ERROR(Kill());
      return TimedOut(command.timeout);
    }
    if (end == PumpEnd::kCancelled) {
      SKERRY_RETURN_IF_ERROR(Kill());
      return core::Outcome{.kind = core::OutcomeKind::kCancelled, .exit_code = kExitInterrupted};
    }
    const bool listening = worker.Listen();
    while (const auto word = worker.NextWord()) {
      if (word->kind != Kind::kExit) continue;
      if (const auto usage = handle_->AskUsage()) usage_ = *usage;
      return Judge(ExitStatus(word->fields.front()));
    }
    if (!listening) return ReadWorkerEnd(command, worker, deadline);
    // Its end can be known before the end of the channel, which a process that it left behind may hold open.
    if (worker.forked_pid()) {
      const auto status = handle_->TakeForkEnd(*worker.forked_pid());
      if (!status) return LostSandbox(command, deadline);
      if (!*status) continue;
      if (const auto usage = handle_->AskUsage()) usage_ = *usage;
      return Judge(**status);
    }
  }
}

// The channel is closed: the process has ended, or its program has closed what it should not have.
base::Result<core::Outcome> LaunchedSandbox::ReadWorkerEnd(const core::Command& command, const WorkerProcess& worker,
                                                           base::Deadline deadline) {
  std::optional<int> status;
  if (worker.forked_pid()) {
    while (!status) {
      const auto taken = handle_->TakeForkEnd(*worker.forked_pid());
      if (!taken) return LostSandbox(command, deadline);
      status = *taken;
      if (status) break;
      SKERRY_ASSIGN_OR_RETURN(const bool told, handle_->AwaitLauncher(deadline));
      if (told) continue;
      SKERRY_RETURN_IF_ERROR(Kill());
      return TimedOut(command.timeout);
    }
  } else {
    const auto ended = CommandEnd(worker.command_id(), deadline);
    if (!ended && ended.error().code == base::Code::kTimeout) {
      SKERRY_RETURN_IF_ERROR(Kill());
      return TimedOut(command.timeout);
    }
    if (!ended) return std::unexpected(ended.error());
    if (!*ended) return LostSandbox(command, deadline);
    status = static_cast<int>((*ended)->wait_status);
  }
  if (const auto usage = handle_->AskUsage()) usage_ = *usage;
  return Judge(*status);
}

}  // namespace skerry::runner
