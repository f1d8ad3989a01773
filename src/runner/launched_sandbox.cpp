#include "runner/launched_sandbox.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/ids.hpp"
#include "base/utf8.hpp"
#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"
#include "runner/command_pump.hpp"

namespace skerry::runner {
namespace {

using std::chrono_literals::operator""s;

constexpr int kExitKilled = 128 + SIGKILL;
constexpr int kExitInterrupted = 128 + SIGINT;
constexpr auto kEndPatience = 5s;

// A descriptor that becomes readable when a stop is requested, so that poll can wait for it.
class StopSignal {
 public:
  explicit StopSignal(std::stop_token stop)
      : event_(::eventfd(0, EFD_CLOEXEC)), callback_(std::move(stop), Wake{event_.get()}) {}
  [[nodiscard]] int get() const { return event_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)::eventfd_write(fd, 1); }
  };
  base::UniqueFd event_;
  std::stop_callback<Wake> callback_;
};

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

core::Outcome TimedOut(const core::Command& command) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(command.timeout).count();
  return {.kind = core::OutcomeKind::kTimedOut,
          .exit_code = base::RowOf(base::Code::kTimeout).exit_code,
          .limit = static_cast<std::uint64_t>(seconds)};
}

std::string Describe(const core::Command& command) {
  if (const auto* code = std::get_if<core::Code>(&command.program)) return interpreters::Requirement(code->language);
  return std::get<core::Arguments>(command.program).front();
}

}  // namespace

struct LaunchedSandbox::Running {
  CommandPump::Sources sources;
  InputFeed input;
};

LaunchedSandbox::~LaunchedSandbox() {
  (void)Kill();
}

launcher::StartRequest LaunchedSandbox::RequestFor() const {
  constexpr std::uint64_t kMegabyte = 1U << 20U;
  launcher::StartRequest request;
  request.isolation = profile_.isolation;
  request.name = base::RandomId("skerry-");
  request.workspace_path = spec_.workspace;
  request.workspace_owner = spec_.workspace_owner == core::WorkspaceOwner::kSkerry ? launcher::WorkspaceOwner::kSkerry
                                                                                   : launcher::WorkspaceOwner::kPerson;
  request.scratch_path = profile_.scratch;
  request.memory_bytes = spec_.limits.memory_mb * kMegabyte;
  request.pids = spec_.limits.pids;
  request.cpu_percent = spec_.limits.cpu_percent;
  request.open_files = spec_.limits.open_files;
  request.file_bytes = spec_.limits.file_mb * kMegabyte;
  request.tmp_bytes = spec_.limits.tmp_mb * kMegabyte;
  request.lifetime_ms = static_cast<std::uint64_t>(spec_.lifetime.count());
  return request;
}

base::Status LaunchedSandbox::Start() {
  if (handle_) return {};
  const base::UniqueFd workspace(spec_.workspace_fd >= 0
                                     ? ::fcntl(spec_.workspace_fd, F_DUPFD_CLOEXEC, 0)
                                     : ::open(spec_.workspace.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!workspace.valid()) return os::ErrnoErr("workspace " + spec_.workspace);
  SKERRY_ASSIGN_OR_RETURN(auto handle,
                          launcher::SandboxHandle::Start(profile_.programs, RequestFor(), workspace.get()));
  degraded_ = handle.degraded();
  handle_.emplace(std::move(handle));
  started_ = true;
  out_of_memory_seen_ = 0;
  usage_ = {};
  return {};
}

base::Result<LaunchedSandbox::Running> LaunchedSandbox::Send(const core::Command& command) {
  SKERRY_RETURN_IF_ERROR(CheckEnvironment(command.environment));
  launcher::CommandRequest request;
  request.directory = profile_.directory;
  request.environment = interpreters::CleanEnvironment(profile_.home, profile_.temporary);
  SetVariables(request.environment, command.environment);
  base::UniqueFd text;
  if (const auto* code = std::get_if<core::Code>(&command.program)) {
    interpreters::Invocation invocation = interpreters::InvocationFor(*code);
    request.arguments = std::move(invocation.arguments);
    SKERRY_ASSIGN_OR_RETURN(text, os::SealedMemory(invocation.text));
  } else {
    request.arguments = std::get<core::Arguments>(command.program);
    if (request.arguments.empty()) return base::Err(base::Code::kInvalidArgument, "there is no command to run");
  }
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  std::vector<int> fds = {in.read_end.get(), out.write_end.get(), err.write_end.get()};
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(handle_->SendCommand(request, fds));
  return Running{{std::move(out.read_end), std::move(err.read_end), handle_->control_fd(), -1},
                 InputFeed(command.input_fd, std::move(in.write_end))};
}

base::Result<core::CommandResult> LaunchedSandbox::Execute(const core::Command& command, core::OutputSink& sink,
                                                           std::stop_token stop) {
  if (!started_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
  SKERRY_RETURN_IF_ERROR(Start());
  SKERRY_ASSIGN_OR_RETURN(Running running, Send(command));
  CommandPump pump(sink, command.max_output_bytes);
  const auto deadline = base::Deadline::After(command.timeout);
  SKERRY_ASSIGN_OR_RETURN(const core::Outcome outcome, Await(command, running, pump, deadline, std::move(stop)));
  // While something may still be alive inside, a reader who has stopped reading gets no more time than the program had.
  if (handle_ && !pump.Drain(running.sources, deadline)) SKERRY_RETURN_IF_ERROR(Kill());
  (void)pump.Drain(running.sources, base::Deadline::Never());
  return core::CommandResult{.outcome = outcome,
                             .output_truncated = pump.truncated(),
                             .output_bytes = pump.total_bytes(),
                             .memory_peak_bytes = usage_.memory_peak_bytes};
}

base::Result<core::Outcome> LaunchedSandbox::Await(const core::Command& command, Running& running, CommandPump& pump,
                                                   base::Deadline deadline, std::stop_token stop) {
  const StopSignal interrupt(std::move(stop));
  running.sources.interrupt = interrupt.get();
  SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump.Run(running.sources, running.input, deadline));
  switch (end) {
    case PumpEnd::kControlReady:
      return ReadEnd(command, deadline);
    case PumpEnd::kDeadline:
      SKERRY_RETURN_IF_ERROR(Kill());
      return TimedOut(command);
    case PumpEnd::kCancelled:
      SKERRY_RETURN_IF_ERROR(Kill());
      return core::Outcome{.kind = core::OutcomeKind::kCancelled, .exit_code = kExitInterrupted};
  }
  return base::Err(base::Code::kInternal, "unknown end of a command");
}

base::Result<core::Outcome> LaunchedSandbox::ReadEnd(const core::Command& command, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(const auto ended, handle_->ReceiveEnd(base::Deadline::After(kEndPatience)));
  if (!ended) {
    SKERRY_RETURN_IF_ERROR(Kill());
    if (usage_.out_of_memory_kills > out_of_memory_seen_) return Judge(SIGKILL);
    if (deadline.Expired()) return TimedOut(command);  // we were held up, and the launcher kept the time
    return core::Outcome{.kind = core::OutcomeKind::kLost, .exit_code = kExitKilled};
  }
  if (ended->start_error == ENOENT)
    return base::Err(base::Code::kNotFound, "not found in the sandbox: " + base::ToValidUtf8(Describe(command)));
  if (ended->start_error != 0)
    return base::Err(base::Code::kExecutionFailed, "cannot start " + base::ToValidUtf8(Describe(command)) + ": " +
                                                       os::ErrnoText(static_cast<int>(ended->start_error)));
  if (const auto usage = handle_->AskUsage()) usage_ = *usage;
  return Judge(static_cast<int>(ended->wait_status));
}

// A program that the kernel killed for its memory shows as SIGKILL, or as 137 when a shell stood between.
core::Outcome LaunchedSandbox::Judge(int wait_status) {
  const bool signalled = WIFSIGNALED(wait_status);
  const int code = signalled ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  const bool out_of_memory =
      usage_.out_of_memory_kills > std::exchange(out_of_memory_seen_, usage_.out_of_memory_kills);
  if (out_of_memory && code == kExitKilled)
    return {.kind = core::OutcomeKind::kOutOfMemory, .exit_code = kExitKilled, .limit = spec_.limits.memory_mb};
  if (signalled) return {.kind = core::OutcomeKind::kSignalled, .exit_code = code, .signal = WTERMSIG(wait_status)};
  return {.kind = core::OutcomeKind::kExited, .exit_code = code};
}

base::Status LaunchedSandbox::Kill() {
  if (!handle_) return {};
  const auto ended = handle_->Stop();
  handle_.reset();
  if (!ended) return std::unexpected(ended.error());
  usage_ = ended->usage;
  if (ended->processes_left != 0) return base::Err(base::Code::kInternal, "processes of the sandbox are left");
  return {};
}

base::Status LaunchedSandbox::Stop() {
  started_ = false;
  return Kill();
}

}  // namespace skerry::runner
