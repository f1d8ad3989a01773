// A backend's side: starts a launcher, has sandboxes made, runs commands in them, ends them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/protocol.hpp"
#include "os/cgroup.hpp"
#include "os/pidfd.hpp"

namespace skerry::launcher {

// Where the two programs lie. Beside the running program by default.
struct ProgramPaths {
  std::string launcher;
  std::string init;
  std::string zygote_library;
  static base::Result<ProgramPaths> BesideThisProgram();
};

// A running launcher and the way to it. Thread-safe. Started at the first use; one that has died is replaced at the
// next. The destructor ends it, and with it what sandboxes are left.
class Launcher {
 public:
  // A zygote that every launcher is told of, and the program text that it reads.
  struct Zygote {
    ZygoteOffer offer;
    std::string text;
  };

  // For those who make many: sandboxes are begun before they are asked for.
  enum class Ahead { kNothing, kSandboxes };

  explicit Launcher(ProgramPaths programs, std::vector<Zygote> zygotes = {}, Ahead ahead = Ahead::kNothing)
      : programs_(std::move(programs)), zygotes_(std::move(zygotes)), ahead_(ahead) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  // Why the launcher ended, when it has said so.
  std::optional<base::Error> LastWord();

  // A socket for one sandbox.
  base::Result<base::UniqueFd> Connect();

  // Whether it is gone by then; the next Connect starts another one.
  [[nodiscard]] bool HasEnded(base::Deadline deadline);

 private:
  // With the lock.
  base::Status EnsureRunning();
  base::Status OfferZygotes() const;
  base::Status Tell(std::string_view message, std::span<const int> fds = {}) const;
  [[nodiscard]] std::optional<base::Error> ReadLastWord() const;
  void End();

  ProgramPaths programs_;
  std::vector<Zygote> zygotes_;
  Ahead ahead_;
  std::mutex mutex_;
  os::PidFd process_;
  base::UniqueFd socket_;
};

// One sandbox. Not for use by several threads at once. The destructor ends the sandbox and waits for it.
class SandboxHandle {
 public:
  // `fds`: the host's directories that the request names, in its order. They stay the caller's.
  static base::Result<SandboxHandle> Start(const std::shared_ptr<Launcher>& launcher, const StartRequest& request,
                                           std::span<const int> fds, base::Deadline deadline = base::Deadline::Never());

  SandboxHandle(SandboxHandle&&) noexcept = default;
  SandboxHandle& operator=(SandboxHandle&&) = delete;
  SandboxHandle(const SandboxHandle&) = delete;
  SandboxHandle& operator=(const SandboxHandle&) = delete;
  ~SandboxHandle();

  [[nodiscard]] pid_t init_pid() const { return static_cast<pid_t>(started_.init_pid); }
  [[nodiscard]] Isolation isolation() const { return isolation_; }
  [[nodiscard]] const std::vector<std::string>& degraded() const { return started_.degraded; }
  // Where what it uses can be read.
  [[nodiscard]] const os::GroupPlaces& groups() const { return started_.groups; }

  // Becomes readable when a command has ended, or at its end when the sandbox is gone.
  [[nodiscard]] int control_fd() const { return control_.get(); }

  // To be called before a program is let in; see ActivityRequest.
  base::Status AnnounceActivity(std::chrono::milliseconds lifetime) const;

  // `fds`: stdin, stdout, stderr and, for programs that read their text from descriptor 3, that. They stay the
  // caller's.
  base::Status SendCommand(const CommandRequest& command, std::span<const int> fds) const;
  base::Status SignalCommand(std::uint64_t id, int signal) const;
  base::Status Kill(const TreeKill& tree) const;

  // Has a zygote's child enter with these four descriptors; its pid on the host.
  base::Result<std::uint64_t> Fork(const std::string& zygote, std::span<const int> fds);
  base::Status SignalFork(std::uint64_t pid, int signal) const;
  // Becomes readable when a fork has ended, or at its end when the launcher is lost.
  [[nodiscard]] int launcher_fd() const { return socket_.get(); }
  // False when it had nothing to say by the deadline.
  [[nodiscard]] base::Result<bool> AwaitLauncher(base::Deadline deadline) const;
  // Reads what it has said, without waiting. An error when the sandbox has ended.
  base::Status HearLauncher();
  // From now on the ends of forks are told to `told`, from within whatever listens to the launcher, and not kept.
  using ForkEndTold = std::function<void(const ForkEnded&)>;
  void TellForkEnds(ForkEndTold told) { fork_end_told_ = std::move(told); }
  // The wait status of that fork, when it has ended by now; its end is told once.
  base::Result<std::optional<int>> TakeForkEnd(std::uint64_t pid);
  // The next word of the init, with what came along. Nothing when the sandbox is gone.
  struct InitMessage {
    FromInit message;
    std::vector<base::UniqueFd> fds;
  };
  base::Result<std::optional<InitMessage>> Receive(base::Deadline deadline) const;

  // The views of a workspace that is not direct (changes, merged, root), else empty. They outlive the sandbox.
  std::vector<base::UniqueFd> TakeViews() { return std::move(views_); }

  base::Result<Usage> AskUsage();
  // What it does when the launcher handed over the counters: then nobody has to be asked.
  [[nodiscard]] bool HasCounters() const { return !counters_.all().empty(); }
  [[nodiscard]] Usage ReadCounters() const;

  // Waits until every process stands still, or goes on. kUnavailable where that cannot be had, kTimeout.
  base::Status Bring(MotionKind wanted);

  // Kills everything inside and does not wait. Only Stop may follow.
  void BeginStop();

  // Kills everything inside; returns when nothing is left. Further calls return the same.
  base::Result<Ended> Stop();

 private:
  // Nothing when the launcher ended without a word.
  static base::Result<std::optional<SandboxHandle>> StartOnce(const std::shared_ptr<Launcher>& launcher,
                                                              const StartRequest& request, std::span<const int> fds,
                                                              base::Deadline deadline);
  SandboxHandle(std::shared_ptr<Launcher> launcher, base::UniqueFd socket)
      : launcher_(std::move(launcher)), socket_(std::move(socket)) {}

  std::shared_ptr<Launcher> launcher_;
  base::UniqueFd socket_;
  base::UniqueFd control_;
  std::vector<base::UniqueFd> views_;
  os::CgroupCounters counters_;
  Isolation isolation_ = Isolation::kNamespaces;
  Started started_;
  std::optional<Ended> ended_;
  bool stopping_ = false;
  bool lost_ = false;  // the launcher, before it had said its last word
  ForkEndTold fork_end_told_;
  std::map<std::uint64_t, int> fork_ends_;  // that were told while something else was waited for

  void Keep(const ForkEnded& end);
  // The next answer that is not about the end of a fork.
  base::Result<FromLauncher> ReceiveAnswer(base::Deadline deadline);
};

}  // namespace skerry::launcher
