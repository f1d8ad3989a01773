// One live sandbox as its launcher holds it: cgroup, init, and the way to end both without fail.
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

  // The same, made ahead: with the namespaces, the root, the network and the cgroup that every sandbox has. It waits
  // for Furnish, which may be called at once. Only for requests that fit the template of the root; kUnavailable without
  // one.
  // `likely`: the limits that will probably be asked for.
  static base::Result<SandboxProcess> BeginVacant(int init_program, MachineFacts& machine, os::CgroupLimits likely);
  base::Status Furnish(const StartRequest& request, std::span<const base::UniqueFd> fds, MachineFacts& machine);
  [[nodiscard]] bool CanBeLimitedTo(const StartRequest& request) const {
    return (request.memory_bytes != 0 || vacant_limits_.memory_bytes == 0) &&
           (request.pids != 0 || vacant_limits_.pids == 0);
  }
  // Whether its first process has not ended.
  [[nodiscard]] bool Waits() const;

  SandboxProcess(SandboxProcess&&) noexcept = default;
  SandboxProcess& operator=(SandboxProcess&&) = delete;
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;
  ~SandboxProcess();

  // What becomes readable when there is something to hear while it sets itself up.
  [[nodiscard]] int report_fd() const { return report_.get(); }
  [[nodiscard]] int control_fd() const { return control_.get(); }
  // To be called when the report is readable. True when it has closed: the set-up is over, for good or ill.
  base::Result<bool> ReadReport();
  // To be called when the control socket is readable after that: the init is running behind the whole fence.
  base::Status ReadFirstWord();

  [[nodiscard]] pid_t init_pid() const { return init_.pid(); }
  [[nodiscard]] int init_pidfd() const { return init_.get(); }
  [[nodiscard]] const std::vector<std::string>& degraded() const { return degraded_; }
  // For the client, and only for it: the socket to the init and the views of the workspace. To be called once.
  std::vector<base::UniqueFd> TakeClientDescriptors();
  // The counters of its cgroup, open.
  const os::CgroupCounters& Counters();
  [[nodiscard]] os::GroupPlaces groups() const { return cgroup_.Places(); }
  // Whether they tell everything that CurrentUsage does.
  [[nodiscard]] bool CountersSuffice() const { return cgroup_.LimitsMemory() && cgroup_.LimitsPids(); }

  // How often the launcher has to look itself at what the machine does not limit; nothing for never.
  [[nodiscard]] std::optional<std::chrono::milliseconds> WatchInterval() const;
  [[nodiscard]] bool OverMemoryLimit();

  [[nodiscard]] Usage CurrentUsage() const;
  // Tries to bring every process to that, and says how far it is.
  [[nodiscard]] Motion Set(MotionKind wanted) const;

  // How a zygote's child is fenced in to enter this sandbox; nothing for those it cannot enter.
  [[nodiscard]] const std::optional<ForkOrder>& fork_order() const { return fork_order_; }
  // What it writes "0" to so as to be in the sandbox's cgroups.
  [[nodiscard]] std::vector<int> join_cgroups() const { return cgroup_.JoinFdsForMembers(); }

  // A child of ours that a zygote made in this sandbox. It must be reaped before the init can end.
  base::Status Adopt(pid_t pid);
  [[nodiscard]] const std::vector<os::PidFd>& adopted() const { return adopted_; }
  // Those that have ended, which are reaped with this.
  std::vector<ForkEnded> ReapAdopted(const os::EventSet& events);
  // 0 or an errno. Only those that were adopted can be signalled.
  [[nodiscard]] int SignalAdopted(pid_t pid, int signal) const;

  // Sends every process to its end and does not wait for it.
  void BeginKill();
  // True when no process is left. To be asked after BeginKill, when the init's pidfd is readable and then again; also
  // now and then before that, for an init that is hindered by what runs inside.
  [[nodiscard]] bool Empty();
  // What was used, once it is empty or when patience is over.
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
  os::PidFd init_;  // until it has been reaped and the group is empty
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
