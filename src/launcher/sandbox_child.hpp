// The child between clone and exec. It owns nothing and allocates nothing: everything it needs was made before, every
// failure is one message on the report socket, and no way leads back.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <array>
#include <span>

#include "launcher/mount_plan.hpp"
#include "launcher/protocol.hpp"
#include "os/landlock.hpp"
#include "os/privileges.hpp"

namespace skerry::launcher {

// Inside every sandbox the program is this user, whoever it is outside.
inline constexpr uid_t kAgentId = 1000;

// The first message of the child: either this, or nothing (its end closes when the exec succeeded).
struct SetupFailure {
  int error = 0;
  std::array<char, 124> step{};  // what was being done, cut to fit
};

struct ChildPlan {
  Isolation isolation = Isolation::kNamespaces;
  int report = -1;   // to the launcher; close-on-exec
  int control = -1;  // becomes descriptor 3 of init
  int init = -1;     // the program to become
  std::span<const int> join_cgroups;

  uid_t user = 0;  // as seen from inside
  gid_t group = 0;

  std::span<const MountStep> mounts;
  const char* root_mount_point = nullptr;
  int workspace_tree = -1;               // a detached mount made by a privileged launcher, or -1:
  const char* workspace_path = nullptr;  // then this path, which must still be
  dev_t workspace_device = 0;            // this directory
  ino_t workspace_inode = 0;

  os::ProcessLimits limits;
  int landlock_abi = 0;
  std::span<const os::LandlockRule> landlock_rules;
  std::span<const sock_filter> filter;
};

[[noreturn]] void RunSandboxChild(const ChildPlan& plan);

}  // namespace skerry::launcher
