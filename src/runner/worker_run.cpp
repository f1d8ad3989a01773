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

// What the process itself says of its end. One that has closed the channel, or says what is no word, may go on for as
// long as any other (a program that became another one closes it): it is no longer listened to, and its output is.
std::optional<int> HearExit(WorkerProcess& worker, RunningCommand& running) {
  int& channel = running.sources.controls[0];
  if (channel < 0) return std::nullopt;
  const bool listening = worker.Listen();
  while (const auto word = worker.NextWord())
    if (word->kind == Kind::kExit) return ExitStatus(word->fields.front());
  if (!listening) channel = -1;
  return std::nullopt;
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

// It died while it waited. What the init says about that is not to be taken for the end of a command.
void LaunchedSandbox::DropSpare() {
  if (!spare_->forked_pid()) (void)CommandEnd(spare_->command_id(), base::Deadline::After(1s));
  spare_.reset();
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
  if (spare_ && !spare_->Listen()) DropSpare();
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
  return shell_ && shell_->Waits() && code != nullptr && code->language == core::Language::kShell &&
         !command.terminal && command.environment.empty();
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
  const auto sent = worker.Send(interpreters::RunMessage(request.directory, request.environment, code.text), deadline);
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
    std::optional<int> status = HearExit(worker, running);
    if (!status) {
      const auto told = TakeWorkerEnd(worker);
      if (!told) return LostSandbox(command, deadline);
      status = *told;
    }
    if (!status) continue;
    if (const auto usage = handle_->AskUsage()) usage_ = *usage;
    return Judge(*status);
  }
}

// The end by the word of whoever started the process, which is also there when a process that was left behind holds the
// channel open. Nothing while it lives; an error when the sandbox is lost.
base::Result<std::optional<int>> LaunchedSandbox::TakeWorkerEnd(const WorkerProcess& worker) {
  if (worker.forked_pid()) return handle_->TakeForkEnd(*worker.forked_pid());
  SKERRY_ASSIGN_OR_RETURN(const auto ended, TakeCommandEnd(worker.command_id()));
  return ended ? std::optional(static_cast<int>(ended->wait_status)) : std::nullopt;
}

}  // namespace skerry::runner
