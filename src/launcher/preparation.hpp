// Everything that the child needs after clone, made before the clone: the child only reads.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/fork_order.hpp"
#include "launcher/host_identity.hpp"
#include "launcher/host_tree.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/protocol.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/cgroup.hpp"
#include "os/landlock.hpp"

namespace skerry::launcher {

// Owns what a ChildPlan points to, so a Preparation must outlive the plan. Holds references to the request, the cgroup
// and the machine's facts.
class Preparation {
 public:
  // `fds` are those of the request, in its order. What the machine cannot do is added to `degraded`. `identity` is that
  // of a sandbox that is there already; without one an identity is chosen.
  static base::Result<Preparation> Make(const StartRequest& request, std::span<const base::UniqueFd> fds,
                                        const os::Cgroup& cgroup, MachineFacts& machine,
                                        std::vector<std::string>& degraded,
                                        std::optional<HostIdentity> identity = std::nullopt);

  [[nodiscard]] const HostIdentity& identity() const { return identity_; }
  [[nodiscard]] const std::vector<HostTree>& trees() const { return trees_.all(); }
  // The mount namespace to start from, or -1 for the launcher's own.
  [[nodiscard]] int root_template() const { return root_template_; }
  // How a zygote's child is to be fenced in when it enters this sandbox; nothing for a sandbox that such a child cannot
  // enter.
  [[nodiscard]] std::optional<ForkOrder> OrderForForks() const;
  // Makes the plan for a sandbox that no client has asked for yet.
  void PlanVacancy();
  [[nodiscard]] ChildPlan PlanFor(int report, int control, int init_program);

 private:
  explicit Preparation(const StartRequest& request) : request_(request) {}
  base::Status PrepareNamespaces(std::span<const base::UniqueFd> fds, std::optional<HostIdentity> identity,
                                 std::vector<std::string>& degraded);
  base::Status PlanMounts(MachineFacts& machine);
  base::Status PrepareSubprocess(std::span<const base::UniqueFd> fds);

  const StartRequest& request_;
  HostIdentity identity_;
  HostTrees trees_;
  std::vector<int> join_cgroups_;
  std::vector<RootEntry> entries_;  // of a root file system
  RootPlan root_;
  std::vector<os::LandlockRule> landlock_rules_;
  os::FilterOptions filter_options_;
  std::span<const sock_filter> filter_;  // of the machine's facts
  os::ProcessLimits limits_;
  int root_template_ = -1;
  int landlock_abi_ = 0;
  bool sockets_are_watched_ = false;
};

}  // namespace skerry::launcher
