#include "os/namespace.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::os {
namespace {

std::string Line(IdMapping mapping) {
  return std::to_string(mapping.inside) + " " + std::to_string(mapping.outside) + " 1\n";
}

}  // namespace

base::Result<Cloned> CloneInto(std::uint64_t namespace_flags, int cgroup_fd) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = namespace_flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  }
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid < 0) return ErrnoErr("clone3");
  if (pid == 0) return Cloned{.child = true, .process = {}};
  return Cloned{.child = false, .process = PidFd(base::UniqueFd(pidfd), static_cast<pid_t>(pid))};
}

base::Status WriteIdMaps(pid_t pid, IdMapping user, IdMapping group, Setgroups setgroups) {
  if (user.outside == 0 || group.outside == 0)
    return base::Err(base::Code::kInternal, "refusing to map host id 0 into a sandbox");
  const std::string directory = "/proc/" + std::to_string(pid);
  if (setgroups == Setgroups::kDeny) SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/setgroups", "deny"));
  SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/uid_map", Line(user)));
  SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/gid_map", Line(group)));
  // Anybody inside could write this one, once: so it is written. It maps the project that nothing belongs to.
  return WriteControlFile(directory + "/projid_map", "65534 65534 1\n");
}

}  // namespace skerry::os
