#include "launcher/client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/socket.hpp"
#include "os/spawn.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
constexpr auto kStartPatience = 30s;
constexpr auto kStopPatience = 20s;
constexpr std::size_t kMaxLibraryBytes = std::size_t{64} << 20U;

// The launcher gets its client at descriptor 3 and the init at 4; its standard descriptors are /dev/null.
base::Result<os::PidFd> SpawnLauncher(const ProgramPaths& programs, int socket) {
  const base::UniqueFd init(::open(programs.init.c_str(), O_PATH | O_CLOEXEC));
  if (!init.valid()) return os::ErrnoErr(programs.init);
  // Above the places below, so that no dup2 closes the source of the next.
  const base::UniqueFd high_socket(::fcntl(socket, F_DUPFD_CLOEXEC, 10));
  const base::UniqueFd high_init(::fcntl(init.get(), F_DUPFD_CLOEXEC, 10));
  if (!high_socket.valid() || !high_init.valid()) return os::ErrnoErr("prepare the launcher");
  // A session of its own: Ctrl-C at the terminal reaches only this process, which then ends the sandboxes in order.
  os::SpawnPlan plan(os::Lead::kSession);
  for (int fd = 0; fd < 3; ++fd) plan.PlaceNull(fd);
  plan.Place(high_socket.get(), 3);
  plan.Place(high_init.get(), 4);
  // No environment: no variable of this process goes near a sandbox (B02).
  SKERRY_ASSIGN_OR_RETURN(const pid_t pid, plan.Spawn(programs.launcher, {"skerry-launcher"}, {}));
  return os::PidFd::Open(pid);
}

}  // namespace

base::Result<ProgramPaths> ProgramPaths::BesideThisProgram() {
  SKERRY_ASSIGN_OR_RETURN(const std::string program, os::ReadLink(AT_FDCWD, "/proc/self/exe"));
  const std::string directory = program.substr(0, program.find_last_of('/') + 1);
  return ProgramPaths{directory + "skerry-launcher", directory + "skerry-init", directory + "libskerry-zygote.so"};
}

base::Status Launcher::EnsureRunning() {
  if (process_.valid()) {
    const auto ended = process_.WaitForExit(base::Deadline::After(0s));
    if (ended && !*ended) return {};
    End();
  }
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair pair, os::SocketPair::Create());
  SKERRY_ASSIGN_OR_RETURN(process_, SpawnLauncher(programs_, pair.second.get()));
  socket_ = std::move(pair.first);
  auto told = TellFirst();
  if (!told) End();  // the next use starts one that knows everything
  return told;
}

// What every launcher process has to know before it makes the first sandbox.
base::Status Launcher::TellFirst() const {
  if (lifeline_) {
    const std::array theirs = {lifeline_->end()};
    SKERRY_RETURN_IF_ERROR(Tell(kLifeline, theirs));
  }
  if (ahead_ == Ahead::kSandboxes) SKERRY_RETURN_IF_ERROR(Tell(kKeepVacancies));
  return OfferZygotes();
}

// A launcher that has ended sent the reason before.
base::Status Launcher::Tell(std::string_view message, std::span<const int> fds) const {
  auto sent = os::SendMessage(socket_.get(), message, fds);
  if (sent) return sent;
  if (auto word = ReadLastWord()) return std::unexpected(std::move(*word));
  return sent;
}

// The library is passed as a copy without a name: a process in a sandbox must not see where Skerry is installed.
base::Status Launcher::OfferZygotes() const {
  if (zygotes_.empty()) return {};
  const auto library = os::ReadFile(programs_.zygote_library, kMaxLibraryBytes);
  if (!library) return {};  // without the library nothing can be forked, and interpreters are started anew
  for (const Zygote& zygote : zygotes_) {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd code, os::SealedMemory(*library));
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd text, os::SealedMemory(zygote.text));
    const std::array fds = {code.get(), text.get()};
    SKERRY_RETURN_IF_ERROR(Tell(Encode(zygote.offer), fds));
  }
  return {};
}

base::Result<base::UniqueFd> Launcher::Connect() {
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair pair, os::SocketPair::Create());
  const std::array theirs = {pair.second.get()};
  const std::lock_guard lock(mutex_);
  SKERRY_RETURN_IF_ERROR(EnsureRunning());
  if (os::SendMessage(socket_.get(), kConnect, theirs)) return std::move(pair.first);
  // The launcher died between the check and the message.
  End();
  SKERRY_RETURN_IF_ERROR(EnsureRunning());
  SKERRY_RETURN_IF_ERROR(Tell(kConnect, theirs));
  return std::move(pair.first);
}

std::optional<base::Error> Launcher::LastWord() {
  const std::lock_guard lock(mutex_);
  return ReadLastWord();
}

std::optional<base::Error> Launcher::ReadLastWord() const {
  if (!socket_.valid()) return std::nullopt;
  const auto message = os::ReceiveMessage(socket_.get(), base::Deadline::After(1s));
  const auto word = message ? DecodeFromLauncher(message->bytes) : std::nullopt;
  const auto* failed = word ? std::get_if<Failed>(&*word) : nullptr;
  if (failed == nullptr) return std::nullopt;
  return base::Error{failed->code, failed->message};
}

void Launcher::End() {
  socket_.Reset();  // tells the launcher to end what is left
  if (!process_.valid()) return;
  const auto ended = process_.WaitForExit(base::Deadline::After(kStopPatience));
  if (!ended || !*ended) (void)process_.Signal(SIGKILL);
  (void)process_.Reap();
  process_ = {};
}

Launcher::~Launcher() {
  End();
}

bool Launcher::HasEnded(base::Deadline deadline) {
  const std::lock_guard lock(mutex_);
  return !process_.valid() || process_.WaitForExit(deadline).value_or(false);
}

base::Result<SandboxHandle> SandboxHandle::Start(const std::shared_ptr<Launcher>& launcher, const StartRequest& request,
                                                 std::span<const int> fds, base::Deadline deadline) {
  constexpr auto kLastBreath = 500ms;  // between the end of the launcher's sockets and its own end
  SKERRY_ASSIGN_OR_RETURN(auto handle, StartOnce(launcher, request, fds, deadline));
  if (handle) return std::move(*handle);
  // A launcher that was killed did not answer the request; nothing has run, so the next launcher can have the request.
  if (launcher->HasEnded(base::Deadline::After(kLastBreath))) {
    SKERRY_ASSIGN_OR_RETURN(auto second, StartOnce(launcher, request, fds, deadline));
    if (second) return std::move(*second);
  }
  return base::Err(base::Code::kInternal, "the launcher ended before the sandbox was made");
}

base::Result<std::optional<SandboxHandle>> SandboxHandle::StartOnce(const std::shared_ptr<Launcher>& launcher,
                                                                    const StartRequest& request,
                                                                    std::span<const int> fds, base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd socket, launcher->Connect());
  SandboxHandle handle(launcher, std::move(socket));
  const auto sent = os::SendMessage(handle.socket_.get(), Encode(ToLauncher{request}), fds);
  // A launcher that could not even read the request has sent the reason before it ended.
  auto message =
      os::ReceiveMessage(handle.socket_.get(), deadline.EarlierOf(base::Deadline::After(sent ? kStartPatience : 0s)));
  if (!message || message->EndOfStream())
    if (auto word = handle.launcher_->LastWord()) return std::unexpected(std::move(*word));
  if (message && message->EndOfStream()) return std::nullopt;
  if (!sent) return std::unexpected(sent.error());
  if (!message) return std::unexpected(std::move(message).error());
  const auto answer = DecodeFromLauncher(message->bytes);
  if (const auto* failed = answer ? std::get_if<Failed>(&*answer) : nullptr) {
    handle.socket_.Reset();  // the failure was the last message
    return base::Err(failed->code, failed->message);
  }
  const auto* started = answer ? std::get_if<Started>(&*answer) : nullptr;
  const std::size_t views = request.workspace == WorkspaceKind::kDirect ? 0 : 3;
  if (started == nullptr || message->fds.size() != 1 + views + started->counters.size())
    return base::Err(base::Code::kInternal, "unexpected answer of the launcher");
  handle.started_ = *started;
  handle.isolation_ = request.isolation;
  handle.control_ = std::move(message->fds[0]);
  std::size_t next = 1;
  for (; next <= views; ++next) handle.views_.push_back(std::move(message->fds[next]));
  std::vector<os::CgroupCounters::Counter> counters;
  counters.reserve(started->counters.size());
  for (const std::uint64_t kind : started->counters)
    counters.push_back({static_cast<os::CgroupCounters::Kind>(kind), std::move(message->fds[next++])});
  handle.counters_ = os::CgroupCounters(std::move(counters));
  return std::optional(std::move(handle));
}

base::Status SandboxHandle::AnnounceActivity(std::chrono::milliseconds lifetime) const {
  const ActivityRequest request{static_cast<std::uint64_t>(lifetime.count())};
  return os::SendMessage(socket_.get(), Encode(ToLauncher{request}));
}

base::Status SandboxHandle::SendCommand(const CommandRequest& command, std::span<const int> fds) const {
  return os::SendMessage(control_.get(), Encode(ToInit{command}), fds);
}

base::Status SandboxHandle::SignalCommand(std::uint64_t id, int signal) const {
  return os::SendMessage(control_.get(), Encode(ToInit{CommandSignal{id, static_cast<std::uint64_t>(signal)}}));
}

base::Status SandboxHandle::Kill(const TreeKill& tree) const {
  return os::SendMessage(control_.get(), Encode(ToInit{tree}));
}

base::Result<std::uint64_t> SandboxHandle::Fork(const std::string& zygote, std::span<const int> fds) {
  SKERRY_RETURN_IF_ERROR(os::SendMessage(socket_.get(), Encode(ToLauncher{ForkRequest{zygote}}), fds));
  SKERRY_ASSIGN_OR_RETURN(const FromLauncher answer, ReceiveAnswer(base::Deadline::After(kStartPatience)));
  const auto* forked = std::get_if<Forked>(&answer);
  if (forked == nullptr) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
  if (forked->pid == 0) return base::Err(base::Code::kUnavailable, forked->why);
  return forked->pid;
}

base::Status SandboxHandle::SignalFork(std::uint64_t pid, int signal) const {
  const SignalRequest request{pid, static_cast<std::uint64_t>(signal)};
  return os::SendMessage(socket_.get(), Encode(ToLauncher{request}));
}

void SandboxHandle::Keep(const ForkEnded& end) {
  if (fork_end_told_) return fork_end_told_(end);
  fork_ends_[end.pid] = static_cast<int>(end.wait_status);
}

base::Result<FromLauncher> SandboxHandle::ReceiveAnswer(base::Deadline deadline) {
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const os::Message message, os::ReceiveMessage(socket_.get(), deadline));
    auto answer = DecodeFromLauncher(message.bytes);
    if (!answer) return base::Err(base::Code::kExecutionFailed, "the launcher was lost");
    const auto* end = std::get_if<ForkEnded>(&*answer);
    if (const auto* last = std::get_if<Ended>(&*answer)) ended_ = *last;
    if (end == nullptr) return std::move(*answer);
    Keep(*end);
  }
}

base::Result<bool> SandboxHandle::AwaitLauncher(base::Deadline deadline) const {
  for (;;) {
    pollfd entry{socket_.get(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready > 0) return true;
    if (ready == 0 && deadline.Expired()) return false;
    if (ready < 0 && errno != EINTR) return os::ErrnoErr("poll");
  }
}

base::Status SandboxHandle::HearLauncher() {
  for (;;) {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0) return {};
    SKERRY_ASSIGN_OR_RETURN(const os::Message message, os::ReceiveMessage(socket_.get(), base::Deadline::After(0s)));
    const auto answer = DecodeFromLauncher(message.bytes);
    const auto* end = answer ? std::get_if<ForkEnded>(&*answer) : nullptr;
    if (answer && std::holds_alternative<Ended>(*answer)) ended_ = std::get<Ended>(*answer);
    if (end == nullptr) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
    Keep(*end);
  }
}

base::Result<std::optional<int>> SandboxHandle::TakeForkEnd(std::uint64_t pid) {
  const auto heard = fork_ends_.contains(pid) ? base::Status{} : HearLauncher();
  if (!fork_ends_.contains(pid)) {
    if (!heard) return std::unexpected(heard.error());
    return std::optional<int>();
  }
  const int status = fork_ends_[pid];
  fork_ends_.erase(pid);
  return std::optional(status);
}

base::Result<std::optional<SandboxHandle::InitMessage>> SandboxHandle::Receive(base::Deadline deadline) const {
  auto message = os::ReceiveMessage(control_.get(), deadline);
  if (!message) return std::unexpected(std::move(message).error());
  if (message->EndOfStream()) return std::optional<InitMessage>();
  const auto decoded = DecodeFromInit(message->bytes);
  if (!decoded) return base::Err(base::Code::kInternal, "malformed message of the sandbox's init");
  return InitMessage{*decoded, std::move(message->fds)};
}

Usage SandboxHandle::ReadCounters() const {
  const os::CgroupUsage usage = counters_.Read();
  return {usage.out_of_memory_kills, usage.memory_peak_bytes, usage.forks_refused, usage.times_throttled};
}

base::Result<Usage> SandboxHandle::AskUsage() {
  if (HasCounters()) return ReadCounters();
  SKERRY_RETURN_IF_ERROR(os::SendMessage(socket_.get(), Encode(ToLauncher{UsageRequest{}})));
  SKERRY_ASSIGN_OR_RETURN(const FromLauncher answer, ReceiveAnswer(base::Deadline::After(kStopPatience)));
  const auto* usage = std::get_if<Usage>(&answer);
  if (usage == nullptr) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
  return *usage;
}

base::Status SandboxHandle::Bring(MotionKind wanted) {
  constexpr auto kPatience = 2s;
  constexpr auto kPause = std::chrono::microseconds(200);
  for (const auto deadline = base::Deadline::After(kPatience); !deadline.Expired();) {
    SKERRY_RETURN_IF_ERROR(os::SendMessage(socket_.get(), Encode(ToLauncher{FreezeRequest{wanted}})));
    SKERRY_ASSIGN_OR_RETURN(const FromLauncher answer, ReceiveAnswer(base::Deadline::After(kStopPatience)));
    const auto* motion = std::get_if<Motion>(&answer);
    if (motion == nullptr) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
    if (motion->now == wanted) return {};
    if (motion->now == MotionKind::kUnable)
      return base::Err(base::Code::kUnavailable, "this machine has no cgroup of version 2 to freeze the sandbox with");
    std::this_thread::sleep_for(kPause);
  }
  return base::Err(base::Code::kTimeout, "the sandbox does not stand still");
}

void SandboxHandle::BeginStop() {
  // A launcher that has ended already (the sandbox died) does not read this, but its last message can still be read.
  if (!std::exchange(stopping_, true)) (void)os::SendMessage(socket_.get(), Encode(ToLauncher{StopRequest{}}));
}

base::Result<Ended> SandboxHandle::Stop() {
  if (ended_) return *ended_;
  if (lost_ || !socket_.valid()) return base::Err(base::Code::kExecutionFailed, "the launcher was lost");
  BeginStop();
  const auto deadline = base::Deadline::After(kStopPatience);
  for (;;) {
    auto answer = ReceiveAnswer(deadline);
    if (answer && !std::holds_alternative<Ended>(*answer)) continue;  // an answer that nobody waits for any more
    if (!answer) {
      // The socket is closed only with the handle: other threads may be waiting at it.
      lost_ = true;
      ::shutdown(socket_.get(), SHUT_RDWR);
      return std::unexpected(std::move(answer).error());
    }
    return *ended_;
  }
}

SandboxHandle::~SandboxHandle() {
  if (launcher_ != nullptr) (void)Stop();
}

}  // namespace skerry::launcher
