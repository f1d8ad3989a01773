// One live sandbox as its launcher holds it: the cgroup, the init, and the way to end both without fail.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/fork_order.hpp"
#include "launcher/host_identity.hpp"
#include "launcher/protocol.hpp"
#include "os/cgroup.hpp"
#include "os/event_set.hpp"
#include "os/pidfd.hpp"
#include "os/process_tree.hpp"

namespace skerry::launcher {

class MachineFacts;
class Preparation;

class SandboxProcess {
 public:
  // Makes the first process, which then sets itself up while the launcher does other things. An error here or later
  // names the step that failed; then nothing runs and nothing is left.
  static base::Result<SandboxProcess> Begin(const StartRequest& request, std::span<const base::UniqueFd> fds,
                                            int init_program, MachineFacts& machine);

  // As Begin, ahead of a request: with the namespaces, the root, the network and the cgroup that every sandbox has. The
  // sandbox waits for Furnish, which may be called at once. Only for requests that fit the template of the root;
  // kUnavailable without a template. `likely` are the limits that will probably be asked for.
  static base::Result<SandboxProcess> BeginVacant(int init_program, MachineFacts& machine, os::CgroupLimits likely);
  base::Status Furnish(const StartRequest& request, std::span<const base::UniqueFd> fds, MachineFacts& machine);
  [[nodiscard]] bool CanBeLimitedTo(const StartRequest& request) const {
    return (request.memory_bytes != 0 || vacant_limits_.memory_bytes == 0) &&
           (request.pids != 0 || vacant_limits_.pids == 0);
  }
  // Whether the sandbox's first process has not ended.
  [[nodiscard]] bool Waits() const;

  SandboxProcess(SandboxProcess&&) noexcept = default;
  SandboxProcess& operator=(SandboxProcess&&) = delete;
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;
  ~SandboxProcess();

  // The socket on which the child reports. It becomes readable when the child, while it sets itself up, has something
  // to say.
  [[nodiscard]] int report_fd() const { return report_.get(); }
  [[nodiscard]] int control_fd() const { return control_.get(); }
  // To be called when the report is readable. True when the child has closed it: the set-up is over, for good or ill.
  base::Result<bool> ReadReport();
  // To be called when the control socket is readable after the set-up: the init is running behind the whole fence.
  base::Status ReadFirstWord();

  [[nodiscard]] pid_t init_pid() const { return init_.pid(); }
  [[nodiscard]] int init_pidfd() const { return init_.get(); }
  [[nodiscard]] const std::vector<std::string>& degraded() const { return degraded_; }
  // The descriptors for the client, and only for it: the socket to the init and the views of the workspace. Called
  // once.
  std::vector<base::UniqueFd> TakeClientDescriptors();
  // The counters of the sandbox's cgroup, open.
  const os::CgroupCounters& Counters();
  [[nodiscard]] os::GroupPlaces groups() const { return cgroup_.Places(); }
  // Whether the counters tell everything that CurrentUsage does.
  [[nodiscard]] bool CountersSuffice() const { return cgroup_.LimitsMemory() && cgroup_.LimitsPids(); }

  // How often the launcher itself has to look at what the machine does not limit; nothing for never.
  [[nodiscard]] std::optional<std::chrono::milliseconds> WatchInterval() const;
  [[nodiscard]] bool OverMemoryLimit();

  [[nodiscard]] Usage CurrentUsage() const;
  // Tries to stop every process of the sandbox, or to let it go on, and says how far that has come.
  [[nodiscard]] Motion Set(MotionKind wanted) const;

  // How a zygote's child is fenced in to enter this sandbox; nothing for a sandbox that such a child cannot enter.
  [[nodiscard]] const std::optional<ForkOrder>& fork_order() const { return fork_order_; }
  // The files to which a zygote's child writes "0" in order to join the sandbox's cgroups.
  [[nodiscard]] std::vector<int> join_cgroups() const { return cgroup_.JoinFdsForMembers(); }

  // Takes over a child of the launcher that a zygote made in this sandbox. It must be reaped before the init can end.
  base::Status Adopt(pid_t pid);
  [[nodiscard]] const std::vector<os::PidFd>& adopted() const { return adopted_; }
  // Reaps the adopted children that have ended, and gives their ends.
  std::vector<ForkEnded> ReapAdopted(const os::EventSet& events);
  // Signals an adopted child. 0 or an errno; other processes cannot be signalled.
  [[nodiscard]] int SignalAdopted(pid_t pid, int signal) const;

  // Kills every process of the sandbox and does not wait.
  void BeginKill();
  // True when no process is left. To be asked after BeginKill, when the init's pidfd is readable and then again; also
  // now and then before that, for an init that is hindered by what runs inside.
  [[nodiscard]] bool Empty();
  // The last word about the sandbox: what it used, and whether a process is left. To be called when the sandbox is
  // empty, or has taken too long to be.
  [[nodiscard]] Ended End() const { return {.usage = CurrentUsage(), .processes_left = init_.valid() ? 1U : 0U}; }

 private:
  SandboxProcess(os::Cgroup cgroup, const StartRequest& request)
      : cgroup_(std::move(cgroup)),
        isolation_(request.isolation),
        memory_bytes_(request.memory_bytes),
        pids_(request.pids) {}

  [[nodiscard]] bool EndsByInit() const;
  void SignalInit(int number) const;
  void InsistOnEnd() const;
  [[nodiscard]] os::TreeUse UseOfTrees(std::uint64_t threshold) const;
  [[nodiscard]] std::uint64_t WatchedMemory();
  base::Status MakeChild(const StartRequest& request, Preparation& prepared, int init_program, MachineFacts* vacant);

  os::Cgroup cgroup_;
  os::PidFd init_;  // until the init has been reaped and the cgroup is empty
  bool init_serves_ = false;
  base::Deadline init_patience_ = base::Deadline::Never();
  base::UniqueFd report_;
  base::UniqueFd control_;
  std::vector<base::UniqueFd> views_;
  base::UniqueFd mount_namespace_;
  os::CgroupCounters counters_;
  std::optional<ForkOrder> fork_order_;
  HostIdentity identity_;
  os::CgroupLimits vacant_limits_;
  std::vector<os::PidFd> adopted_;
  Isolation isolation_;
  std::uint64_t memory_bytes_;
  std::uint64_t pids_;
  base::UniqueFd diagnosis_;     // of the sandbox's sockets, where memory is watched
  base::UniqueFd socket_count_;  // likewise
  std::uint64_t sockets_of_ours_ = 0;
  unsigned look_ = 0;
  std::uint64_t socket_bytes_ = 0;
  std::uint64_t memory_peak_ = 0;
  bool over_memory_limit_ = false;
  bool at_process_limit_ = false;
  std::vector<std::string> degraded_;
};

}  // namespace skerry::launcher
