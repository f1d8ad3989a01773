#include "runner/launched_sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"
#include "runner/command_pump.hpp"
#include "runner/command_run.hpp"
#include "runner/launch_request.hpp"
#include "runner/launched_process.hpp"
#include "runner/limits_reached.hpp"
#include "runner/running_command.hpp"

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

// A root file system says itself where its programs are.
void SetPath(std::vector<std::string>& environment, const std::vector<std::string>& of_root) {
  for (const std::string& entry : of_root) {
    if (!entry.starts_with("PATH=")) continue;
    std::erase_if(environment, [](const std::string& old) { return old.starts_with("PATH="); });
    environment.push_back(entry);
  }
}

base::Result<std::string> DirectoryFor(const std::string& workspace, const std::string& wanted) {
  constexpr std::size_t kLongest = 4095;
  if (wanted.empty()) return workspace;
  std::string directory = wanted.starts_with('/') ? wanted : workspace + "/" + wanted;
  if (directory.size() > kLongest || directory.find('\0') != std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "not a directory: " + base::ToValidUtf8(wanted));
  return directory;
}

base::Result<RunningCommand> SendWithPipes(LaunchedProcess& launched, WatchedProcess process,
                                           const launcher::CommandRequest& request, const base::UniqueFd& text) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  std::vector<int> fds = {in.read_end.get(), out.write_end.get(), err.write_end.get()};
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(launched.run().life()->handle().SendCommand(request, fds));
  return RunningCommand{{.standard_output = std::move(out.read_end), .standard_error = std::move(err.read_end)},
                        launched.MakeInput(std::move(in.write_end)),
                        std::move(process)};
}

// The terminal belongs to the sandbox: the program never holds the caller's terminal, into which it could type (E32).
base::Result<RunningCommand> SendWithTerminal(LaunchedProcess& launched, WatchedProcess process,
                                              const launcher::CommandRequest& request, const base::UniqueFd& text) {
  const auto& life = launched.run().life();
  std::vector<int> fds;
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(life->handle().SendCommand(request, fds));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd master,
                          life->AwaitTerminal(process.id(), base::Deadline::After(kEndPatience)));
  SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(master.get()));
  base::UniqueFd input(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  return RunningCommand{{.standard_output = std::move(master)},
                        launched.MakeInput(std::move(input), kEndOfTerminalInput),
                        std::move(process)};
}

}  // namespace

LaunchedSandbox::~LaunchedSandbox() {
  (void)LaunchedSandbox::Stop(base::Deadline::Never());
}

base::Status LaunchedSandbox::Start(base::Deadline deadline, const std::stop_token& stop) {
  if (stop.stop_requested()) return base::Err(base::Code::kTimeout, "nobody waits for the sandbox any more");
  const std::lock_guard lock(mutex_);
  return StartLocked(deadline);
}

base::Status LaunchedSandbox::StartLocked(base::Deadline deadline) {
  if (IsRunningLocked()) return {};
  if (life_ != nullptr) (void)KillLocked(life_);  // what is left of a life that was lost between two commands
  const LaunchRequest launch = LaunchRequestFor(profile_, spec_);
  SKERRY_ASSIGN_OR_RETURN(auto handle,
                          launcher::SandboxHandle::Start(profile_.launcher, launch.request, launch.fds, deadline));
  degraded_ = handle.degraded();
  views_ = handle.TakeViews();
  life_ = std::make_shared<SharedHandle>(std::move(handle));
  if (processor_parts_ != 1) (void)life_->ShareProcessors(processor_parts_);
  started_ = true;
  MakeSpare();
  return {};
}

base::Result<std::shared_ptr<SharedHandle>> LaunchedSandbox::Begin() {
  const std::lock_guard lock(mutex_);
  if (!started_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
  SKERRY_RETURN_IF_ERROR(StartLocked(base::Deadline::Never()));
  return life_;
}

std::shared_ptr<SharedHandle> LaunchedSandbox::Life() const {
  const std::lock_guard lock(mutex_);
  return IsRunningLocked() ? life_ : nullptr;
}

base::Status LaunchedSandbox::Freeze(base::Deadline) {
  const auto life = Life();
  return life != nullptr ? life->Bring(launcher::MotionKind::kFrozen) : base::Status{};
}

base::Status LaunchedSandbox::Thaw(base::Deadline) {
  const auto life = Life();
  return life != nullptr ? life->Bring(launcher::MotionKind::kMoving) : base::Status{};
}

std::optional<core::LocalView> LaunchedSandbox::Files::Local() const {
  const std::lock_guard lock(sandbox_.mutex_);
  const auto& views = sandbox_.views_;
  if (views.size() != 3) return std::nullopt;
  return core::LocalView{.changes = views[0].get(),
                         .merged = views[1].get(),
                         .root = views[2].get(),
                         .layered = sandbox_.spec_.workspace != nullptr};
}

base::UniqueFd LaunchedSandbox::OpenWorkspace() const {
  const std::lock_guard lock(mutex_);
  const int held = views_.size() == 3 ? views_[1].get() : spec_.workspace ? spec_.workspace->fd.get() : -1;
  return base::UniqueFd(held >= 0 ? ::fcntl(held, F_DUPFD_CLOEXEC, 0) : -1);
}

std::vector<std::string> LaunchedSandbox::Degraded() const {
  const std::lock_guard lock(mutex_);
  return degraded_;
}

std::uint64_t LaunchedSandbox::WaitingTasks() const {
  return (shell_ ? 1U : 0U) + (spare_ ? spare_tasks_ : 0U);
}

bool LaunchedSandbox::ShareProcessors(std::uint32_t parts) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  processor_parts_ = parts;
  return life_ == nullptr || life_->ShareProcessors(parts);
}

base::Result<core::SandboxUsage> LaunchedSandbox::Sample(base::Deadline) {
  core::SandboxUsage usage{.cpu_limit_percent = spec_.limits.cpu_percent,
                           .memory_limit_bytes = spec_.limits.memory_mb << 20U,
                           .pids_limit = spec_.limits.pids};
  std::shared_ptr<SharedHandle> life;
  std::uint64_t waiting = 0;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return base::Err(base::Code::kUnavailable, "the sandbox begins or ends just now; ask again");
    life = life_;
    waiting = WaitingTasks();
    FillDisk(usage, views_.empty() ? -1 : views_.front().get());
  }
  if (life == nullptr || !life->Fill(usage, waiting))
    return base::Err(base::Code::kUnavailable, "the sandbox does not run; start it first");
  return usage;
}

std::vector<core::LimitReached> LaunchedSandbox::LimitsOf(LimitEvidence evidence) const {
  const std::lock_guard lock(mutex_);
  evidence.changes_fd = views_.empty() ? -1 : views_.front().get();
  return LimitsReached(evidence, spec_.limits);
}

base::Result<launcher::CommandRequest> LaunchedSandbox::RequestFor(const core::Command& command) const {
  SKERRY_RETURN_IF_ERROR(CheckEnvironment(command.environment));
  launcher::CommandRequest request;
  SKERRY_ASSIGN_OR_RETURN(request.directory, DirectoryFor(profile_.directory, command.directory));
  request.environment = interpreters::CleanEnvironment(profile_.home, profile_.temporary);
  if (spec_.root) SetPath(request.environment, spec_.root->environment);
  SetVariables(request.environment, command.environment);
  if (command.terminal) request.terminal = {command.terminal->rows, command.terminal->columns};
  return request;
}

base::Result<RunningCommand> LaunchedSandbox::Send(LaunchedProcess& launched) const {
  const core::Command& command = launched.command();
  const CommandRun& run = launched.run();
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
  WatchedProcess process = WatchedProcess::Command(run.life());
  run.Share(process);
  request.id = process.id();
  return command.terminal ? SendWithTerminal(launched, std::move(process), request, text)
                          : SendWithPipes(launched, std::move(process), request, text);
}

base::Result<std::unique_ptr<core::Process>> LaunchedSandbox::Launch(core::Command command, core::OutputSink& sink,
                                                                     const std::stop_token&) {
  SKERRY_ASSIGN_OR_RETURN(std::shared_ptr<SharedHandle> life, Begin());
  auto process = std::make_unique<LaunchedProcess>(*this, life, std::move(command), sink);
  SKERRY_RETURN_IF_ERROR(process->run().Announce());
  if (auto shell = TakeShell(process->command())) {
    SKERRY_RETURN_IF_ERROR(BeginInShell(*process, std::move(*shell)));
    return process;
  }
  if (auto found = FindWorker(life, process->command())) {
    SKERRY_RETURN_IF_ERROR(BeginInWorker(*process, std::move(*found)));
    return process;
  }
  auto running = Send(*process);
  if (running) {
    process->Begin(std::move(*running), core::StartKind::kExec, base::Deadline::After(process->command().timeout));
    return process;
  }
  SKERRY_ASSIGN_OR_RETURN(core::CommandResult over, process->run().Refused(std::move(running).error()));
  process->BeginOver(std::move(over));
  return process;
}

base::Status LaunchedSandbox::Kill(const std::shared_ptr<SharedHandle>& life) {
  const std::lock_guard lock(mutex_);
  return KillLocked(life);
}

// The life may have been ended by another thread before, and the sandbox may have a new one by now.
// NOLINTNEXTLINE(performance-unnecessary-value-param): it may be life_ itself, which goes
base::Status LaunchedSandbox::KillLocked(std::shared_ptr<SharedHandle> life) {
  if (life == life_) {
    spare_.reset();
    shell_.reset();
    life_.reset();
  }
  SKERRY_ASSIGN_OR_RETURN(const launcher::Ended ended, life->Stop());
  if (ended.processes_left != 0) return base::Err(base::Code::kInternal, "processes of the sandbox are left");
  return {};
}

// The launcher's socket closes when the sandbox has ended, or when the launcher itself has; the init's socket closes a
// little earlier.
bool LaunchedSandbox::IsRunningLocked() const {
  if (life_ == nullptr) return false;
  std::array entries = {pollfd{life_->launcher_fd(), 0, 0}, pollfd{life_->control_fd(), 0, 0}};
  if (::poll(entries.data(), entries.size(), 0) <= 0) return true;
  return std::ranges::none_of(entries, [](const pollfd& entry) { return (entry.revents & (POLLHUP | POLLERR)) != 0; });
}

bool LaunchedSandbox::IsRunning() const {
  const std::lock_guard lock(mutex_);
  return IsRunningLocked();
}

void LaunchedSandbox::BeginStop() {
  const std::lock_guard lock(mutex_);
  if (life_ != nullptr) life_->BeginStop();
}

base::Status LaunchedSandbox::Stop(base::Deadline) {
  const std::lock_guard lock(mutex_);
  started_ = false;
  return life_ != nullptr ? KillLocked(life_) : base::Status{};
}

}  // namespace skerry::runner
