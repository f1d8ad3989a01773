// The backend's side of the launcher: starts a launcher, has it make sandboxes, runs commands in them and ends them.
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
#include "launcher/lifeline.hpp"
#include "launcher/protocol.hpp"
#include "os/cgroup.hpp"
#include "os/pidfd.hpp"

namespace skerry::launcher {

// Where skerry-launcher and skerry-init lie; by default beside the running program.
struct ProgramPaths {
  std::string launcher;
  std::string init;
  std::string zygote_library;
  static base::Result<ProgramPaths> BesideThisProgram();
};

// A running launcher process and the socket to it. Thread-safe. The process is started at the first use; one that has
// died is replaced at the next. The destructor ends the process, and with it the sandboxes that are left.
class Launcher {
 public:
  // A zygote that every launcher process is told of, and the program text that the zygote reads.
  struct Zygote {
    ZygoteOffer offer;
    std::string text;
  };

  // Whether the launcher begins sandboxes before they are asked for: for backends that make many.
  enum class Ahead { kNothing, kSandboxes };

  // With a lifeline everything ends as soon as this process is killed, without one when it is dead.
  explicit Launcher(ProgramPaths programs, std::vector<Zygote> zygotes = {}, Ahead ahead = Ahead::kNothing,
                    std::shared_ptr<const Lifeline> lifeline = nullptr)
      : programs_(std::move(programs)), zygotes_(std::move(zygotes)), ahead_(ahead), lifeline_(std::move(lifeline)) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  // Why the launcher process ended, when it has said so.
  std::optional<base::Error> LastWord();

  // A socket for one sandbox.
  base::Result<base::UniqueFd> Connect();

  // Whether the launcher process has ended by the deadline; the next Connect starts another one.
  [[nodiscard]] bool HasEnded(base::Deadline deadline);

 private:
  // The caller holds the lock.
  base::Status EnsureRunning();
  base::Status TellFirst() const;
  base::Status OfferZygotes() const;
  base::Status Tell(std::string_view message, std::span<const int> fds = {}) const;
  [[nodiscard]] std::optional<base::Error> ReadLastWord() const;
  void End();

  ProgramPaths programs_;
  std::vector<Zygote> zygotes_;
  Ahead ahead_;
  std::shared_ptr<const Lifeline> lifeline_;
  std::mutex mutex_;
  os::PidFd process_;
  base::UniqueFd socket_;
};

// One sandbox. Not for use by several threads at once. The destructor ends the sandbox and waits for it.
class SandboxHandle {
 public:
  // Has the launcher make the sandbox. `fds` are the host's directories that the request names, in its order. They stay
  // the caller's.
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
  // The directories from which the sandbox's present use can be read.
  [[nodiscard]] const os::GroupPlaces& groups() const { return started_.groups; }

  // The socket to the init. Becomes readable when a command has ended, or when the sandbox is gone.
  [[nodiscard]] int control_fd() const { return control_.get(); }

  // To be called before a program begins to run in the sandbox; see ActivityRequest.
  base::Status AnnounceActivity(std::chrono::milliseconds lifetime) const;

  // `fds` are stdin, stdout, stderr and, for programs that read their text from descriptor 3, that file. They stay the
  // caller's.
  base::Status SendCommand(const CommandRequest& command, std::span<const int> fds) const;
  base::Status SignalCommand(std::uint64_t id, int signal) const;
  base::Status Kill(const TreeKill& tree) const;

  // Has a child of the zygote enter the sandbox with these four descriptors. Gives the child's pid on the host.
  base::Result<std::uint64_t> Fork(const std::string& zygote, std::span<const int> fds);
  base::Status SignalFork(std::uint64_t pid, int signal) const;
  // The socket to the launcher. Becomes readable when a forked child has ended, or when the launcher is lost.
  [[nodiscard]] int launcher_fd() const { return socket_.get(); }
  // Waits until the launcher has said something; false when it has not by the deadline.
  [[nodiscard]] base::Result<bool> AwaitLauncher(base::Deadline deadline) const;
  // Reads what the launcher has said, without waiting. An error when the sandbox has ended.
  base::Status HearLauncher();
  // From now on `told` is called for each forked child that ended, by the thread that reads from the launcher, and the
  // ends are not kept.
  using ForkEndTold = std::function<void(const ForkEnded&)>;
  void TellForkEnds(ForkEndTold told) { fork_end_told_ = std::move(told); }
  // The wait status of that forked child, when it has ended by now; given once.
  base::Result<std::optional<int>> TakeForkEnd(std::uint64_t pid);
  // The next message of the init, with the descriptors that came along. Nothing when the sandbox is gone.
  struct InitMessage {
    FromInit message;
    std::vector<base::UniqueFd> fds;
  };
  base::Result<std::optional<InitMessage>> Receive(base::Deadline deadline) const;

  // The views of a workspace that is not direct (changes, merged, root), else empty. They outlive the sandbox.
  std::vector<base::UniqueFd> TakeViews() { return std::move(views_); }

  base::Result<Usage> AskUsage();
  // Whether the launcher handed over the sandbox's counters: then ReadCounters gives its use without asking the
  // launcher.
  [[nodiscard]] bool HasCounters() const { return !counters_.all().empty(); }
  [[nodiscard]] Usage ReadCounters() const;

  // Stops every process of the sandbox where it is, or lets it go on, and waits until that is so. kUnavailable where
  // the machine cannot do that, kTimeout.
  base::Status Bring(MotionKind wanted);

  // Kills every process of the sandbox and does not wait. Only Stop may follow.
  void BeginStop();

  // Kills every process of the sandbox and returns when none is left. Further calls return the same.
  base::Result<Ended> Stop();

 private:
  // Nothing when the launcher process ended without a word.
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
  bool lost_ = false;  // the launcher process ended before it had said how the sandbox ended
  ForkEndTold fork_end_told_;
  std::map<std::uint64_t, int> fork_ends_;  // ends of forked children that came while another answer was waited for

  void Keep(const ForkEnded& end);
  // The launcher's next answer that is not about the end of a forked child.
  base::Result<FromLauncher> ReceiveAnswer(base::Deadline deadline);
};

}  // namespace skerry::launcher
