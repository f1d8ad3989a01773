#include "runner/watched_process.hpp"

#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <chrono>

#include "os/errno_error.hpp"
#include "os/process_tree.hpp"

namespace skerry::runner {
namespace {

constexpr std::chrono::seconds kTreePatience{3};  // for the init to end a process tree
constexpr std::chrono::seconds kLastPatience{2};  // for the kernel to end a killed process

}  // namespace

WatchedProcess WatchedProcess::Command(std::shared_ptr<SharedHandle> life) {
  const std::uint64_t id = life->Expect();
  return {std::move(life), id};
}

base::Result<WatchedProcess> WatchedProcess::Fork(std::shared_ptr<SharedHandle> life, const std::string& zygote,
                                                  std::span<const int> fds) {
  WatchedProcess process = Command(std::move(life));
  SKERRY_ASSIGN_OR_RETURN(process.pid_, process.life_->Fork(process.id_, zygote, fds));
  return process;
}

WatchedProcess::~WatchedProcess() {
  if (life_ != nullptr) life_->Forget(id_);
}

void WatchedProcess::ShareLife() {
  wake_ = life_->MakeWake(id_);
}

base::Result<std::optional<launcher::CommandEnded>> WatchedProcess::TakeEnd() const {
  return life_->TakeEnd(id_, forked() ? SharedHandle::Kind::kFork : SharedHandle::Kind::kCommand);
}

base::Result<std::optional<launcher::CommandEnded>> WatchedProcess::AwaitEnd(base::Deadline deadline) const {
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(auto end, TakeEnd());
    if (end || deadline.Expired()) return end;
    const auto fds = controls();
    std::array entries = {pollfd{fds[0], POLLIN, 0}, pollfd{fds[1], POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), deadline.PollTimeoutMs()) < 0 && errno != EINTR)
      return os::ErrnoErr("poll");
  }
}

base::Status WatchedProcess::Signal(int number) const {
  return forked() ? life_->handle().SignalFork(pid_, number) : life_->handle().SignalCommand(id_, number);
}

// The init can signal the processes that it started. A worker of a zygote has a fence of its own, out of the init's
// reach: this process kills it, after a check that the pid still is a child of the launcher, as the init is.
bool WatchedProcess::KillTree() const {
  if (!forked()) return life_->handle().Kill({id_}).has_value();
  const auto pid = static_cast<pid_t>(pid_);
  const pid_t launcher = os::ParentOf(life_->handle().init_pid());
  if (launcher == 0 || os::ParentOf(pid) != launcher) return false;
  os::KillSessionTree(pid, base::Deadline::After(kTreePatience));
  return true;
}

std::optional<launcher::CommandEnded> WatchedProcess::EndTree() const {
  if (KillTree()) {
    const auto end = AwaitEnd(base::Deadline::After(kTreePatience));
    if (!end || *end) return end.value_or(std::nullopt);
  }
  (void)Signal(SIGKILL);
  return AwaitEnd(base::Deadline::After(kLastPatience)).value_or(std::nullopt);
}

}  // namespace skerry::runner
