#include "os/machine.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <system_error>

#include "os/cgroup_hierarchy.hpp"
#include "os/files.hpp"
#include "os/landlock.hpp"
#include "os/mounts.hpp"
#include "os/namespace.hpp"

namespace skerry::os {
namespace {

constexpr std::uint64_t kAllNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

// Runs `attempt` in a child with namespaces of its own; true when it returns 0.
template <class Attempt>
bool SucceedsInNamespaces(std::uint64_t flags, Attempt attempt) {
  const auto cloned = CloneInto(flags, -1);
  if (!cloned) return false;
  if (cloned->child) ::_exit(attempt() == 0 ? 0 : 1);
  const auto status = cloned->process.Reap();
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

int TryOverlay(uid_t user, gid_t group) {
  (void)WriteControlFile("/proc/self/setgroups", "deny");
  if (!WriteControlFile("/proc/self/uid_map", "0 " + std::to_string(user) + " 1")) return -1;
  if (!WriteControlFile("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) return -1;
  if (MakeMountsPrivate() != 0 || MountTmpfs("/tmp", "mode=755", Execute::kAllowed) != 0) return -1;
  for (const char* name : {"/tmp/lower", "/tmp/upper", "/tmp/work", "/tmp/merged"})
    if (::syscall(SYS_mkdirat, AT_FDCWD, name, 0755) < 0) return -1;
  return ::mount("overlay", "/tmp/merged", "overlay", 0,
                 "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work,userxattr");
}

bool SeccompCanKill() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action) == 0;
}

bool HasCgroupKill(const CgroupHierarchy& hierarchy) {
  // The file exists in every group except the root of the hierarchy, so the version of the kernel decides (5.14).
  utsname name{};
  ::uname(&name);
  return hierarchy.Version2() != nullptr && ParseKernelVersion(name.release) >= KernelVersion{5, 14};
}

}  // namespace

KernelVersion ParseKernelVersion(const std::string& release) {
  KernelVersion version;
  const char* const end = release.data() + release.size();
  const auto major = std::from_chars(release.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  return minor.ec == std::errc() ? version : KernelVersion{};
}

Machine Machine::Probe() {
  Machine machine;
  utsname name{};
  ::uname(&name);
  machine.kernel_release = name.release;
  machine.architecture = name.machine;
  machine.is_root = ::geteuid() == 0;
  machine.user_namespaces = SucceedsInNamespaces(kAllNamespaces, [] { return 0; });
  machine.overlay_in_user_namespace = SucceedsInNamespaces(
      CLONE_NEWUSER | CLONE_NEWNS, [user = ::getuid(), group = ::getgid()] { return TryOverlay(user, group); });
  machine.seccomp = SeccompCanKill();
  machine.landlock_abi = LandlockAbi();
  const CgroupHierarchy hierarchy = CgroupHierarchy::Detect();
  machine.cgroup_memory = hierarchy.Find("memory") != nullptr;
  machine.cgroup_pids = hierarchy.Find("pids") != nullptr;
  machine.cgroup_cpu = hierarchy.Find("cpu") != nullptr;
  machine.cgroup_kill = HasCgroupKill(hierarchy);
  machine.id_mapped_mounts = machine.is_root && ParseKernelVersion(machine.kernel_release) >= KernelVersion{5, 12};
  return machine;
}

void AllowManyDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace skerry::os
