#include "runner/launched_sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/utf8.hpp"
#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"
#include "runner/command_pump.hpp"
#include "runner/launch_request.hpp"
#include "runner/limits_reached.hpp"
#include "runner/running_command.hpp"
#include "runner/stop_signal.hpp"

namespace skerry::runner {
namespace {

constexpr char kEndOfTerminalInput[] = "\x04";  // what Ctrl-D types

base::Status CheckEnvironment(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) {
    const bool plain = !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    if (!plain || value.find('\0') != std::string::npos)
      return base::Err(base::Code::kInvalidArgument, "not an environment variable: " + base::ToValidUtf8(name));
  }
  return {};
}

void SetVariables(std::vector<std::string>& environment, const std::map<std::string, std::string>& additions) {
  for (const auto& [name, value] : additions) {
    const std::string prefix = name + "=";
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
    environment.push_back(prefix + value);
  }
}

// The programs of a root file system lie where that says.
void SetPath(std::vector<std::string>& environment, const std::vector<std::string>& of_root) {
  for (const std::string& entry : of_root) {
    if (!entry.starts_with("PATH=")) continue;
    std::erase_if(environment, [](const std::string& old) { return old.starts_with("PATH="); });
    environment.push_back(entry);
  }
}

void SetWindow(int terminal, const core::TerminalSize& size) {
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows);
  window.ws_col = static_cast<unsigned short>(size.columns);
  (void)::ioctl(terminal, TIOCSWINSZ, &window);
}

launcher::Usage Since(const launcher::Usage& before, const launcher::Usage& now) {
  return {.out_of_memory_kills = now.out_of_memory_kills - before.out_of_memory_kills,
          .memory_peak_bytes = now.memory_peak_bytes,
          .forks_refused = now.forks_refused - before.forks_refused,
          .times_throttled = now.times_throttled - before.times_throttled};
}

std::string Describe(const core::Command& command) {
  if (const auto* code = std::get_if<core::Code>(&command.program)) return interpreters::Requirement(code->language);
  return std::get<core::Arguments>(command.program).front();
}

}  // namespace

LaunchedSandbox::~LaunchedSandbox() {
  (void)Kill();
}

base::Status LaunchedSandbox::Start() {
  if (IsRunning()) return {};
  (void)Kill();  // what is left of one that was lost while nobody used it
  base::UniqueFd workspace;
  if (!spec_.workspace.empty()) {
    workspace.Reset(spec_.workspace_fd >= 0 ? ::fcntl(spec_.workspace_fd, F_DUPFD_CLOEXEC, 0)
                                            : ::open(spec_.workspace.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!workspace.valid()) return os::ErrnoErr("workspace " + spec_.workspace);
  }
  const LaunchRequest launch = LaunchRequestFor(profile_, spec_, workspace.get());
  SKERRY_ASSIGN_OR_RETURN(auto handle, launcher::SandboxHandle::Start(profile_.launcher, launch.request, launch.fds));
  degraded_ = handle.degraded();
  views_ = handle.TakeViews();
  handle_.emplace(std::move(handle));
  started_ = true;
  usage_ = seen_ = {};
  MakeSpare();
  return {};
}

base::Status LaunchedSandbox::Freeze() {
  return IsRunning() ? handle_->Bring(launcher::MotionKind::kFrozen) : base::Status{};
}

base::Status LaunchedSandbox::Thaw() {
  return IsRunning() ? handle_->Bring(launcher::MotionKind::kMoving) : base::Status{};
}

std::optional<core::WorkspaceView> LaunchedSandbox::View() const {
  if (views_.size() != 2) return std::nullopt;
  return core::WorkspaceView{views_[0].get(), views_[1].get(), !spec_.workspace.empty()};
}

base::Result<launcher::CommandRequest> LaunchedSandbox::RequestFor(const core::Command& command) const {
  SKERRY_RETURN_IF_ERROR(CheckEnvironment(command.environment));
  launcher::CommandRequest request;
  request.id = next_command_;
  request.directory = profile_.directory;
  request.environment = interpreters::CleanEnvironment(profile_.home, profile_.temporary);
  if (spec_.root) SetPath(request.environment, spec_.root->environment);
  SetVariables(request.environment, command.environment);
  if (command.terminal) request.terminal = {command.terminal->rows, command.terminal->columns};
  return request;
}

base::Result<RunningCommand> LaunchedSandbox::Send(const core::Command& command) {
  SKERRY_ASSIGN_OR_RETURN(launcher::CommandRequest request, RequestFor(command));
  base::UniqueFd text;
  if (const auto* code = std::get_if<core::Code>(&command.program)) {
    interpreters::Invocation invocation = interpreters::InvocationFor(*code);
    request.arguments = std::move(invocation.arguments);
    SKERRY_ASSIGN_OR_RETURN(text, os::SealedMemory(invocation.text));
  } else {
    request.arguments = std::get<core::Arguments>(command.program);
    if (request.arguments.empty()) return base::Err(base::Code::kInvalidArgument, "there is no command to run");
  }
  return command.terminal ? SendWithTerminal(command, std::move(request), text)
                          : SendWithPipes(command, std::move(request), text);
}

base::Result<RunningCommand> LaunchedSandbox::SendWithPipes(const core::Command& command,
                                                            launcher::CommandRequest request,
                                                            const base::UniqueFd& text) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  std::vector<int> fds = {in.read_end.get(), out.write_end.get(), err.write_end.get()};
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(handle_->SendCommand(request, fds));
  return RunningCommand{{.standard_output = std::move(out.read_end),
                         .standard_error = std::move(err.read_end),
                         .controls = {handle_->control_fd(), -1}},
                        InputFeed(command.input_fd, std::move(in.write_end))};
}

// The terminal is one of the sandbox's own: the program never holds the caller's, into which it could type (E32).
base::Result<RunningCommand> LaunchedSandbox::SendWithTerminal(const core::Command& command,
                                                               launcher::CommandRequest request,
                                                               const base::UniqueFd& text) {
  std::vector<int> fds;
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(handle_->SendCommand(request, fds));
  SKERRY_ASSIGN_OR_RETURN(auto answer, handle_->Receive(base::Deadline::After(kEndPatience)));
  if (!answer) return base::Err(base::Code::kExecutionFailed, "the sandbox ended before its terminal was opened");
  if (!std::holds_alternative<launcher::TerminalOpened>(answer->message) || answer->fds.size() != 1)
    return base::Err(base::Code::kExecutionFailed, "the sandbox could not open a terminal");
  base::UniqueFd master = std::move(answer->fds.front());
  SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(master.get()));
  base::UniqueFd input(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  CommandPump::Sources sources{
      .standard_output = std::move(master), .controls = {handle_->control_fd(), -1}, .resized = command.resized_fd};
  sources.on_resize = [&command](int terminal) { SetWindow(terminal, command.terminal_size()); };
  return RunningCommand{std::move(sources), InputFeed(command.input_fd, std::move(input), kEndOfTerminalInput)};
}

base::Result<core::CommandResult> LaunchedSandbox::Execute(const core::Command& command, core::OutputSink& sink,
                                                           std::stop_token stop) {
  if (!started_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
  SKERRY_RETURN_IF_ERROR(Start());
  SKERRY_RETURN_IF_ERROR(handle_->AnnounceActivity(command.lifetime));
  if (ShellFits(command)) return RunInShell(command, sink, std::move(stop));
  if (auto found = FindWorker(command)) return RunInWorker(command, std::move(*found), sink, std::move(stop));
  SKERRY_ASSIGN_OR_RETURN(RunningCommand running, Send(command));
  CommandPump pump(sink, command.max_output_bytes);
  const auto deadline = base::Deadline::After(command.timeout);
  const std::uint64_t id = next_command_++;
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome, Await(command, id, running, pump, deadline, std::move(stop)));
  return Finish(command, outcome, core::StartKind::kExec, running, pump, deadline);
}

base::Result<core::CommandResult> LaunchedSandbox::Finish(const core::Command& command, const core::Outcome& outcome,
                                                          core::StartKind start, RunningCommand& running,
                                                          CommandPump& pump, base::Deadline deadline) {
  // While something may still be alive inside, a reader who has stopped reading gets no more time than the program had.
  if (handle_ && !pump.Drain(running.sources, deadline)) SKERRY_RETURN_IF_ERROR(Kill());
  (void)pump.Drain(running.sources, base::Deadline::Never());
  const LimitEvidence evidence{.outcome = outcome,
                               .output_truncated = pump.truncated(),
                               .max_output_bytes = command.max_output_bytes,
                               .usage = Since(seen_, usage_),
                               .changes_fd = views_.empty() ? -1 : views_.front().get()};
  seen_ = usage_;
  return core::CommandResult{.outcome = outcome,
                             .start = start,
                             .output_truncated = pump.truncated(),
                             .output_bytes = pump.total_bytes(),
                             .memory_peak_bytes = usage_.memory_peak_bytes,
                             .limits_reached = LimitsReached(evidence, spec_.limits)};
}

base::Result<core::Outcome> LaunchedSandbox::Await(const core::Command& command, std::uint64_t id,
                                                   RunningCommand& running, CommandPump& pump, base::Deadline deadline,
                                                   std::stop_token stop) {
  const StopSignal interrupt(std::move(stop));
  running.sources.interrupt = interrupt.get();
  SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump.Run(running.sources, running.input, deadline));
  switch (end) {
    case PumpEnd::kControlReady:
      return ReadEnd(command, id, deadline);
    case PumpEnd::kDeadline:
      SKERRY_RETURN_IF_ERROR(Kill());
      return TimedOut(command.timeout);
    case PumpEnd::kCancelled:
      SKERRY_RETURN_IF_ERROR(Kill());
      return core::Outcome{.kind = core::OutcomeKind::kCancelled, .exit_code = kExitInterrupted};
  }
  return base::Err(base::Code::kInternal, "unknown end of a command");
}

base::Result<std::optional<launcher::CommandEnded>> LaunchedSandbox::CommandEnd(std::uint64_t id,
                                                                                base::Deadline deadline) {
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto answer, handle_->Receive(deadline));
    if (!answer) return std::optional<launcher::CommandEnded>();
    const auto* ended = std::get_if<launcher::CommandEnded>(&answer->message);
    if (ended != nullptr && ended->id == id) return std::optional(*ended);
  }
}

base::Result<std::optional<launcher::CommandEnded>> LaunchedSandbox::TakeCommandEnd(std::uint64_t id) {
  pollfd entry{handle_->control_fd(), POLLIN, 0};
  while (::poll(&entry, 1, 0) > 0) {
    SKERRY_ASSIGN_OR_RETURN(const auto said, handle_->Receive(base::Deadline::After(std::chrono::seconds(0))));
    if (!said) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
    const auto* ended = std::get_if<launcher::CommandEnded>(&said->message);
    if (ended != nullptr && ended->id == id) return std::optional(*ended);
  }
  return std::optional<launcher::CommandEnded>();
}

base::Result<core::Outcome> LaunchedSandbox::LostSandbox(const core::Command& command, base::Deadline deadline) {
  // When the launcher is gone too nobody knows what was used.
  if (const auto killed = Kill(); !killed && killed.error().code != base::Code::kExecutionFailed)
    return std::unexpected(killed.error());
  if (usage_.out_of_memory_kills > seen_.out_of_memory_kills) return Judge(SIGKILL);
  if (deadline.Expired()) return TimedOut(command.timeout);  // we were held up, and the launcher kept the time
  return core::Outcome{.kind = core::OutcomeKind::kLost, .exit_code = kExitKilled};
}

base::Result<core::Outcome> LaunchedSandbox::ReadEnd(const core::Command& command, std::uint64_t id,
                                                     base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(const auto ended, CommandEnd(id, base::Deadline::After(kEndPatience)));
  if (!ended) return LostSandbox(command, deadline);
  if (ended->start_error == ENOENT)
    return base::Err(base::Code::kNotFound, "not found in the sandbox: " + base::ToValidUtf8(Describe(command)));
  if (ended->start_error != 0)
    return base::Err(base::Code::kExecutionFailed, "cannot start " + base::ToValidUtf8(Describe(command)) + ": " +
                                                       os::ErrnoText(static_cast<int>(ended->start_error)));
  if (const auto usage = handle_->AskUsage()) usage_ = *usage;
  return Judge(static_cast<int>(ended->wait_status));
}

// A program that the kernel killed for its memory shows as SIGKILL, or as 137 when a shell stood between.
core::Outcome LaunchedSandbox::Judge(int wait_status) const {
  const bool signalled = WIFSIGNALED(wait_status);
  const int code = signalled ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  const bool out_of_memory = usage_.out_of_memory_kills > seen_.out_of_memory_kills;
  if (out_of_memory && code == kExitKilled)
    return {.kind = core::OutcomeKind::kOutOfMemory, .exit_code = kExitKilled, .limit = spec_.limits.memory_mb};
  if (signalled && WTERMSIG(wait_status) == SIGXFSZ)
    return {
        .kind = core::OutcomeKind::kFileTooLarge, .exit_code = code, .signal = SIGXFSZ, .limit = spec_.limits.file_mb};
  if (signalled) return {.kind = core::OutcomeKind::kSignalled, .exit_code = code, .signal = WTERMSIG(wait_status)};
  return {.kind = core::OutcomeKind::kExited, .exit_code = code};
}

base::Status LaunchedSandbox::Kill() {
  if (!handle_) return {};
  spare_.reset();
  shell_.reset();
  const auto ended = handle_->Stop();
  handle_.reset();
  if (!ended) return std::unexpected(ended.error());
  usage_ = ended->usage;
  if (ended->processes_left != 0) return base::Err(base::Code::kInternal, "processes of the sandbox are left");
  return {};
}

// The launcher closes the socket of a sandbox that has ended, as its own end does.
bool LaunchedSandbox::IsRunning() const {
  if (!handle_) return false;
  pollfd entry{handle_->launcher_fd(), 0, 0};
  return ::poll(&entry, 1, 0) <= 0 || (entry.revents & (POLLHUP | POLLERR)) == 0;
}

void LaunchedSandbox::BeginStop() {
  if (handle_) handle_->BeginStop();
}

base::Status LaunchedSandbox::Stop() {
  started_ = false;
  return Kill();
}

}  // namespace skerry::runner
