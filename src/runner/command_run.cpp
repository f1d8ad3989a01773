#include "runner/command_run.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/utf8.hpp"
#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "runner/launched_sandbox.hpp"
#include "runner/limits_reached.hpp"
#include "runner/stop_signal.hpp"

namespace skerry::runner {
namespace {

using Kind = interpreters::WorkerWord::Kind;

std::string Describe(const core::Command& command) {
  if (const auto* code = std::get_if<core::Code>(&command.program)) return interpreters::Requirement(code->language);
  return std::get<core::Arguments>(command.program).front();
}

base::Error StartError(const core::Command& command, const launcher::CommandEnded& ended) {
  const int error = static_cast<int>(ended.start_error);
  if (ended.failed_step == launcher::StartStep::kDirectory) {
    const std::string directory = base::ToValidUtf8(command.directory);
    if (error == ENOENT || error == ENOTDIR)
      return {base::Code::kNotFound, "no such directory in the sandbox: " + directory};
    return {base::Code::kExecutionFailed, "cannot enter " + directory + ": " + os::ErrnoText(error)};
  }
  const std::string program = base::ToValidUtf8(Describe(command));
  if (error == ENOENT) return {base::Code::kNotFound, "not found in the sandbox: " + program};
  return {base::Code::kExecutionFailed, "cannot start " + program + ": " + os::ErrnoText(error)};
}

int ExitStatus(const std::string& text) {
  unsigned code = 0;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return static_cast<int>((code & 0xFFU) << 8U);
}

// The exit that a worker reports about itself. A worker that has closed the channel, or sends what is no word, may run
// on (a program that calls exec closes the channel): only its channel is ignored from then on.
std::optional<launcher::CommandEnded> HearExit(WorkerProcess* worker, RunningCommand& running) {
  int& channel = running.sources.controls[0];
  if (worker == nullptr || channel < 0) return std::nullopt;
  const bool listening = worker->Listen();
  while (const auto word = worker->NextWord())
    if (word->kind == Kind::kExit)
      return launcher::CommandEnded{.wait_status = static_cast<std::uint64_t>(ExitStatus(word->fields.front()))};
  if (!listening) channel = -1;
  return std::nullopt;
}

}  // namespace

// A command that is alone in the sandbox needs no question: nothing was used since the command before it ended.
CommandRun::CommandRun(LaunchedSandbox& sandbox, std::shared_ptr<SharedHandle> life, const core::Command& command,
                       core::OutputSink& sink)
    : sandbox_(sandbox),
      life_(std::move(life)),
      command_(command),
      pump_(sink, command.max_output_bytes),
      before_(SharesLife() ? life_->AskUsage() : life_->LastUsage()),
      now_(before_) {}

CommandRun::~CommandRun() {
  if (turn_) (void)life_->EndTurn(*turn_);
}

base::Status CommandRun::Announce() {
  if (!SharesLife()) return life_->Announce(command_.lifetime);
  turn_ = life_->BeginTurn(command_.lifetime);
  return {};
}

void CommandRun::Share(WatchedProcess& process) const {
  if (SharesLife()) process.ShareLife();
}

base::Status CommandRun::KillSandbox() {
  killed_ = true;
  const auto killed = sandbox_.Kill(life_);
  now_ = life_->LastUsage();
  return killed;
}

base::Result<core::CommandResult> CommandRun::Await(RunningCommand& running, WorkerProcess* worker,
                                                    core::StartKind start, base::Deadline deadline,
                                                    std::stop_token stop) {
  const StopSignal interrupt(std::move(stop));
  const WatchedProcess& process = running.process;
  const auto [source, wake] = process.controls();
  running.sources.controls = {worker != nullptr ? worker->channel_fd() : -1, source, wake};
  running.sources.interrupt = interrupt.get();
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome, Watch(running, worker, deadline));
  return Finish(outcome, running, start, deadline);
}

base::Result<core::CommandResult> CommandRun::GiveUp(RunningCommand& running, core::StartKind start,
                                                     base::Deadline deadline) {
  const bool ends_alone = SharesLife() && running.process.TakeEnd().has_value();
  if (ends_alone) (void)running.process.EndTree();
  const core::Outcome gone = deadline.Expired() ? core::EndedByTimeout(command_.timeout) : core::EndedByLoss();
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome, ends_alone ? base::Result<core::Outcome>(gone) : Lost(deadline));
  return Finish(outcome, running, start, deadline);
}

base::Result<core::CommandResult> CommandRun::Refused(base::Error error) {
  if (!SharesLife() || !life_->Gone()) return std::unexpected(std::move(error));
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome, Lost(base::Deadline::Never()));
  return core::CommandResult{.outcome = outcome};
}

// The worker's own report is not enough: a process that the program left behind may hold the worker's channel open. So
// the init's or the launcher's report of the end counts too.
base::Result<core::Outcome> CommandRun::Watch(RunningCommand& running, WorkerProcess* worker, base::Deadline deadline) {
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump_.Run(running.sources, *running.input, deadline));
    if (end != PumpEnd::kControlReady) return EndBy(end, running.process);
    if (const auto exit = HearExit(worker, running)) return Judge(*exit, deadline);
    const auto told = running.process.TakeEnd();
    if (!told) return Lost(deadline);
    if (*told) return Judge(**told, deadline);
  }
}

base::Result<core::Outcome> CommandRun::EndBy(PumpEnd why, const WatchedProcess& process) {
  if (SharesLife()) {
    (void)process.EndTree();
    now_ = life_->AskUsage();
  } else {
    SKERRY_RETURN_IF_ERROR(KillSandbox());
  }
  if (why == PumpEnd::kDeadline) return core::EndedByTimeout(command_.timeout);
  return core::EndedByStop();
}

base::Result<core::Outcome> CommandRun::Judge(const launcher::CommandEnded& ended, base::Deadline deadline) {
  if (ended.start_error != 0) return std::unexpected(StartError(command_, ended));
  // The kernel kills all processes together with the init, and the ends of some are still reported.
  if (SharesLife() && ended.wait_status == SIGKILL && life_->Gone()) return Lost(deadline);
  now_ = life_->AskUsage();
  return OutcomeOf(static_cast<int>(ended.wait_status), UsedSince(before_, now_), sandbox_.limits());
}

base::Result<core::Outcome> CommandRun::Lost(base::Deadline deadline) {
  // When the launcher is gone too, what was used is unknown.
  if (const auto killed = KillSandbox(); !killed && killed.error().code != base::Code::kExecutionFailed)
    return std::unexpected(killed.error());
  const launcher::Usage used = UsedSince(before_, now_);
  if (used.out_of_memory_kills != 0) return OutcomeOf(SIGKILL, used, sandbox_.limits());
  if (deadline.Expired())
    return core::EndedByTimeout(command_.timeout);  // this process was late, the launcher kept the time
  return core::EndedByLoss();
}

// Among several commands it is unknown whose process was killed for its memory, unless the outcome of this command says
// so.
launcher::Usage CommandRun::Used(const core::Outcome& outcome) {
  launcher::Usage used = UsedSince(before_, now_);
  if (!turn_) return used;
  const auto company = life_->EndTurn(*turn_);
  turn_.reset();
  const bool anybodys = company == SharedHandle::Company::kWithOthers;
  if (anybodys && outcome.kind != core::OutcomeKind::kOutOfMemory) used.out_of_memory_kills = 0;
  return used;
}

base::Result<core::CommandResult> CommandRun::Finish(const core::Outcome& outcome, RunningCommand& running,
                                                     core::StartKind start, base::Deadline deadline) {
  // While a process may still be alive inside, a reader that has stopped reading gets no more time than the program
  // had. A command that shares the sandbox leaves its processes running, and its reader has all the time it wants.
  if (!killed_ && !SharesLife() && !pump_.Drain(running.sources, deadline)) SKERRY_RETURN_IF_ERROR(KillSandbox());
  (void)pump_.Drain(running.sources, base::Deadline::Never());
  const LimitEvidence evidence{.outcome = outcome,
                               .output_truncated = pump_.truncated(),
                               .max_output_bytes = command_.max_output_bytes,
                               .usage = Used(outcome)};
  return core::CommandResult{.outcome = outcome,
                             .start = start,
                             .output_truncated = pump_.truncated(),
                             .output_bytes = pump_.total_bytes(),
                             .memory_peak_bytes = now_.memory_peak_bytes,
                             .limits_reached = sandbox_.LimitsOf(evidence)};
}

}  // namespace skerry::runner
