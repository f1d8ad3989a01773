#include "runner/shared_handle.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/errno_error.hpp"
#include "os/process_tree.hpp"

namespace skerry::runner {
namespace {

using std::chrono_literals::operator""s;

base::Status AwaitEither(int one, int other, base::Deadline deadline) {
  std::array entries = {pollfd{one, POLLIN, 0}, pollfd{other, POLLIN, 0}};
  if (::poll(entries.data(), entries.size(), deadline.PollTimeoutMs()) < 0 && errno != EINTR)
    return os::ErrnoErr("poll");
  return {};
}

}  // namespace

SharedHandle::SharedHandle(launcher::SandboxHandle handle)
    : handle_(std::move(handle)), sampler_(handle_.groups(), handle_.init_pid(), handle_.isolation()) {
  handle_.TellForkEnds([this](const launcher::ForkEnded& end) { File(end); });
}

std::uint64_t SharedHandle::Expect() {
  const std::lock_guard lock(mutex_);
  told_.try_emplace(next_);
  return next_++;
}

void SharedHandle::Forget(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  told_.erase(id);
  std::erase_if(forks_, [&](const auto& fork) { return fork.second == id; });
}

int SharedHandle::MakeWake(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto told = told_.find(id);
  if (told == told_.end()) return -1;
  // A wake-up without a message does no harm: its reader only looks once more.
  told->second.wake.Reset(::eventfd(told->second.end ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
  return told->second.wake.get();
}

// Messages about a command that is not expected, or not any more, are dropped.
void SharedHandle::File(launcher::SandboxHandle::InitMessage said) {
  if (const auto* tree = std::get_if<launcher::TreeToKill>(&said.message)) return KillOnHost(*tree);
  const auto* ended = std::get_if<launcher::CommandEnded>(&said.message);
  const auto* opened = std::get_if<launcher::TerminalOpened>(&said.message);
  const auto told = told_.find(ended != nullptr ? ended->id : opened->id);
  if (told == told_.end()) return;
  if (ended != nullptr) told->second.end = *ended;
  if (opened != nullptr && said.fds.size() == 1) told->second.terminal = std::move(said.fds.front());
  if (told->second.wake.valid()) (void)::eventfd_write(told->second.wake.get(), 1);
}

// Done by the thread that receives the message. Only a child of the sandbox's own init is killed, whatever the message
// says.
void SharedHandle::KillOnHost(const launcher::TreeToKill& tree) const {
  const auto pid = static_cast<pid_t>(tree.pid);
  if (os::ParentOf(pid) == handle_.init_pid()) os::KillSessionTree(pid, base::Deadline::After(1s));
}

void SharedHandle::File(const launcher::ForkEnded& end) {
  const std::lock_guard lock(mutex_);
  fork_time_ += std::chrono::microseconds(end.cpu_microseconds);
  const auto fork = forks_.find(end.pid);
  if (fork == forks_.end()) return;
  Told& told = told_[fork->second];
  told.end = launcher::CommandEnded{.id = fork->second, .wait_status = end.wait_status};
  forks_.erase(fork);  // the kernel may give the pid to another process soon
  if (told.wake.valid()) (void)::eventfd_write(told.wake.get(), 1);
}

base::Result<std::uint64_t> SharedHandle::Fork(std::uint64_t id, const std::string& zygote, std::span<const int> fds) {
  const std::lock_guard asking(asking_);
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t pid, handle_.Fork(zygote, fds));
  // The end of this fork cannot have been read yet: reading the launcher's socket takes asking_.
  const std::lock_guard lock(mutex_);
  forks_[pid] = id;
  return pid;
}

std::optional<launcher::CommandEnded> SharedHandle::KnownEnd(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto told = told_.find(id);
  return told != told_.end() ? told->second.end : std::nullopt;
}

base::Result<std::optional<launcher::CommandEnded>> SharedHandle::TakeEnd(std::uint64_t id, Kind kind) {
  return kind == Kind::kCommand ? TakeCommandEnd(id) : TakeForkEnd(id);
}

base::Result<std::optional<launcher::CommandEnded>> SharedHandle::TakeCommandEnd(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const Told& told = told_[id];
  while (!told.end && !told.terminal.valid()) {
    auto said = handle_.Receive(base::Deadline::After(0s));
    if (!said && said.error().code == base::Code::kTimeout) return std::optional<launcher::CommandEnded>();
    // This process was out of descriptors when a terminal came: only the command that waits for that terminal fails.
    if (!said && said.error().code == base::Code::kTooLarge) continue;
    if (!said) return std::unexpected(said.error());
    if (!*said) return base::Err(base::Code::kExecutionFailed, "the sandbox has ended");
    File(std::move(**said));
  }
  return told.end;
}

// A thread that holds asking_ reads the ends of all forks, so the others need not wait for it.
base::Result<std::optional<launcher::CommandEnded>> SharedHandle::TakeForkEnd(std::uint64_t id) {
  if (auto end = KnownEnd(id)) return end;
  const std::unique_lock asking(asking_, std::try_to_lock);
  if (!asking) return std::optional<launcher::CommandEnded>();
  const auto heard = handle_.HearLauncher();
  if (auto end = KnownEnd(id)) return end;
  if (!heard) return std::unexpected(heard.error());
  return std::optional<launcher::CommandEnded>();
}

base::Result<base::UniqueFd> SharedHandle::AwaitTerminal(std::uint64_t id, base::Deadline deadline) {
  for (;;) {
    const auto end = TakeCommandEnd(id);
    if (!end) return base::Err(base::Code::kExecutionFailed, "the sandbox ended before its terminal was opened");
    int wake = -1;
    {
      const std::lock_guard lock(mutex_);
      Told& told = told_[id];
      wake = told.wake.get();
      eventfd_t times = 0;
      if (told.terminal.valid() && !told.end && wake >= 0) (void)::eventfd_read(wake, &times);
      if (told.terminal.valid()) return std::move(told.terminal);
    }
    if (*end || deadline.Expired())
      return base::Err(base::Code::kExecutionFailed, "the sandbox could not open a terminal");
    SKERRY_RETURN_IF_ERROR(AwaitEither(control_fd(), wake, deadline));
  }
}

std::uint64_t SharedHandle::BeginTurn(std::chrono::milliseconds lifetime) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, turn] : turns_) turn.company = Company::kWithOthers;
  const Company company = turns_.empty() ? Company::kAlone : Company::kWithOthers;
  const std::uint64_t number = next_++;
  turns_[number] = {.life = lifetime.count() == 0 ? base::Deadline::Never() : base::Deadline::After(lifetime),
                    .company = company};
  AnnounceLongest();
  return number;
}

SharedHandle::Company SharedHandle::EndTurn(std::uint64_t turn) {
  const std::lock_guard lock(mutex_);
  const Turn ended = turns_.at(turn);
  turns_.erase(turn);
  if (!ended.life.IsNever()) AnnounceLongest();
  return ended.company;
}

// Without a turn the sandbox has no limit on its life. The loss of the launcher is noticed elsewhere.
void SharedHandle::AnnounceLongest() {
  using std::chrono::milliseconds;
  milliseconds longest{0};
  for (const auto& [number, turn] : turns_) {
    if (turn.life.IsNever()) {
      longest = milliseconds{0};
      break;
    }
    longest = std::max({longest, milliseconds{1}, std::chrono::ceil<milliseconds>(turn.life.Remaining())});
  }
  (void)handle_.AnnounceActivity(longest);
}

launcher::Usage SharedHandle::Note(const launcher::Usage& usage) {
  const std::lock_guard lock(mutex_);
  usage_ = usage;
  return usage;
}

launcher::Usage SharedHandle::LastUsage() {
  const std::lock_guard lock(mutex_);
  return usage_;
}

launcher::Usage SharedHandle::AskUsage() {
  if (handle_.HasCounters()) return Note(handle_.ReadCounters());
  const std::lock_guard asking(asking_);
  const auto usage = handle_.AskUsage();
  return usage ? Note(*usage) : LastUsage();
}

// Reads the ends of forks: often nothing waits for the end of a worker whose program has ended. Not while a command may
// wait for a message of the launcher: one that is alone has no wake, and would never learn what was read here.
void SharedHandle::HearOfForks() {
  {
    const std::lock_guard lock(mutex_);
    if (!told_.empty()) return;
  }
  const std::unique_lock asking(asking_, std::try_to_lock);
  if (asking) (void)handle_.HearLauncher();
}

bool SharedHandle::Fill(core::SandboxUsage& usage, std::uint64_t waiting) {
  UsageSampler::Forks forks;
  // Without namespaces there are no forks, and the lock may be held for long (see KillOnHost).
  if (!sampler_.Counted() && handle_.isolation() == launcher::Isolation::kNamespaces) {
    HearOfForks();
    const std::lock_guard lock(mutex_);
    for (const auto& [pid, id] : forks_) forks.alive.push_back(static_cast<pid_t>(pid));
    forks.ended_time = fork_time_;
  }
  return sampler_.Fill(usage, forks, waiting) && !Gone() && !Over();
}

bool SharedHandle::ShareProcessors(std::uint32_t parts) const {
  const os::GroupPlace& processors = handle_.groups().processors;
  return !processors.Counts() || os::ShareProcessors(processors, parts).has_value();
}

bool SharedHandle::Gone() const {
  pollfd entry{control_fd(), 0, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLHUP | POLLERR)) != 0;
}

base::Status SharedHandle::Bring(launcher::MotionKind wanted) {
  const std::lock_guard asking(asking_);
  return handle_.Bring(wanted);
}

void SharedHandle::BeginStop() {
  over_ = true;
  const std::lock_guard asking(asking_);
  handle_.BeginStop();
}

base::Result<launcher::Ended> SharedHandle::Stop() {
  over_ = true;
  const std::lock_guard asking(asking_);
  auto ended = handle_.Stop();
  if (ended) (void)Note(ended->usage);
  return ended;
}

}  // namespace skerry::runner
