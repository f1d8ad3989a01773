#include "runner/launched_sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
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

base::Result<std::string> DirectoryFor(const std::string& workspace, const std::string& wanted) {
  constexpr std::size_t kLongest = 4095;
  if (wanted.empty()) return workspace;
  std::string directory = wanted.starts_with('/') ? wanted : workspace + "/" + wanted;
  if (directory.size() > kLongest || directory.find('\0') != std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "not a directory: " + base::ToValidUtf8(wanted));
  return directory;
}

base::Result<RunningCommand> SendWithPipes(const CommandRun& run, WatchedProcess process,
                                           const launcher::CommandRequest& request, const base::UniqueFd& text) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  std::vector<int> fds = {in.read_end.get(), out.write_end.get(), err.write_end.get()};
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(run.life()->handle().SendCommand(request, fds));
  return RunningCommand{{.standard_output = std::move(out.read_end), .standard_error = std::move(err.read_end)},
                        InputFeed(run.command().input_fd, std::move(in.write_end)),
                        std::move(process)};
}

// The terminal is one of the sandbox's own: the program never holds the caller's, into which it could type (E32).
base::Result<RunningCommand> SendWithTerminal(const CommandRun& run, WatchedProcess process,
                                              const launcher::CommandRequest& request, const base::UniqueFd& text) {
  const core::Command& command = run.command();
  std::vector<int> fds;
  if (text.valid()) fds.push_back(text.get());
  SKERRY_RETURN_IF_ERROR(run.life()->handle().SendCommand(request, fds));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd master,
                          run.life()->AwaitTerminal(process.id(), base::Deadline::After(kEndPatience)));
  SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(master.get()));
  base::UniqueFd input(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  CommandPump::Sources sources{.standard_output = std::move(master), .resized = command.resized_fd};
  sources.on_resize = [&command](int terminal) { SetWindow(terminal, command.terminal_size()); };
  return RunningCommand{std::move(sources), InputFeed(command.input_fd, std::move(input), kEndOfTerminalInput),
                        std::move(process)};
}

}  // namespace

LaunchedSandbox::~LaunchedSandbox() {
  (void)LaunchedSandbox::Stop();
}

base::Status LaunchedSandbox::Start() {
  const std::lock_guard lock(mutex_);
  return StartLocked();
}

base::Status LaunchedSandbox::StartLocked() {
  if (IsRunningLocked()) return {};
  if (life_ != nullptr) (void)KillLocked(life_);  // what is left of one that was lost while nobody used it
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
  life_ = std::make_shared<SharedHandle>(std::move(handle));
  if (processor_parts_ != 1) (void)life_->ShareProcessors(processor_parts_);
  started_ = true;
  MakeSpare();
  return {};
}

base::Result<std::shared_ptr<SharedHandle>> LaunchedSandbox::Begin() {
  const std::lock_guard lock(mutex_);
  if (!started_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
  SKERRY_RETURN_IF_ERROR(StartLocked());
  return life_;
}

std::shared_ptr<SharedHandle> LaunchedSandbox::Life() const {
  const std::lock_guard lock(mutex_);
  return IsRunningLocked() ? life_ : nullptr;
}

base::Status LaunchedSandbox::Freeze() {
  const auto life = Life();
  return life != nullptr ? life->Bring(launcher::MotionKind::kFrozen) : base::Status{};
}

base::Status LaunchedSandbox::Thaw() {
  const auto life = Life();
  return life != nullptr ? life->Bring(launcher::MotionKind::kMoving) : base::Status{};
}

std::optional<core::WorkspaceView> LaunchedSandbox::View() const {
  const std::lock_guard lock(mutex_);
  if (views_.size() != 3) return std::nullopt;
  return core::WorkspaceView{.changes = views_[0].get(),
                             .merged = views_[1].get(),
                             .root = views_[2].get(),
                             .layered = !spec_.workspace.empty()};
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

base::Result<core::SandboxUsage> LaunchedSandbox::Usage() const {
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

base::Result<RunningCommand> LaunchedSandbox::Send(const CommandRun& run) const {
  const core::Command& command = run.command();
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
  return command.terminal ? SendWithTerminal(run, std::move(process), request, text)
                          : SendWithPipes(run, std::move(process), request, text);
}

base::Result<core::CommandResult> LaunchedSandbox::Execute(const core::Command& command, core::OutputSink& sink,
                                                           std::stop_token stop) {
  SKERRY_ASSIGN_OR_RETURN(const std::shared_ptr<SharedHandle> life, Begin());
  CommandRun run(*this, life, command, sink);
  SKERRY_RETURN_IF_ERROR(run.Announce());
  if (auto shell = TakeShell(command)) return RunInShell(run, std::move(*shell), std::move(stop));
  if (auto found = FindWorker(life, command)) return RunInWorker(run, std::move(*found), std::move(stop));
  auto running = Send(run);
  if (!running) return run.Refused(std::move(running).error());
  return run.Await(*running, nullptr, core::StartKind::kExec, base::Deadline::After(command.timeout), std::move(stop));
}

base::Status LaunchedSandbox::Kill(const std::shared_ptr<SharedHandle>& life) {
  const std::lock_guard lock(mutex_);
  return KillLocked(life);
}

// Somebody else may have ended it before, and there may even be another one now.
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

// The launcher closes the socket of a sandbox that has ended, as its own end does; the init's closes a little earlier.
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

base::Status LaunchedSandbox::Stop() {
  const std::lock_guard lock(mutex_);
  started_ = false;
  return life_ != nullptr ? KillLocked(life_) : base::Status{};
}

}  // namespace skerry::runner
