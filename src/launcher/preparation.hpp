// Everything a child needs after clone, made before it: the child only reads.
#pragma once

#include <linux/filter.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/host_identity.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/protocol.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/cgroup.hpp"
#include "os/landlock.hpp"

namespace skerry::launcher {

// Owns what a ChildPlan points to, so it must outlive the plan. Holds references to the request and the cgroup.
class Preparation {
 public:
  // What the machine cannot do is added to `degraded`.
  static base::Result<Preparation> Make(const StartRequest& request, int workspace_fd, const os::Cgroup& cgroup,
                                        std::vector<std::string>& degraded);

  [[nodiscard]] const HostIdentity& identity() const { return identity_; }
  [[nodiscard]] ChildPlan PlanFor(int report, int control, int init_program);

 private:
  Preparation(const StartRequest& request, int workspace_fd) : request_(request), workspace_fd_(workspace_fd) {}
  base::Status PrepareWorkspace(std::vector<std::string>& degraded);

  const StartRequest& request_;
  int workspace_fd_;
  struct stat workspace_{};
  HostIdentity identity_;
  base::UniqueFd workspace_tree_;
  std::vector<int> join_cgroups_;
  std::vector<MountStep> mounts_;
  std::vector<os::LandlockRule> landlock_rules_;
  std::vector<sock_filter> filter_;
  os::ProcessLimits limits_;
  int landlock_abi_ = 0;
};

}  // namespace skerry::launcher
