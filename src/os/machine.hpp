// What this machine offers to a sandbox, found by asking the kernel; nothing is changed by asking.
#pragma once

#include <string>
#include <vector>

namespace skerry::os {

struct Machine {
  std::string kernel_release;
  std::string architecture;
  bool is_root = false;
  bool user_namespaces = false;  // tried in a child
  bool seccomp = false;
  int landlock_abi = 0;
  bool cgroup_memory = false;
  bool cgroup_pids = false;
  bool cgroup_cpu = false;
  bool cgroup_kill = false;
  bool id_mapped_mounts = false;  // root only: by the kernel's version, as file systems differ
  bool overlay_in_user_namespace = false;

  static Machine Probe();
};

// The release number of the kernel as {major, minor}; {0, 0} when it cannot be read.
struct KernelVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};
KernelVersion ParseKernelVersion(const std::string& release);

// Raises the soft limit of open files of this process to the hard one, for programs that hold many connections or
// sandboxes.
void AllowManyDescriptors();

}  // namespace skerry::os
